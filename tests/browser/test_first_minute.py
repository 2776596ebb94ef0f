"""The first minute of a new person, in a real browser: the finished example with its three hints, and the ways on
where there is neither a model nor a network."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.screen import Screen, Tab, act_until
from tests.browser.served import Served


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_the_example_is_walked_through_in_three_hints_that_do_not_come_again(
    served: Callable[..., Served], tab: Tab, width: int, dark: bool
) -> None:
    page = tab(width=width, dark=dark)
    screen = Screen(page, served(STEP_GAP="0").url).open()
    expect(page.get_by_role("link", name="Connect a model")).to_be_visible()
    screen.button("Open the example").click()
    page.wait_for_url("**/?run=*")
    hint = page.locator(".st-key-hint-1")
    expect(hint).to_contain_text("Every sentence is tied to its sources.")
    expect(screen.answer).to_contain_text("Storfall")
    screen.looks_right()
    for n in (1, 2):
        following = page.locator(f".st-key-hint-{n + 1}")
        act_until(
            page.locator(f".st-key-hint-{n}").get_by_role("button", name="Next").click,
            lambda limit, seen=following: expect(seen).to_be_visible(timeout=limit),
            *(10_000, 45_000),
        )
    opened = page.locator(".st-key-pane-evidence")
    expect(opened).to_contain_text("Some of the guests whom Vindskar lost")
    hints = page.locator("[class*=st-key-hint-]")
    act_until(
        lambda: page.keyboard.press("Escape"),
        lambda limit: expect(hints).to_have_count(0, timeout=limit),
        *(10_000, 45_000),
    )
    page.reload()
    expect(screen.answer.or_(opened).first).to_be_attached()
    expect(hints).to_have_count(0)
    page.goto(screen.url)
    expect(page.get_by_role("link", name="Connect a model")).to_be_visible()
    expect(screen.button("Open the example")).to_have_count(0)


def test_without_a_network_an_answer_says_so_and_leads_on(served: Callable[..., Served], tab: Tab) -> None:
    page = tab()
    screen = Screen(page, served(STEP_GAP="0", DDG_ENDPOINT="http://127.0.0.1:9/").url).open()
    screen.ask("Who designed the bridge?", world="live")
    screen.stands("Answer to review")
    expect(page.locator(".st-key-run-nothing")).to_contain_text("There is no network")
    expect(page.get_by_text("No passage holds")).to_have_count(0)
    expect(screen.button("Try again")).to_be_visible()
    screen.button("Use the demo").click()
    expect(page.get_by_text("The demo world (invented pages) ·")).to_be_visible()
