"""The stories: what each way of asking does, as a table of steps. `FLOWS` is the list of them."""

from agent.flows.collect import COLLECT
from agent.flows.research import RESEARCH
from agent.flows.site import SITE

FLOWS = {flow.name: flow for flow in (RESEARCH, SITE, COLLECT)}
