"""The contract of focus and scroll (docs/guide/research.md): the focus stays where a person acts, the page stays
where a person reads, and what is opened stays open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.screen import QUESTION, Screen, Tab, act_until
from tests.browser.served import Served

RETURN = "Enter"


@pytest.fixture(scope="module")
def run_id(server: Served, browser: Browser) -> str:
    """A run whose sources disagree, answered."""
    context = browser.new_context()
    screen = Screen(context.new_page(), server.url).open().ask(QUESTION)
    screen.stands("Answer to review")
    found = screen.run_id
    context.close()
    return found


def test_step_by_step_the_focus_goes_to_the_next_decision(server: Served, tab: Tab) -> None:
    page = tab(height=800)
    screen = Screen(page, server.url).open().ask(step=True)
    screen.stands("Waiting for you")
    card, approve = (
        page.locator(".st-key-research-decision"),
        page.locator(".st-key-research-approve button"),
    )
    box = approve.bounding_box()
    assert box and box["y"] + box["height"] < 400, "approved without a scroll"
    proposed = card.locator(".proposal").first.inner_text()
    approve.focus()
    page.keyboard.press(RETURN)
    expect(card.locator(".proposal").first).not_to_have_text(proposed)
    expect(approve).to_be_focused()
    proposed = card.locator(".proposal").first.inner_text()
    skip = page.locator(".st-key-research-skip button")
    skip.focus()
    page.keyboard.press("Space")
    expect(card.locator(".proposal").first).not_to_have_text(proposed)
    expect(skip).to_be_focused()
    screen.pick("Run until", "Run until the answer")  # what waits is approved
    screen.stands("Answer to review")
    expect(card).to_have_count(0)


def test_what_is_open_stays_while_the_run_works_and_the_answer_is_announced(
    unhurried: Served, tab: Tab
) -> None:
    page = tab(width=400, height=800)
    screen = Screen(page, unhurried.url).open().ask("In which year was Älvmora Mejeri founded?")
    screen.stands("Answer to review")
    pane = screen.see(1, 1)
    quote = pane.locator("mark").first
    told = quote.inner_text()
    screen.button("Send back").click()
    page.get_by_label("What is wrong or missing?").fill("How many solar panels are there on its roof?")
    screen.button("Send back and continue").click()
    screen.stands("Working")
    expect(quote).to_have_text(told)
    ready = page.get_by_role("status").filter(has_text="Your answer is ready")
    expect(ready).to_be_visible()
    ready.click()
    expect(screen.answer).to_be_visible()


def test_a_further_question_opens_at_its_top(server: Served, tab: Tab, run_id: str) -> None:
    page = tab(width=400, height=500)
    screen = Screen(page, server.url).open(run_id)
    screen.stands("Answer to review")
    main = page.locator(".stMain")
    main.evaluate("e => e.scrollTo(0, e.scrollHeight)")
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill("Who is the head cheesemaker at Älvmora Mejeri?")
    box.press(RETURN)
    expect(page.get_by_role("heading", name="Who is the head cheesemaker")).to_be_in_viewport()
    assert main.evaluate("e => e.scrollTop") == 0


def test_on_a_phone_the_menu_closes_on_a_choice(server: Served, tab: Tab) -> None:
    page = tab(width=400, height=800, dark=True)
    screen = Screen(page, server.url).open()
    expect(screen.question).to_be_visible()
    runs = page.get_by_test_id("stSidebar").get_by_role("link", name="Runs")
    act_until(
        page.get_by_test_id("stExpandSidebarButton").click,
        lambda limit: expect(runs).to_be_in_viewport(timeout=limit),
        *(5_000, 10_000, 45_000),
    )
    runs.click()
    page.wait_for_url("**/runs")
    expect(runs).not_to_be_in_viewport()


def test_a_key_is_saved_by_keyboard_alone(served: Callable[..., Served], tab: Tab) -> None:
    page = tab()
    page.goto(f"{served().url}settings")
    engine = page.locator(".st-key-settings-engine-brave")
    save = page.locator(".st-key-settings-brave-save button")
    with Screen(page, "").menu(engine.get_by_role("button", name="Set up"), save):
        page.get_by_label("Key", exact=True).last.focus()
        page.keyboard.type("brave-canary")
        for _ in range(4):
            page.keyboard.press("Tab")
            if save.evaluate("e => e === document.activeElement"):
                break
        page.keyboard.press(RETURN)
        expect(engine.locator(".chip")).to_have_text("not asked yet")
