"""Having a question asked again as a person does it, in the demo world, on a wide and a narrow window."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.screen import QUESTION, Screen, Tab
from tests.browser.served import Served


def test_a_run_is_repeated_by_a_schedule_and_run_now(tab: Tab, server: Served) -> None:
    page = tab()
    page.goto(f"{server.url}schedules")
    expect(page.get_by_text("No schedules yet")).to_be_visible()
    screen = Screen(page, server.url).open(server.answered(QUESTION))
    screen.stands("Answer to review")
    page.set_viewport_size({"width": 400, "height": 850})
    screen.button("Repeat…").click()
    expect(screen.button("Repeat it")).to_be_in_viewport(ratio=1)  # the menu opens where there is room
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 900})
    screen.button("Repeat…").click()
    screen.pick("How often", "A cron expression")
    cron = page.get_by_role("textbox", name="Cron expression")
    for typed, told in (
        ("*/5 * * * *", "more often than every 15 minutes"),
        ("30 7 * * 1-5", "At 07:30 on Monday"),
    ):
        cron.fill(typed)
        cron.press("Tab")
        expect(page.get_by_text(told)).to_be_visible()
    screen.looks_right()
    screen.button("Repeat it").click()
    expect(screen.notice).to_contain_text("Scheduled. At 07:30")
    expect(screen.button("Repeat…")).to_be_focused()

    page.get_by_role("link", name="Schedules").click()
    card = (
        page.locator(".stMain [class*=st-key-schedule-]")
        .filter(has=page.get_by_role("heading", level=2))
        .first
    )
    expect(card).to_contain_text(re.compile("Active.*Monday through Friday, next on"))
    screen.button("Run now").click()
    expect(card).to_contain_text("1 run")
    expect(card.locator(".chip", has_text="Answer to review")).to_be_visible()
    screen.button("Pause").click()
    expect(screen.button("Resume")).to_be_focused()
    expect(card).to_contain_text("Paused by hand.")
    screen.button("Feed").click()
    screen.button("New address").click()
    address = page.locator("code", has_text="/feeds/fed_")
    expect(address).to_be_visible()
    feed = page.request.get(address.inner_text())
    assert feed.status == 200 and "<feed" in feed.text()
    page.keyboard.press("Escape")
    screen.button("Change").click()
    page.get_by_label("Name", exact=True).fill("Staff")
    screen.button("Save").click()
    expect(page.get_by_role("heading", name="Staff")).to_be_visible()
    expect(screen.button("Change")).to_be_focused()
    screen.looks_right()
    page.set_viewport_size({"width": 400, "height": 850})
    screen.looks_right()
    page.get_by_role("link", name="Open the last run").click()
    screen.stands("Answer to review")
    page.get_by_role("link", name="Its schedule").click()
    screen.button("Delete").click()
    screen.button("Delete the schedule").click()
    expect(page.get_by_text("No schedules yet")).to_be_visible()
