"""The first minute of a new person, in a real browser: the finished example with its three hints, and the ways on
where there is neither a model nor a network."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.screen import FOUNDED, Screen, Tab, act_until
from tests.browser.served import Served


def test_the_example_is_walked_through_in_three_hints_that_do_not_come_again(
    served: Callable[..., Served], tab: Tab
) -> None:
    page = tab(dark=True)
    screen = Screen(page, served(STEP_GAP="0").url).open()
    expect(page.get_by_role("link", name="Connect a model")).to_be_visible()
    screen.button("Open the example").click()
    page.wait_for_url("**/?run=*")
    hint = page.locator(".st-key-hint-1")
    expect(hint).to_contain_text("Every sentence is tied to its sources.")
    expect(screen.answer).to_contain_text("Storfall")
    screen.looks_right()
    page.set_viewport_size({"width": 400, "height": 900})
    screen.looks_right()
    for n in (1, 2):
        following = page.locator(f".st-key-hint-{n}").get_by_role("button", name="Next")
        act_until(
            lambda following=following: following.is_visible() and following.click(),
            page.locator(f".st-key-hint-{n + 1}"),
        )
    opened = page.locator(".st-key-pane-evidence")
    expect(opened).to_contain_text("Some of the guests whom Vindskar lost")
    hints = page.locator("[class*=st-key-hint-]")
    act_until(lambda: page.keyboard.press("Escape"), hints.first, gone=True)
    page.reload()
    expect(screen.answer.or_(opened).first).to_be_attached()
    expect(hints).to_have_count(0)
    page.goto(screen.url)
    expect(page.get_by_role("link", name="Connect a model")).to_be_visible()
    expect(screen.button("Open the example")).to_have_count(0)


def test_an_answer_that_says_nothing_is_not_offered_for_acceptance_first(server: Served, tab: Tab) -> None:
    screen = Screen(tab(), server.url).open()
    accept = screen.page.get_by_test_id("stBaseButton-primary").filter(has_text="Accept")
    screen.ask("What is the capital of Peru and who designed its opera house?").stands("Answer to review")
    expect(screen.answer).to_contain_text("No answer is given.")
    expect(screen.button("Accept")).to_be_visible()
    expect(accept).to_have_count(0)
    screen.open().ask(FOUNDED).stands("Answer to review")
    expect(accept).to_be_visible()
