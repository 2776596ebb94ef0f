"""The search engines: the one place that names them. Their adapters are in `agent/web/engines`."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

Suit = Literal["general", "encyclopedic", "scholarly", "medical"]
SUITS: dict[Suit, str] = {
    "general": "the web as a whole",
    "encyclopedic": "what an encyclopedia has: people, places, events, terms",
    "scholarly": "research papers of all fields",
    "medical": "research in medicine and biology",
}
"""The kinds of questions that engines suit."""


@dataclass(frozen=True)
class EngineProfile:
    """A search engine. `needs` are the settings without which it is absent, `takes` those that help."""

    name: str
    label: str
    suits: Suit
    about: str
    """What it searches, in a line for a person and for the plan."""
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    gap_s: float = 0.0
    """Seconds between two requests that its documentation asks for."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings it needs or takes."""
        return (*self.needs, *self.takes)


ENGINES = (
    EngineProfile("duckduckgo", "DuckDuckGo", "general", "a general web search, without an account"),
    EngineProfile(
        "google",
        "Google",
        "general",
        "a broad web search, good for long or unusual wording",
        ("GOOGLE_API_KEY", "GOOGLE_CSE_ID"),
    ),
    EngineProfile(
        "searxng", "SearXNG", "general", "your own server that asks several engines", ("SEARXNG_URL",)
    ),
    EngineProfile(
        "brave", "Brave", "general", "a web search with an index of its own", ("BRAVE_API_KEY",), gap_s=1.0
    ),
    EngineProfile("tavily", "Tavily", "general", "a web search made for programs", ("TAVILY_API_KEY",)),
    EngineProfile("wikipedia", "Wikipedia", "encyclopedic", "articles of the encyclopedia"),
    EngineProfile(
        "openalex",
        "OpenAlex",
        "scholarly",
        "works of all fields, with their open copies",
        takes=("OPENALEX_API_KEY", "CONTACT_EMAIL"),
    ),
    EngineProfile(
        "crossref",
        "Crossref",
        "scholarly",
        "what publishers registered with a DOI",
        takes=("CONTACT_EMAIL",),
        gap_s=1.0,
    ),
    EngineProfile("arxiv", "arXiv", "scholarly", "preprints: physics, mathematics, computing", gap_s=3.0),
    EngineProfile(
        "semanticscholar",
        "Semantic Scholar",
        "scholarly",
        "papers of all fields, by relevance",
        takes=("SEMANTIC_SCHOLAR_API_KEY",),
        gap_s=1.0,
    ),
    EngineProfile("europepmc", "Europe PMC", "medical", "papers and preprints of the life sciences"),
)
"""All engines, in the order in which they are preferred among those that suit."""
ENGINE_BY_NAME = {engine.name: engine for engine in ENGINES}
ENGINE_NAMES = {engine.name: engine.label for engine in ENGINES}
"""Display names of the search engines."""
ENGINE_SETTINGS = tuple(dict.fromkeys(setting for engine in ENGINES for setting in engine.settings))
"""The settings (keys and addresses) that engines need or take."""
ENGINE_BY_ACTION = {f"search_{engine.name}": engine.name for engine in ENGINES}
SEARCH_ACTIONS = tuple(ENGINE_BY_ACTION)
TOOL_ACTIONS = (*SEARCH_ACTIONS, "crawl_url")
NEXT_ACTIONS = (*TOOL_ACTIONS, "more", "ask", "send_to_hitl")
_SUBSTITUTES: dict[Suit, tuple[Suit, ...]] = {
    "general": ("general", "encyclopedic"),
    "encyclopedic": ("encyclopedic", "general"),
    "scholarly": ("scholarly", "medical", "general"),
    "medical": ("medical", "scholarly", "general"),
}
"""What takes over from an engine that does not answer: its own kind, then the next that may know."""


if TYPE_CHECKING:
    ToolAction = str
    NextAction = str
else:
    ToolAction = Literal[TOOL_ACTIONS]
    """A search or a page visit."""
    NextAction = Literal[NEXT_ACTIONS]
    """What a decision may propose."""


def rank_substitutes(name: str, available: Iterable[str]) -> list[str]:
    """The available engines that may take over from `name`, the most suitable first."""
    offered = set(available) - {name}
    suits = _SUBSTITUTES[ENGINE_BY_NAME[name].suits] if name in ENGINE_BY_NAME else ()
    return [
        engine.name for suit in suits for engine in ENGINES if engine.suits == suit and engine.name in offered
    ]


def rank_general(actions: Container[str], done: Iterable[str] = ()) -> list[str]:
    """The search actions for a question of which nothing is known, the preferred first: engines that suit any
    question; others only where there is none and none was asked before (`done`): a person chose so."""
    usual = [f"search_{engine.name}" for engine in ENGINES if engine.suits in _SUBSTITUTES["general"]]
    has_usual = any(action in usual for action in done) or any(action in actions for action in usual)
    return [action for action in (usual if has_usual else SEARCH_ACTIONS) if action in actions]


def describe_actions(engines: Iterable[str]) -> list[str]:
    """A line for the action of each of these engines: its name, and what it searches."""
    chosen = set(engines)
    return [f"`search_{one.name}`: {one.about} ({one.suits})." for one in ENGINES if one.name in chosen]
