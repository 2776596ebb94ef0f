"""The stories: what each way of asking does, as a table of steps. `FLOWS` is the list of them, `picture` draws one."""

from agent.export.drawing import mermaid
from agent.flows.chat import CHAT
from agent.flows.chat_simple import CHAT_SIMPLE
from agent.flows.collect import COLLECT
from agent.flows.reply import REPLY
from agent.flows.research import RESEARCH
from agent.flows.site import SITE
from agent.loop import Flow
from agent.types import Status

FLOWS = {flow.name: flow for flow in (RESEARCH, SITE, COLLECT, REPLY, CHAT, CHAT_SIMPLE)}
DOING = {
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
WORDS = {Status.WAITING: "a person decides", Status.REVIEW: "a person reviews", Status.DONE: "the end"}

ENDS = {"replied": "should_reply is true", "silent": "should_reply is false"}
"""Ends of which a flow has more than one, in words."""


def picture(flow: Flow) -> str:
    """A flow as Mermaid source, drawn from its table: what the README and the screens show."""
    return mermaid(flow.first, flow.edges, rests=ends(flow), decisions=flow.decisions)


def ends(flow: Flow) -> dict[str, str]:
    """The places where a run of the flow rests, with the words they are drawn with."""
    return {rest: ENDS.get(rest, WORDS[status]) for rest, status in flow.rests.items()}
