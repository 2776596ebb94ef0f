"""A round of several actions in step mode: each is decided on by itself, and the journey shows it as one card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.browser.forked import ForkedServed
from tests.browser.screen import Screen, Tab
from tests.browser.served import Served
from tests.web.researching_model import ASK, ROOF, SOLAR, Script, crawl, together
from tests.web.scripted import ScriptedModel

WORDS = "Älvmora Mejeri panels permit of the municipality"
QUESTION = "Which roof is meant?"
CHOICES = ["the roof of the dairy", "the roof of the warehouse by the lake, which the dairy rents since 2024"]


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A server with a run that waits with a round of three; from there on it has no model."""
    data = tmp_path_factory.mktemp("waiting") / "data"
    run_id = _wait_with_round(data)
    served = ForkedServed(data).start()
    yield served, run_id
    served.stop()


def _wait_with_round(data: Path) -> str:
    asked = {"next_action": "ask", "query_or_url": QUESTION, "choices": CHOICES, "reasoning": "It has two."}
    script = Script(together(crawl(ROOF), {**ASK, "query_or_url": WORDS}, asked), confidence=0.4)
    bench = Workbench(config.read_config({"TOUCHSTONE_DATA": str(data)}))
    model = ScriptedModel(script.scripted)
    model.server = ""  # of no server: the run may go on without one
    bench.worker.model_client = lambda name, fast="": (model, "")  # type: ignore[method-assign]
    run_id = bench.start(SOLAR, Settings(world="demo", mode="step"))
    while bench.drive(run_id) is Status.WAITING:
        view = bench.snapshot(run_id)
        if view.state.pending and view.state.pending.beside:
            break
        bench.act(run_id, "approve", view.head)
    bench.shutdown()
    return run_id


def test_each_action_of_a_round_is_decided_on_and_told_on_one_card(
    waiting: tuple[Served, str], tab: Tab
) -> None:
    served, run_id = waiting
    page = tab()
    screen = Screen(page, served.url).open(run_id)
    decision = page.locator(".st-key-research-decision")
    expect(decision).to_contain_text("3 actions side by side")
    boxes = [decision.locator(f".st-key-research-action-{n}") for n in range(3)]
    assert not screen.too_wide()
    page.set_viewport_size({"width": 400, "height": 900})
    assert not screen.too_wide()
    boxes[0].get_by_role("button", name="Approve").click()
    expect(decision).to_contain_text("2 actions side by side")
    expect(boxes[0]).to_contain_text("approved")
    boxes[2].get_by_role("button", name=CHOICES[0]).click()
    expect(decision).to_contain_text("1 action side by side")
    decision.get_by_role("button", name="Approve all").click()
    screen.journey()
    card = page.locator(".step", has=page.locator(".beside")).first
    expect(card.locator(".head").first).to_contain_text("1 search and 1 page")
    expect(card.locator(".beside")).to_have_count(2)
    expect(card).to_contain_text(WORDS)
    expect(page.locator(".step .what", has_text=f"{QUESTION} {CHOICES[0]}").first).to_be_visible()
    screen.stands("Waiting for you")
