"""The stories: what each way of asking does, as a table of steps. `FLOWS` is the list of them, `picture`
draws one."""

from agent.engine.loop import Flow
from agent.export.drawing import render_mermaid
from agent.flows.chat.flow import CHAT
from agent.flows.chat.simple_flow import CHAT_SIMPLE
from agent.flows.collect.flow import COLLECT
from agent.flows.reply.flow import REPLY
from agent.flows.research.flow import RESEARCH
from agent.flows.site.flow import SITE
from agent.types import Status

FLOWS = {flow.name: flow for flow in (RESEARCH, SITE, COLLECT, REPLY, CHAT, CHAT_SIMPLE)}
STEP_LABELS = {
    "decide": "deciding what to do next",
    "search": "searching",
    "crawl": "reading a page",
    "analyze": "weighing what was found",
    "report": "writing the answer",
    "intent": "reading what is wanted",
    "judge": "deciding what this page is",
    "links": "choosing which links to follow",
    "gather": "taking the content",
    "relevance": "judging what was gathered",
    "recall": "recalling the conversation",
    "survey": "looking for the site's map",
    "draft": "writing the answer",
    "gate": "deciding whether to reply",
    "select": "choosing sources from the index",
    "load": "loading the chosen sources",
    "write": "writing the reply",
    "verify": "checking the reply",
    "router": "choosing the way to answer",
    "classify": "reading what is wanted",
    "rewrite": "putting the question in full",
    "rewrite_retry": "putting the search in other words",
    "rewrite_final": "looking from another angle",
    "retrieve": "searching the library",
    "grade": "grading what was found",
    "rerank": "putting what was found in order",
    "generate": "writing the answer",
    "generate_caveat": "writing what can be said",
    "validate": "checking the answer against its quotes",
    "clarify": "thinking of what to ask you",
    "clarify_final": "thinking of what to ask you",
    "location": "looking for places",
}
"""What a run does at each step, in words."""
REST_LABELS = {Status.WAITING: "a person decides", Status.REVIEW: "a person reviews", Status.DONE: "the end"}

END_LABELS = {"replied": "should_reply is true", "silent": "should_reply is false"}
"""Ends of which a flow has more than one, in words."""


def draw_flow(flow: Flow) -> str:
    """A flow as Mermaid source, drawn from its table: what the README and the screens show."""
    return render_mermaid(flow.first_step, flow.edges, rests=label_rests(flow), decisions=flow.decisions)


def label_rests(flow: Flow) -> dict[str, str]:
    """The places where a run of the flow rests, with the words they are drawn with."""
    return {rest: END_LABELS.get(rest, REST_LABELS[status]) for rest, status in flow.rest_statuses.items()}
