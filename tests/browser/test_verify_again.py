"""Verifying an accepted answer again as a person does it, in the demo world, on a wide and a narrow window."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.screen import Screen, Tab
from tests.browser.served import Served


def test_an_accepted_answer_is_verified_again(tab: Tab, server: Served) -> None:
    page = tab()
    screen = Screen(page, server.url).open().ask()
    expect(screen.button("Verify again")).to_have_count(0)  # nobody accepted the answer yet
    screen.button("Accept").click()
    screen.button("Verify again").click()
    page.wait_for_url("**/verify_again?run=*")
    expect(page.get_by_text("quotes still on the pages today")).to_be_visible()
    expect(screen.answer.get_by_role("heading", name="Stands")).to_be_visible()
    screen.looks_right()
    page.set_viewport_size({"width": 390, "height": 844})
    screen.looks_right()
    page.get_by_role("link", name="The answer that is verified").click()
    expect(screen.button("Verify again")).to_be_visible()
