"""What is typed into the facts of a run and not saved: a draft, wherever a person looks meanwhile."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.screen import FOUNDED, Screen, Tab, act_until
from tests.browser.served import Served

ROW = 36


def write(page: Page, text: str, then: Locator) -> None:
    """Write another statement into the first row of the table; wait for what tells it."""
    cell = page.locator("#portal textarea")

    def fill() -> None:
        page.locator(".dvn-scroller").dblclick(position={"x": 200, "y": 54})
        cell.fill(text)
        expect(cell).to_have_value(text)
        cell.press("Enter")

    act_until(fill, then)


def tick(page: Page, row: int, then: Locator) -> None:
    """Tick a row of the table; wait for what tells it."""
    at = {"x": 18, "y": 18 + ROW * row}
    act_until(lambda: then.is_visible() or page.locator(".dvn-scroller").click(position=at), then)


def test_a_half_typed_correction_outlives_a_working_run(unhurried: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, unhurried.url).open(unhurried.answered(FOUNDED))
    screen.stands("Answer to review")
    pane = screen.see(1, 1)
    card = pane.locator("[class*=st-key-evidence-f]").first
    states, correct = page.get_by_label("What it states"), card.get_by_role("button", name="Correct")
    screen.button("Send back").click()
    page.get_by_label("What is wrong or missing?").fill("How many solar panels are there on its roof?")
    screen.button("Send back and continue").click()
    screen.stands("Working")
    act_until(lambda: states.is_visible() or correct.click(), states)
    states.press_sequentially("Half")
    screen.stands("Answer to review")
    expect(states).to_have_value(re.compile("Half"))
    page.keyboard.press("Escape")
    expect(states).to_be_hidden()
    screen.tab("Facts")
    expect(page.get_by_text("1 unsaved change", exact=True)).to_be_visible()
    screen.button("Save").click()
    expect(page.get_by_text("1 unsaved change", exact=True)).to_have_count(0)
    expect(screen.answer).to_contain_text("corrected 1 fact")


def test_typed_cells_and_ticks_outlive_all_but_saving_and_discarding(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    unsaved = page.get_by_text("1 unsaved change", exact=True)
    panel = screen.tab("Facts")
    cells = panel.locator("canvas [role=gridcell]")
    write(page, "It began in 1971.", unsaved)
    tick(page, 2, screen.button("Exclude 1 fact"))
    tick(page, 3, screen.button("Exclude 2 facts"))
    expect(unsaved).to_be_visible()

    screen.see(1, 1)
    screen.tab("Facts")
    expect(unsaved).to_be_visible()
    expect(cells.filter(has_text="It began in 1971.")).to_be_attached()
    screen.tab("Sources")
    screen.tab("Facts")
    find = panel.get_by_label("Find in the facts")
    find.fill("no fact has such words")
    expect(panel.get_by_text("No fact fits")).to_be_visible()
    expect(unsaved).to_be_visible()
    find.fill("")
    expect(cells.filter(has_text="It began in 1971.")).to_be_attached()
    page.get_by_text("Wide", exact=True).click()
    expect(page.locator(".st-key-pane-answer")).to_be_hidden()
    page.wait_for_function("() => document.querySelector('.dvn-scroller')?.clientWidth > 1100")
    expect(cells.filter(has_text="It began in 1971.")).to_be_attached()
    expect(screen.button("Exclude 2 facts")).to_be_visible()

    screen.button("Discard").click()
    expect(unsaved).to_have_count(0)
    expect(cells.filter(has_text="It began in 1971.")).to_have_count(0)
    screen.button("Exclude 2 facts").click()
    expect(page.get_by_role("button", name="Undo: excluded 2 facts")).to_be_visible()
    told = page.get_by_text("Updated after your edit: excluded 2 facts")
    page.get_by_text("Wide", exact=True).click()
    expect(told).to_be_visible()
    assert screen.too_wide() == []
