"""All flows by name, the labels of their steps, and their diagrams."""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

from agent.engine.loop import Flow
from agent.types import Edge, Status


class _Flows(Mapping[str, Flow]):
    """Each flow is imported when it is first asked for."""

    _NAMES = ("research", "site", "collect", "reply", "chat", "check_text")

    def __getitem__(self, name: str) -> Flow:
        if name not in self._NAMES:
            raise KeyError(name)
        flow: Flow = getattr(import_module(f"agent.flows.{name}.flow"), name.upper())
        return flow

    def __iter__(self) -> Iterator[str]:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)


FLOWS: Mapping[str, Flow] = _Flows()
"""All flows by name."""
STEP_LABELS = {
    "decide": "deciding what to do next",
    "plan": "planning",
    "act": "searching and reading",
    "search": "searching",
    "crawl": "reading a page",
    "analyze": "analyzing what was found",
    "revise": "reading your note",
    "report": "writing the answer",
    "outline": "planning the report",
    "sections": "writing the sections",
    "intent": "reading the request",
    "judge": "deciding what this page is",
    "links": "choosing which links to follow",
    "gather": "extracting the content",
    "relevance": "judging what was gathered",
    "reconsider": "reading your note",
    "recall": "loading what the conversation read",
    "survey": "looking for the site's map",
    "draft": "writing the answer",
    "gate": "deciding whether to reply",
    "select": "choosing sources from the index",
    "load": "loading the chosen sources",
    "write": "writing the reply",
    "verify": "checking the reply",
    "router": "choosing the way to answer",
    "rewrite": "completing the question",
    "rewrite_retry": "rewording the search",
    "rewrite_final": "rewording the search again",
    "retrieve": "searching the library",
    "grade": "grading what was found",
    "generate": "writing the answer",
    "generate_caveat": "writing an answer with a caveat",
    "validate": "checking the answer against its quotes",
    "clarify": "preparing a question to you",
    "clarify_final": "preparing a question to you",
    "location": "looking for places",
    "read_document": "reading the document",
    "read": "reading the text",
    "sort": "telling claims from other sentences",
    "fetch": "reading the sources",
    "check": "checking claims against their sources",
    "result": "summing up",
}
"""What a run does at each step, as the screens show it."""
REST_LABELS = {Status.WAITING: "a person decides", Status.REVIEW: "a person reviews", Status.DONE: "the end"}

END_LABELS = {"replied": "should_reply is true", "silent": "should_reply is false"}
"""The ends of flows that have more than one."""


def draw_flow(flow: Flow) -> str:
    """A flow as Mermaid source, drawn from its table."""
    rests = {rest: END_LABELS.get(rest, REST_LABELS[status]) for rest, status in flow.rest_statuses.items()}
    return render_mermaid(flow.first_step, flow.edges, rests=rests, decisions=flow.decisions)


def render_mermaid(
    first: str,
    edges: Iterable[Edge],
    *,
    rests: Mapping[str, str],
    decisions: Mapping[str, str] | None = None,
) -> str:
    """The flow chart of these edges, as Mermaid source.

    `first` is the step a run begins with; `rests` are the places where a person decides or the run ends, with
    their labels; `decisions` are the steps followed by a choice (a diamond), with its label: their labelled
    edges leave from the diamond. The same edges give the same text."""

    def quote_label(words: str) -> str:  # with Mermaid's own entity for a quote
        return '"' + words.replace('"', "#quot;") + '"'

    ways, choices = list(edges), decisions or {}
    names = dict.fromkeys([first, *(name for way in ways for name in (way.start, way.end))])
    ids = {name: "END" if name == "end" else name for name in names}  # "end" in lower case is a keyword there
    lines = ["flowchart TD", f"    ask([question]) --> {first}"]
    for name in names:
        label = quote_label(rests.get(name, name.replace("_", " ")))
        lines.append(f"    {ids[name]}{f'([{label}])' if name in rests else f'[{label}]'}")
    lines += [
        f"    {step}_choice{{{quote_label(words)}}}\n    {step} --> {step}_choice"
        for step, words in choices.items()
    ]
    for way in ways:
        start = f"{way.start}_choice" if way.start in choices and way.label else way.start
        lines.append(f"    {start} -->{f'|{quote_label(way.label)}|' if way.label else ''} {ids[way.end]}")
    return "\n".join(lines) + "\n"
