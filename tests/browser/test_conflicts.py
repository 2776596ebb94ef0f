"""A conflict in a real browser: both sides are seen, a step is asked for, a value is taken with a reason, and
the answer states it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.screen import FOUNDED, Screen, Tab, act_until
from tests.browser.served import Served

WHY = "Why? (shown in the answer)"


def text_place(page: Page) -> object:
    """Where the answer stands, and how high it is."""
    return page.locator(".answer-pane .answer").first.bounding_box()


def test_a_conflict_is_looked_into_and_settled_with_a_reason(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    expect(screen.answer).to_contain_text("The sources differ on")
    evidence = page.locator(".st-key-pane-evidence")
    mark = screen.answer.get_by_role("button", name="sources disagree").first
    act_until(mark.click, evidence.filter(has_text="Sources disagree"))
    before = text_place(page)
    sides = evidence.locator("[class*='-side-'][class*='st-key-conflict-c']:has(.value)")
    expect(sides).to_have_count(2)
    for value in ("1979", "1974"):
        side = sides.filter(has=page.locator(".value", has_text=value))
        expect(side).to_contain_text("1 independent source")
        expect(side.get_by_role("link", name="See it in the page").first).to_be_visible()
    expect(sides.filter(has_text="founded in 1974").locator("mark").first).to_be_visible()
    assert text_place(page) == before, "no letter of the answer moves"

    screen.button("Look for more evidence").click()
    words = page.get_by_label("Words to search for")
    expect(words).to_have_value("In which year was Älvmora Mejeri founded 1974 1979")
    words.fill("Sixten Tjäder brewery Lövnäs")
    screen.button("Search for this").click()
    expect(screen.answer).to_contain_text("What changed since answer 1")
    screen.stands("Answer to review")
    expect(sides).to_have_count(2)  # what is open stays open
    screen.tells("Answer 2 written")
    screen.tells("You asked for more evidence on a conflict")

    panel = screen.tab("Conflicts")
    tabs = page.locator("[class*=st-key-research-tab]").element_handle()
    with screen.menu(screen.button("1979 is right"), page.get_by_label(WHY)):
        screen.button("Write it into the answer").click()
        expect(screen.notice).to_contain_text("give a reason", ignore_case=True)
        page.get_by_label(WHY).fill("The register is the first source.")
        screen.button("Write it into the answer").click()
        expect(page.get_by_label(WHY)).not_to_be_visible()
    settled = (
        "Älvmora Mejeri (founded): 1979 (you decided: The register is the first source). Other value: 1974"
    )
    expect(screen.answer).to_contain_text(settled)
    expect(screen.answer.locator(".answer")).not_to_contain_text("The sources differ")
    expect(page.locator(".st-key-run-status")).not_to_contain_text(re.compile("differ|disagree|Settle"))
    expect(panel).to_contain_text("resolved by you")
    screen.button("Reopen").click()
    expect(screen.answer.locator(".answer")).to_contain_text("The sources differ on")
    screen.stands("Answer to review")
    assert tabs.evaluate("tabs => tabs.isConnected"), (
        "the tabs were built anew while the answer was rewritten"
    )
