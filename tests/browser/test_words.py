"""What the screens say where something is wanting: a server that is gone, a question that is too long, no
network, and while a run works; in a real browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.screen import Screen, Tab
from tests.browser.served import Served

GONE = "Touchstone does not answer."


def test_a_server_that_is_gone_is_told_in_our_words_and_the_page_goes_on(
    served: Callable[..., Served], tab: Tab
) -> None:
    own = served(STEP_GAP="0.05")
    page = tab()
    screen = Screen(page, own.url).open()
    screen.question.fill("Who keeps Brattli hut?")
    own.wait_for_draft("Who keeps Brattli hut?")
    own.kill()
    expect(page.get_by_text(GONE)).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()
    own.start()
    expect(page.get_by_text(GONE)).to_be_hidden()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(screen.question).to_have_value("Who keeps Brattli hut?")
    screen.ask("Who keeps Brattli hut?").stands("Answer to review")


def test_a_question_that_is_too_long_is_told_before_and_after_it_is_sent(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open()
    asked = "word " * 900
    screen.question.fill(asked)
    expect(page.get_by_text("4,500 characters: 4,000 are the most.")).to_be_visible()
    top = place(page)
    screen.start.click()
    expect(screen.notice).to_contain_text("4,000 are the most")
    assert place(page) == top, "what is told moves the page"
    expect(screen.question).to_have_value(asked)
    screen.question.fill("")
    expect(page.get_by_text("are the most").first).to_be_hidden()


def place(page: Page) -> float | None:
    """Where the start stands."""
    box = page.locator(".st-key-research-start").bounding_box()
    return box and box["y"]


def test_offline_is_told_as_offline_with_the_ways_on(server: Served, tab: Tab) -> None:
    page = tab(width=400, height=800, dark=True)
    screen = Screen(page, server.url).open()
    screen.ask("Who keeps Brattli hut?", world="live").stands("Answer to review")
    card = page.locator(".st-key-run-nothing")
    expect(card).to_contain_text("There is no network")
    expect(page.get_by_text("No passage holds")).to_have_count(0)
    expect(card.get_by_role("button", name="Try again")).to_be_visible()
    screen.looks_right()
    card.get_by_role("button", name="Use the demo").click()
    expect(screen.question).to_be_visible()
    expect(page.get_by_text("The demo world (invented pages) ·")).to_be_visible()


def test_while_it_works_it_names_what_it_looks_for_and_the_tab_tells_when_it_is_ready(
    served: Callable[..., Served], tab: Tab
) -> None:
    page, asked = tab(), "Who keeps Brattli hut?"
    screen = Screen(page, served(STEP_GAP="0.5").url).open().ask(asked)
    expect(page.locator(".waiting")).to_contain_text(asked)
    expect(page.locator(".ts-now")).to_contain_text("reading ")
    expect(page).not_to_have_title(f"✓ {asked} · Touchstone")
    screen.stands("Answer to review")
    expect(page).to_have_title(f"✓ {asked} · Touchstone")
    expect(page.get_by_text("Best-matching passages")).to_be_visible()
    expect(page.get_by_text("%")).to_have_count(0)
    expect(page.get_by_role("link", name="Connect a model")).to_be_visible()
