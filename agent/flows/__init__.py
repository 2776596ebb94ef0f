"""The stories: what each way of asking does, as a table of steps. `FLOWS` is the list of them, `picture` draws one."""

from agent.export.drawing import mermaid
from agent.flows.collect import COLLECT
from agent.flows.research import RESEARCH
from agent.flows.site import SITE
from agent.loop import Flow
from agent.types import Status

FLOWS = {flow.name: flow for flow in (RESEARCH, SITE, COLLECT)}
WORDS = {Status.WAITING: "a person decides", Status.REVIEW: "a person reviews", Status.DONE: "the end"}


def picture(flow: Flow) -> str:
    """A flow as Mermaid source, drawn from its table: what the README and the screens show."""
    return mermaid(flow.first, flow.edges, rests={rest: WORDS[status] for rest, status in flow.rests.items()}, decisions=flow.decisions)
