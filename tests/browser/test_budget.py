"""Budgets and how far a run goes by itself: a cap that asks, is raised and goes on; a rest at a conflict; in
a real browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.looks import PALE
from tests.browser.screen import FOUNDED, Screen, Tab
from tests.browser.served import Served

DEPTH = "What is the maximum depth of lake Granvattnet?"


def test_a_cap_asks_is_raised_and_the_run_goes_on_until_a_conflict(
    served: Callable[..., Served], tab: Tab
) -> None:
    own = served(STEP_GAP="0")
    page = tab()
    screen = Screen(page, own.url).open()
    expect(page.get_by_text("Stops after 12 steps, 12 pages")).to_be_visible()
    steps = page.get_by_label("Searches and pages")
    with screen.menu(screen.button("Options"), steps):
        steps.fill("2")
        steps.press("Tab")
    expect(page.get_by_text("Stops after 2 steps, 12 pages")).to_be_visible()
    screen.ask(DEPTH)
    screen.stands("Paused")
    halt = page.locator(".st-key-research-halt")
    expect(halt).to_contain_text("The limit of 2 steps is reached.")
    screen.looks_right()

    halt.get_by_label("Searches and pages").fill("3")
    screen.button("Raise it and continue").click()
    screen.journey()
    expect(page.locator(".step .head", has_text="You changed its budget")).to_be_visible()
    screen.stands("Paused")
    expect(halt).to_contain_text("The limit of 3 steps")
    narrow = tab(width=400, height=800, dark=True)
    seen = Screen(narrow, own.url).open(screen.run_id)
    expect(narrow.locator(".st-key-research-halt")).to_contain_text("The limit of 3 steps")
    assert not seen.too_wide() and not narrow.evaluate(PALE)
    screen.button("Write the answer now").click()
    expect(halt).to_be_hidden()
    screen.stands("Answer to review")
    screen.tells("written")

    screen.open()
    page.get_by_role("radio", name="Pause on conflicts").or_(
        screen.button("Pause on conflicts")
    ).first.click()
    expect(page.get_by_text("Pauses whenever sources disagree.")).to_be_visible()
    screen.ask(FOUNDED)
    screen.stands("Paused")
    expect(halt).to_contain_text("Sources disagree")
    expect(halt).to_contain_text("norrviddawiki.example")
    screen.pick("Run until", "Run until the answer")
    screen.journey()
    expect(page.locator(".step .head", has_text="You changed how far it runs")).to_contain_text(
        "run until the answer"
    )
    screen.button("Continue to the next conflict").click()
    expect(halt).to_be_hidden()
    screen.stands("Answer to review")
