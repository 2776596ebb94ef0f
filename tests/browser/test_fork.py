"""Going on from a step in a new run, and two runs side by side: in a real browser, wide and narrow."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.looks import PALE
from tests.browser.screen import FOUNDED, Screen, Tab
from tests.browser.served import Served

NOTE = "How many solar panels are there on the roof of Älvmora Mejeri?"


def test_go_on_from_a_step_with_a_note_and_compare(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    first = screen.run_id
    expect(screen.answer).to_contain_text("1974")
    before = screen.cards()
    second = screen.card(2)
    expect(second.locator(".dot.good")).to_be_visible()
    screen.choose_under(second, "Start a variant from here")
    page.get_by_label("Instructions (optional)").fill(NOTE)
    screen.button("Start the variant").click()

    page.wait_for_url(lambda url: first not in url)
    expect(page.get_by_text("A variant that begins after step 2")).to_be_visible()
    screen.stands("Answer to review")
    expect(screen.answer).to_contain_text("412 solar panels")
    screen.tells("You started this variant")
    expect(page.locator(".step .why", has_text=NOTE)).to_be_visible()
    fork = screen.run_id
    screen.open(first)
    screen.stands("Answer to review")
    expect(screen.answer).not_to_contain_text("412 solar panels")
    assert screen.cards() == before, "the original is as it was"

    screen.open(fork)
    page.get_by_role("link", name="Compare with the original").click()
    page.wait_for_url("**/compare?**")
    _side_by_side(page)
    address = page.url
    page.reload()
    _side_by_side(page)
    assert page.url == address and first in address and fork in address
    screen.looks_right()

    narrow = tab(width=400, height=800, dark=True)
    narrow.goto(address)
    _side_by_side(narrow)
    assert not Screen(narrow, server.url).too_wide() and not narrow.evaluate(PALE)

    page.goto(f"{server.url}runs")
    for run in (first, fork):
        page.locator(f".st-key-runs-row-{run} label").first.click()
    page.get_by_role("link", name="Compare the two").click()
    _side_by_side(page)


def _side_by_side(page: Page) -> None:
    """The two answers with their facts."""
    expect(page.locator(".pair").first).to_contain_text(NOTE)
    expect(page.locator(".paired > div").first).to_contain_text("1974")
    expect(page.locator(".paired li", has_text="412 solar panels").first).to_be_visible()
