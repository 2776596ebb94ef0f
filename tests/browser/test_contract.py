"""The contract of focus and scroll (docs/guide/research.md): the focus stays where a person acts, the page stays
where a person reads, and what is opened stays open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from tests.browser.screen import FOUNDED, Screen, Tab, act_until
from tests.browser.served import Served

RETURN = "Enter"
HEAD, PANE = ".st-key-evidence-head", ".st-key-pane-evidence"
CITE = ".answer-pane button.cite"
STANDS = """() => [document.querySelector('.stMain').scrollTop, document.querySelector('.answer-pane').getBoundingClientRect().top]"""


class Act(NamedTuple):
    """A kind of control: the control, what is seen when it was acted on, what is opened before (a tab, or what is
    behind a citation), and what has the focus then, where that is not the control."""

    control: str
    seen: str
    opened: str = ""
    focused: str = ""


def menu(key: str, seen: str, opened: str = "") -> Act:
    """A button that opens what Escape closes again."""
    return Act(f'[class*="st-key-{key}"] button', f"text={seen}", opened)


def swap(before: str, after: str, opened: str = "") -> Act:
    """A button that another takes the place of."""
    one, other = (f'[class*="st-key-{name}"] button' for name in (before, after))
    return Act(one, other, opened, other)


MENUS = {
    "send back": menu("research-send-back", "What is wrong or missing?"),
    "length": menu("research-length", "Written again from the facts found"),
    "copy": menu("research-copy", "The sign at the corner copies it."),
    "export": menu("export-", "To send"),
    "add a fact": menu("ledger-add", "The fact, in a sentence", "Facts"),
    "correct": menu("fact-correct", "What it states", CITE),
}
ACTS = {
    "citation": Act(CITE, f"{HEAD} >> text=Behind this sentence"),
    "mark": Act(".answer-pane button.mark", f"{HEAD} >> text=Sources disagree"),
    "tab": Act(
        f'{PANE} [role=tab]:has-text("Plan")', f'{PANE} [aria-selected=true]:has-text("Plan")', "Sources"
    ),
    **MENUS,
    "always use": swap("fact-always-use", "fact-use-normally", CITE),
    "use normally": swap("fact-use-normally", "fact-always-use", CITE),
    "exclude": swap("fact-exclude", "fact-restore", CITE),
    "undo": Act(
        ".st-key-ledger-undo button", ".st-key-ledger-redo button", "Facts", ".st-key-ledger-undo button"
    ),
    "redo": Act(
        ".st-key-ledger-redo button", ".st-key-ledger-undo button", "Facts", ".st-key-ledger-undo button"
    ),
    "accept": swap("research-accept", "research-reopen"),
    "reopen": swap("research-reopen", "research-accept"),
}
"""The kinds, in the order in which one run is acted on."""


@pytest.fixture(scope="module")
def run_id(server: Served) -> str:
    """A run whose sources disagree, answered without a model."""
    return server.answered(FOUNDED)


@pytest.fixture(scope="module")
def reader(server: Served, browser: Browser, run_id: str) -> Iterator[Screen]:
    """Who reads this run in a low window, scrolled."""
    size: ViewportSize = {"width": 1280, "height": 500}
    context = browser.new_context(viewport=size, color_scheme="dark")
    screen = Screen(context.new_page(), server.url).open(run_id)
    screen.stands("Answer to review")
    yield screen
    context.close()


@pytest.mark.parametrize("kind", ACTS)
def test_the_focus_stays_where_a_person_acts_and_nothing_moves(reader: Screen, kind: str) -> None:
    page, act = reader.page, ACTS[kind]
    if act.opened == CITE:
        open_evidence(reader)
    elif act.opened:
        reader.tab(act.opened)
    control, seen = (page.locator(one).filter(visible=True).first for one in (act.control, act.seen))
    expect(control).to_be_visible()
    page.locator(".stMain").evaluate("e => e.scrollTo(0, 60)")
    control.evaluate("e => e.focus({preventScroll: true})")
    before = page.evaluate(STANDS)
    page.keyboard.press(RETURN)
    expect(seen).to_be_visible()
    expect(page.locator(act.focused).filter(visible=True).first if act.focused else control).to_be_focused()
    if kind in MENUS:
        page.keyboard.press("Escape")  # the menu alone, not what is open below it
        expect(seen).to_be_hidden()
        expect(control).to_be_focused()
        assert page.locator(HEAD).is_visible() is (act.opened == CITE)
    assert page.evaluate(STANDS) == before


def open_evidence(screen: Screen) -> None:
    """What is behind the first citation, by keyboard."""
    head = screen.page.locator(HEAD)
    if not head.is_visible():
        screen.page.locator(CITE).first.focus()
        screen.page.keyboard.press(RETURN)
        expect(head).to_be_visible()


def test_escape_leads_back_to_the_tab_and_to_the_sentence(reader: Screen) -> None:
    page = reader.page
    reader.tab("Plan")
    open_evidence(reader)
    page.locator(f"{HEAD} button").last.focus()
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Plan")).to_have_attribute("aria-selected", "true")
    expect(page.locator(CITE).first).to_be_focused()


def test_a_row_is_chosen_and_edited_in_its_place(reader: Screen) -> None:
    page = reader.page
    page.set_viewport_size({"width": 1280, "height": 900})
    grid = reader.tab("Facts").locator("canvas").first
    box = grid.bounding_box()
    assert box
    before = page.evaluate(STANDS)
    page.mouse.click(box["x"] + 20, box["y"] + 50)
    expect(reader.button("Exclude 1 fact")).to_be_visible()
    page.mouse.click(box["x"] + 20, box["y"] + 50)
    expect(reader.button("Exclude 1 fact")).to_be_hidden()
    cell = page.locator("textarea.gdg-input")
    act_until(lambda: page.mouse.dblclick(box["x"] + 150, box["y"] + 50), cell)
    cell.fill("Rewritten.")
    cell.press(RETURN)
    expect(page.get_by_text("1 unsaved change")).to_be_visible()
    assert page.evaluate("document.activeElement !== document.body")
    assert page.evaluate(STANDS) == before


def test_what_is_sent_from_a_form_leaves_the_focus_beside_it(server: Served, tab: Tab) -> None:
    page = tab(height=500)
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    before = page.evaluate(STANDS)
    open_evidence(screen)
    correct = page.locator('[class*="st-key-fact-correct"] button').filter(visible=True).first
    with screen.menu(correct, page.get_by_label("What it states")):
        page.get_by_label("What it states").fill("Älvmora Mejeri was founded in 1979.")
        page.get_by_role("button", name="Save the correction").press(RETURN)
        expect(page.get_by_label("What it states")).to_be_hidden()
    expect(correct).to_be_focused()
    expect(page.get_by_text("The answer does not say this any more.")).to_be_visible()
    comment = page.get_by_label("Comment on it")  # on the sentence as it reads now
    act_until(lambda: comment.is_visible() or page.locator(CITE).first.press(RETURN), comment)
    comment.fill("Which year?")
    screen.button("Send comment").press(RETURN)
    expect(page.locator(f"{HEAD} button").first).to_be_focused()
    screen.stands("Answer to review")
    screen.button("Send back").press(RETURN)
    page.get_by_label("What is wrong or missing?").fill("How many solar panels are there on its roof?")
    screen.button("Send back and continue").press(RETURN)
    screen.stands("Answer to review")
    expect(page.locator(".st-key-run-bar :focus")).to_be_visible()
    assert page.evaluate(STANDS) == before


def test_options_close_on_their_button(server: Served, tab: Tab) -> None:
    screen = Screen(tab(height=500), server.url).open()
    options = screen.button("Options").first
    expect(
        screen.button("Use the demo")
    ).to_be_visible()  # it is told above the options that there is no network
    options.focus()
    top = options.bounding_box()
    inside = screen.page.get_by_label("Search in")
    act_until(lambda: inside.is_visible() or options.press(RETURN), inside)
    expect(options).to_be_focused()
    assert options.bounding_box() == top


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
    screen = Screen(page, unhurried.url).open(unhurried.answered(FOUNDED))
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


def test_an_answer_is_announced_on_the_page_of_its_run_alone(unhurried: Served, tab: Tab) -> None:
    page = tab(width=400, height=800)
    screen = Screen(page, unhurried.url).open().ask(FOUNDED)
    first = screen.run_id
    screen.stands("Working")
    page.locator(".st-key-pane-switch").get_by_text("Evidence", exact=True).click()
    ready = page.locator(".ts-ready")
    expect(ready).to_be_visible()
    page.get_by_role("link", name="New question").click()
    expect(ready).to_have_count(0)
    screen.ask("How many solar panels are there on the roof of Älvmora Mejeri?")
    screen.stands("Working")
    page.get_by_role("link", name="New question").click()
    page.locator(f'a[href*="{first}"]').first.click()
    page.wait_for_url(f"**/?run={first}")
    screen.stands("Answer to review")
    page.locator(".st-key-pane-switch").get_by_text("Evidence", exact=True).click()
    expect(page.get_by_role("tab", name="Sources")).to_be_visible()
    expect(ready).to_have_count(0)


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
    expand = page.get_by_test_id("stExpandSidebarButton")
    expect(expand).to_be_visible()
    act_until(lambda: expand.is_visible() and expand.click(), expand, gone=True)
    expect(runs).to_be_in_viewport()
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
