"""An open conflict on what was asked gets up to two actions before the run hands over; they are counted in the
ledger, tell what they are for, and stop when nothing more can be tried."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent.types import Fact
from tests.web.folders import page, write_world
from tests.web.researching_model import END, Script, crawl, run, together
from tests.web.scripted import ScriptedModel

HERON = "In which year was the brass heron of Port Ember built?"
ONE, TWO, THREE = ("https://one.example/heron", "https://two.example/heron", "https://three.example/heron")


def said(name: str, year: int, url: str) -> Fact:
    text = f"The brass heron of Port Ember was built in {year}."
    return Fact(id=name, statement=text, quote=text, url=url, verified=True, relevance=0.9, disputed=True)


FACTS = {"a": said("a", 1921, ONE), "b": said("b", 1934, TWO)}


def analyze(prompt: str) -> dict[str, Any]:
    """The facts that the passages of a prompt hold; nothing is called answered."""
    shown = re.split(r"Passage (p\d+)[^\n]*:\n", prompt.split("Pages of this round")[-1])
    told = [
        {"quote": fact.quote, "statement": fact.quote, "passage_id": name, "part": "1"}
        for name, text in zip(shown[1::2], shown[2::2], strict=True)
        for fact in FACTS.values()
        if fact.quote in text
    ]
    return {"facts": told, "answered_parts": [], "confidence_score": 0.9}


@pytest.mark.slow
def test_a_model_that_hands_over_too_early_is_told_that_it_was_put_off(bench, tmp_path):
    script = Script(together(crawl(ONE), crawl(TWO)), END, END, analyzer=analyze)
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(script.scripted), "")
    pages = [
        page(fact.url, f"Brass heron {fact.id}", f"{fact.quote}\nIt is made of brass.")
        for fact in FACTS.values()
    ]
    state = run(bench, HERON, world=write_world(tmp_path / "w", pages)).state
    [conflict] = state.conflicts.values()
    assert conflict.id in [action.about for action in state.actions]
    [refusal] = [refusal for refusal in state.refusals if refusal.what == "send_to_hitl"]
    assert "put off until this was tried" in refusal.why
