"""A comment on one sentence, a note in plain words, an accepted answer opened again, and a further question: in
a real browser, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.looks import PALE
from tests.browser.screen import Screen, Tab, act_until
from tests.browser.served import Served

SOLAR = "How many solar panels are there on the roof of Älvmora Mejeri?"
COUNT = "there are 412 solar panels"


def test_comment_send_back_accept_reopen_and_ask_further(served: Callable[..., Served], tab: Tab) -> None:
    own = served(STEP_GAP="0")
    page = tab()
    screen = Screen(page, own.url).open().ask(SOLAR)
    screen.stands("Answer to review")
    answer = screen.answer
    expect(answer).to_contain_text(COUNT)
    first = screen.run_id

    form = screen.see(2).locator(".st-key-research-comment")
    expect(page.locator(".evidence-said")).to_contain_text("peak output")
    form.get_by_role("textbox").fill("source?")
    screen.button("Send comment").click()
    expect(answer).to_contain_text("What changed since answer 1")
    screen.stands("Answer to review")
    expect(form.get_by_role("textbox")).to_have_value("")
    expect(answer).to_contain_text("unchanged")
    expect(answer).to_contain_text(COUNT)
    screen.tells("You commented on the answer")

    screen.button("Send back").click()
    expect(page.get_by_text("No model reads the note")).to_be_visible()
    page.get_by_label("What is wrong or missing?").fill("peak output of the roof")
    screen.button("Send back and continue").click()
    expect(answer).to_contain_text("What changed since answer 2")
    screen.stands("Answer to review")
    expect(page.get_by_text("Your note is done")).to_have_count(0)

    with screen.menu(screen.button("Copy"), page.get_by_test_id("stCode")):
        expect(page.get_by_test_id("stCode")).to_contain_text(COUNT)
    screen.button("Accept").click()
    screen.stands("Accepted")
    screen.see(1)
    expect(form).to_have_count(0)
    screen.button("Reopen").click()
    screen.stands("Answer to review")
    screen.looks_right()

    page.get_by_role("textbox", name="Ask a further question").fill("And what is their peak output?")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: first not in url)
    screen.stands("Answer to review")
    expect(screen.answer).to_contain_text("173 kilowatts")
    expect(page.get_by_text("In this thread:")).to_be_visible()
    page.get_by_role("link", name=re.compile("^How many solar panels")).click()
    page.wait_for_url(lambda url: first in url)

    narrow = tab(width=400, height=800, dark=True)
    narrow.goto(f"{own.url}?run={first}")
    said = narrow.locator(".evidence-said", has_text="peak output of 173 kilowatts")
    act_until(narrow.locator(".answer-pane .sentence", has_text="peak output").first.click, said)
    expect(narrow.locator(".st-key-research-comment")).to_be_visible()
    expect(narrow.locator(".st-key-evidence-head")).to_be_in_viewport()
    narrow.locator(".st-key-pane-switch").get_by_text("Answer", exact=True).click()
    expect(narrow.locator(".sentence.chosen")).to_be_in_viewport()
    assert not Screen(narrow, own.url).too_wide() and not narrow.evaluate(PALE)
