"""All flows by name, and the labels of their steps."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from agent.engine.loop import Flow


class _Flows(Mapping[str, Flow]):
    """Each flow is imported when it is first asked for."""

    _NAMES = ("research", "site", "collect", "reply", "chat", "check_text", "verify_again")

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
    "list_quotes": "listing the quotes of the answer",
}
"""What a run does at each step, as the screens show it."""
