"""What a `site` run knows: its pages by index, how they link, what was decided after each batch."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from agent.answering.fact_view import note_texts
from agent.answering.view import OnePublisherState
from agent.engine.run_state import ReadText, RunState
from agent.engine.state import Change, append, merge_dict, upsert
from agent.text.urls import canonicalize
from agent.types import Actor, Outcome, Record

BY_PERSON, BY_SITEMAP, BY_INDEX = -1, -2, -3
"""Where an address was found: a person gave it, a sitemap lists it, an earlier run read it."""


class ExplorationChoice(Record):
    """What was decided after a batch; `forced` says which limit left no choice."""

    step: int
    iteration: int
    decision: Literal["answer", "explore"]
    reasoning: str
    selected: list[int] = Field(default_factory=list)
    by: Actor
    trouble: str = ""
    forced: str = ""


class Sitemap(Record):
    """A sitemap that was asked for, how many addresses it lists, and where its text is stored."""

    url: str
    page_id: str
    addresses: int
    outcome: Outcome
    detail: str


class SiteState(OnePublisherState):
    """The record of a `site` run, with what was found for earlier questions of the conversation."""

    urls_to_process: list[int] = Field(default_factory=list)
    visited_urls: Annotated[list[int], append] = Field(default_factory=list)
    all_discovered_urls: Annotated[list[str], append] = Field(default_factory=list)
    url_texts: Annotated[dict[int, str], merge_dict] = Field(default_factory=dict)
    """The link text of each address, where it has one."""
    url_found_on: Annotated[dict[int, int], merge_dict] = Field(default_factory=dict)
    """The index of the page each address was first found on, BY_PERSON or BY_SITEMAP."""
    url_graph: Annotated[dict[int, list[int]], merge_dict] = Field(default_factory=dict)
    sitemaps: Annotated[dict[str, Sitemap], upsert] = Field(default_factory=dict)
    fetched: Annotated[list[int], append] = Field(default_factory=list)
    """The pages asked for in this run, not recalled from the conversation."""
    reused: Annotated[list[int], append] = Field(default_factory=list)
    """The pages that an earlier run fetched and this one used without a request."""
    current_iteration: int = 0
    useful_visited_indices: list[int] = Field(default_factory=list)
    choices: Annotated[list[ExplorationChoice], append] = Field(default_factory=list)
    search_words: str = ""
    """What a model looks for beside the question's own words, in the language of the site."""

    @property
    def decision_reasoning(self) -> str:
        """Why it was decided as it was last; "" before that."""
        return self.choices[-1].reasoning if self.choices else ""

    @property
    def forced(self) -> str:
        """The limit that left the last decision no choice; "" for none."""
        return self.choices[-1].forced if self.choices else ""

    @property
    def chosen(self) -> list[int]:
        """The visited addresses that were chosen, those found useful first, then the newest choice."""
        picked = [i for choice in reversed(self.choices) for i in choice.selected if i in self.visited_urls]
        return list(dict.fromkeys([*self.useful_visited_indices, *picked]))

    def search_texts(self, run: RunState[Any]) -> list[str]:
        """What passages are searched by: the question, a model's words for it, and its parts."""
        parts = [part.question for part in run.plan_parts] if len(run.plan_parts) > 1 else []
        return list(filter(None, [run.full_question, self.search_words, *parts]))

    def url_content(self, run: RunState[Any]) -> dict[int, str]:
        """The stored page of each visited address that could be read."""
        urls = {i: self.all_discovered_urls[i] for i in self.visited_urls}
        return {
            i: run.pages[url].page_id
            for i, url in urls.items()
            if url in run.pages and run.pages[url].page_id
        }

    def describe_target(self, run: RunState[Any], step: str) -> str:
        """How many pages are read, and the first of them."""
        queued = [self.all_discovered_urls[i] for i in self.urls_to_process[:3]]
        more = len(self.urls_to_process) - len(queued)
        named = f"{', '.join(queued)}{f' and {more} more' if more > 0 else ''}"
        return named if step == "crawl" else super().describe_target(run, step)

    def relevance_question(self, run: RunState[Any]) -> str:
        """The question as it stands alone, with the public notes: what links are weighed by."""
        words = [run.full_question, self.search_words, *note_texts(run, public=True)]
        return " ".join(filter(None, words))

    def fork_change(self) -> dict[str, Any]:
        """A fork explores anew."""
        return {"current_iteration": 0}

    def export_extra(self, run: RunState[Any], read_text: ReadText = lambda _id: "") -> dict[str, Any]:
        """The run by the names of the shared store of seed 002; `url_content` names stored pages."""
        store = {
            "user_question": run.question,
            "conversation_history": [{"user": turn.user, "bot": turn.bot} for turn in run.history],
            "instruction": run.settings.instruction,
            "allowed_domains": run.settings.allowed_domains,
            **run.settings.site.model_dump(),
            "urls_to_process": self.urls_to_process,
            "visited_urls": self.visited_urls,
            "all_discovered_urls": self.all_discovered_urls,
            "url_content": self.url_content(run),
            "url_graph": self.url_graph,
            "current_iteration": self.current_iteration,
            "final_answer": (run.answer.text or run.answer.certainty) if run.answer else None,
            "useful_visited_indices": self.useful_visited_indices,
            "decision_reasoning": self.decision_reasoning,
        }
        return {"site": store}


SiteRun = RunState[SiteState]


class UrlIndex:
    """The addresses of a run while a step adds some: each has one index, however it is spelled."""

    def __init__(self, state: SiteState) -> None:
        self._index_by_url = {canonicalize(url): i for i, url in enumerate(state.all_discovered_urls)}
        self._known_texts = state.url_texts
        self.change: Change = {"all_discovered_urls": [], "url_texts": {}, "url_found_on": {}}
        """What was added, as a change of the state."""

    def add(self, url: str, text: str = "", found_on: int = BY_PERSON) -> int:
        """The index of an address, new or known; a first link text is kept."""
        spelled = canonicalize(url)
        i = self._index_by_url.get(spelled)
        if i is None:
            i = self._index_by_url[spelled] = len(self._index_by_url)
            self.change["all_discovered_urls"].append(url)
            self.change["url_found_on"][i] = found_on
        if text and i not in self._known_texts:
            self.change["url_texts"].setdefault(i, text)
        return i

    def find(self, url: str) -> int | None:
        """The index of an address; None when it is not known."""
        return self._index_by_url.get(canonicalize(url))
