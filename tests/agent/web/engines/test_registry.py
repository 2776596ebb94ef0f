"""Which engines a configuration gives, and why the others are absent."""

from __future__ import annotations

from agent.settings.config import read_config
from agent.types import ENGINES
from agent.web.world import build_engines


def test_each_adapter_has_the_name_of_its_entry() -> None:
    every = {name: "https://x.example" for engine in ENGINES for name in engine.needs}
    engines, absent = build_engines(read_config(every))
    assert [engine.name for engine in engines] == [engine.name for engine in ENGINES] and not absent
    assert [engine.label for engine in engines] == [engine.label for engine in ENGINES]


def test_engines_without_their_key_and_those_switched_off_are_absent_and_say_why() -> None:
    engines, absent = build_engines(read_config({"ENGINES_OFF": "wikipedia, arxiv"}))
    assert absent["wikipedia"] == absent["arxiv"] == "switched off"
    assert absent["tavily"] == "no TAVILY_API_KEY set"
    assert not {"wikipedia", "arxiv", "tavily"} & {engine.name for engine in engines}
