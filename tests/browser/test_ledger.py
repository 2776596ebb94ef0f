"""The ledger in a real browser: a person pins, corrects in the table, adds, strikes a source after being
asked, takes it back."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.screen import Screen, act_until
from tests.browser.served import Served

FOUNDED = "In which year was Älvmora Mejeri founded?"
WRONG = "The dairy began in 1989 with two partners."


def changed(page: Page, former: int, why: str) -> None:
    """Wait until the answer after this one stands, and says why it was written."""
    expect(page.get_by_text(f"What changed since answer {former}")).to_be_visible()
    expect(page.get_by_text(f"Updated after your edit: {why}")).to_be_visible()


def typed_in_the_table(page: Page, text: str, saves: Locator) -> None:
    """Double-click the statement of the first row, write another, leave the cell; wait for the button that
    saves it."""
    grid, cell = page.locator(".dvn-scroller"), page.locator("#portal textarea")

    def write() -> None:
        grid.dblclick(position={"x": 200, "y": 54})
        cell.fill(text)
        expect(cell).to_have_value(text)
        cell.press("Enter")

    act_until(write, lambda limit: expect(saves).to_be_visible(timeout=limit), 3_000, 6_000, 45_000)


def ticked(page: Page, then: Locator) -> None:
    """Choose the first row of the table; wait for the button that appears for it. One click too many takes the
    first back."""
    tick = lambda: page.locator(".dvn-scroller").click(position={"x": 46, "y": 54})  # noqa: E731
    act_until(tick, lambda limit: expect(then).to_be_enabled(timeout=limit), 20_000, 45_000)


def source_picked(page: Page, site: str) -> None:
    """Pick a source in the form."""
    option = page.get_by_role("option", name=re.compile(f"^{re.escape(site)}: "))
    pick = page.get_by_label("Which source?").click
    act_until(pick, lambda limit: expect(option).to_be_visible(timeout=limit), 10_000, 45_000)
    option.click()


def test_a_person_edits_the_ledger_and_the_answer_follows(tab, server: Served) -> None:
    page: Page = tab()
    screen = Screen(page, server.url).open().ask(FOUNDED)
    screen.stands("Answer to review")
    answer = page.locator(".answer").first
    expect(answer).to_contain_text("The sources differ")

    cite = answer.locator(".cite", has_text="bolagsrullen.example")
    cite.locator("summary").first.click()  # from a sentence to its words, and on to the fact behind them
    quote = cite.locator(".quote").first.inner_text()
    cite.get_by_role("link", name="Exclude, always use or correct this fact").first.click()
    card = page.locator(".st-key-fact-card")
    expect(card).to_contain_text(quote)
    screen.button("Always use").click()
    changed(page, 1, "pinned 1 fact of bolagsrullen.example")
    expect(answer).to_contain_text("1979")
    expect(answer).not_to_contain_text("sources differ")
    expect(page.locator(".step .head").filter(has_text="You pinned 1 fact")).to_be_visible()
    screen.button("Close").click()
    expect(card).to_have_count(0)

    panel = screen.tab("Facts")
    panel.get_by_label("Find in the facts").fill("roll on 12 May")
    expect(panel.locator(".facts tr")).to_have_count(2)
    panel.get_by_text("Edit in the table").click()
    expect(panel.get_by_test_id("stDataFrame")).to_be_visible()
    typed_in_the_table(page, WRONG, screen.button("Save 1 changed fact"))
    screen.button("Save 1 changed fact").click()
    expect(screen.notice.filter(has_text="more than the quote supports")).to_be_visible()
    changed(page, 2, "corrected 1 fact of bolagsrullen.example")
    expect(answer.locator(".unsure", has_text="1989")).to_be_visible()
    expect(answer.locator(".support", has_text="own knowledge")).to_be_visible()
    screen.button("Undo: corrected 1 fact of bolagsrullen.example").click()
    changed(page, 3, "undid: corrected 1 fact of bolagsrullen.example")
    expect(answer).not_to_contain_text("sources differ")
    expect(answer.locator(".unsure")).to_have_count(0)

    screen.button("Add a fact").click()
    page.get_by_label("The fact, in a sentence").fill("Älvmora Mejeri was founded by my aunt and her friend.")
    page.get_by_text("My own knowledge").click()
    expect(page.get_by_text("It never counts as backed")).to_be_visible()
    screen.button("Add it").click()
    changed(page, 4, "added 1 fact of your own knowledge")
    expect(answer.locator(".unsure")).to_contain_text("my aunt")
    expect(answer.locator(".support", has_text="own knowledge")).to_be_visible()

    screen.stands("Answer to review")
    screen.button("Exclude a source").click()
    source_picked(page, "bolagsrullen.example")
    expect(page.get_by_text("The answer loses")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Exclude it with")).click()
    changed(page, 5, "excluded the source bolagsrullen.example")
    expect(page.locator(".sources").filter(has_text="bolagsrullen")).to_have_count(0)

    panel.get_by_label("Find in the facts").fill("my aunt")
    expect(panel.get_by_text(re.compile(r"^1 fact of \d+ fit"))).to_be_visible()
    screen.stands("Answer to review")
    expect(
        panel.locator("canvas [role=gridcell]").filter(has_text="my aunt").first
    ).to_be_attached()  # the words above the table change before it
    strikes = screen.button("Exclude 1 fact")
    ticked(page, strikes)
    strikes.click()
    changed(page, 6, "excluded 1 fact")
    expect(answer).not_to_contain_text("my aunt")
    assert screen.too_wide() == []
