"""The search engines. `engines.txt` is the one place that names them, a line each: name, label, what it
suits, what it searches, settings it needs, settings it takes, seconds between two requests. Their
adapters are in `agent/web/engines`."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
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
    needs: tuple[str, ...]
    takes: tuple[str, ...]
    gap_s: float
    """Seconds between two requests that its documentation asks for."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings it needs or takes."""
        return (*self.needs, *self.takes)


def _read_profile(line: str) -> EngineProfile:
    name, label, suits, about, needs, takes, gap = (part.strip() for part in line.split("|"))
    return EngineProfile(
        name,
        label,
        suits,  # type: ignore[arg-type]
        about,
        tuple(needs.split()),
        tuple(takes.split()),
        float(gap or 0),
    )


ENGINES = tuple(
    map(_read_profile, Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines())
)
"""All engines, in the order in which they are preferred among those that suit."""
ENGINE_BY_NAME = {engine.name: engine for engine in ENGINES}
ENGINE_NAMES = {engine.name: engine.label for engine in ENGINES}
"""Display names of the search engines."""
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


def describe_action(action: str, world: str = "") -> str:
    """An action of research as a person calls it: "read a page", "search with Crossref". A world of documents
    has one index of its own: "search the demo world", "search the folder talks". Where the world is not known
    ("") the general search goes without a name."""
    if not (engine := ENGINE_BY_ACTION.get(action)):
        other = {"crawl_url": "read a page", "more": "read more of a page", "ask": "ask the person"}
        return {**other, "send_to_hitl": "write the answer"}.get(action, action)
    if world in ("", "live"):
        return (
            "search" if not world and action == SEARCH_ACTIONS[0] else f"search with {ENGINE_NAMES[engine]}"
        )
    return (
        "search the demo world" if world == "demo" else f"search the folder {PurePath(world).name or world}"
    )


def describe_actions(engines: Iterable[str]) -> list[str]:
    """A line for the action of each of these engines: its name, and what it searches."""
    chosen = set(engines)
    return [f"`search_{one.name}`: {one.about} ({one.suits})." for one in ENGINES if one.name in chosen]
