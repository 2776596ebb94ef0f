"""The plan on the screen: shown before the first search in step mode, changed at any time, followed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.browser.forked import ForkedServed
from tests.browser.screen import FOUNDED, Screen, Tab
from tests.browser.served import Served
from tests.web.researching_model import SOLAR, Script
from tests.web.scripted import ScriptedModel

EMPLOYED = "How many people does Älvmora Mejeri employ?"


def test_a_part_added_to_the_plan_is_researched_and_answered(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    plan = screen.tab("Plan").locator(".st-key-research-plan")
    expect(plan.locator("li")).to_have_count(1)
    screen.button("Change the plan").click()
    box = page.get_by_label("Parts of the plan")
    expect(box).to_have_value(FOUNDED)
    box.fill(f"{FOUNDED}\n{EMPLOYED}")
    page.get_by_text("One part per line").click()
    screen.button("Use this plan").click()
    expect(plan.locator("li")).to_have_count(2)
    screen.stands("Answer to review")
    expect(screen.answer).to_contain_text("31 people")
    expect(plan.locator("li").nth(1)).not_to_contain_text("Open")
    page.reload()
    screen.tab("Plan")
    expect(plan.locator("li").nth(1)).to_contain_text(EMPLOYED)


@pytest.fixture(scope="module")
def ambiguous(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A server with a run, step by step, that waits with its plan; from there on it has no
    model."""
    data = tmp_path_factory.mktemp("ambiguous") / "data"
    parts = {"parts": [{"question": FOUNDED, "where": "registers"}, {"question": EMPLOYED, "after": [1]}]}
    script = Script(plan={**parts, "ask": "Which dairy is meant?", "readings": ["in Lövnäs", "in Tallåsen"]})
    bench = Workbench(config.read_config({"TOUCHSTONE_DATA": str(data)}))
    model = ScriptedModel(script.scripted)
    model.server = ""  # of no server: the run may go on without one
    bench.worker.model_client = lambda name, fast="": (model, "")  # type: ignore[method-assign]
    run_id = bench.start(SOLAR, Settings(world="demo", mode="step"))
    assert bench.drive(run_id) is Status.WAITING
    bench.shutdown()
    served = ForkedServed(data).start()
    yield served, run_id
    served.stop()


def test_step_by_step_the_plan_comes_before_the_first_search(ambiguous: tuple[Served, str], tab: Tab) -> None:
    served, run_id = ambiguous
    page = tab()
    screen = Screen(page, served.url).open(run_id)
    screen.stands("Waiting for you")
    plan = page.locator(".st-key-research-plan")
    expect(plan.locator("li").nth(0)).to_contain_text("Where: registers")
    expect(plan.locator("li").nth(1)).to_contain_text("needs part 1 first")
    expect(plan).to_contain_text("Which dairy is meant?")
    expect(page.locator(".st-key-research-decision")).to_have_count(0)
    assert not screen.too_wide()
    page.set_viewport_size({"width": 400, "height": 900})
    assert not screen.too_wide()
    screen.button("Start by this plan").click()
    expect(page.locator(".st-key-research-decision")).to_be_visible()
    screen.journey()
    expect(page.locator(".step", has_text="in Lövnäs").first).to_be_visible()
