"""The stories: what each way of asking does, as a table of steps. `FLOWS` is the list of them."""

from agent.flows.research import RESEARCH

FLOWS = {flow.name: flow for flow in (RESEARCH,)}
