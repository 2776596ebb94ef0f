"""What people do from beginning to end, in a real browser against the real server and the demo world, without
a model."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.screen import FOUNDED, QUESTION, Screen, Tab, act_until
from tests.browser.served import Served


def test_step_by_step_with_a_changed_decision(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open().ask(step=True)
    screen.stands("Waiting for you")
    decision = page.locator(".st-key-research-decision")
    expect(decision).to_contain_text(QUESTION)
    screen.button("Change it").click()
    words = page.get_by_label("Words to search for")
    expect(words).to_have_value(QUESTION)
    words.fill("Älvmora Mejeri people employed dairy")
    screen.button("Do this").click()
    screen.journey()
    expect(page.locator(".step .head", has_text="Älvmora Mejeri people employed dairy").first).to_be_visible()
    expect(page.locator(".step .head", has_text="You changed the decision")).to_be_visible()

    screen.stands("Waiting for you")
    proposed = decision.locator(".proposal").first.inner_text()
    screen.button("Skip, propose another").click()
    expect(page.locator(".step .head", has_text="You skipped the decision")).to_be_visible()
    screen.stands("Waiting for you")
    expect(decision.locator(".proposal").first).not_to_have_text(proposed)

    page.locator(".st-key-research-approve button").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".step .head", has_text="You approved the decision")).to_be_visible()
    expect(page.locator(".step .dot", has_text="2").first).to_be_visible()
    screen.stands("Waiting for you")
    screen.button("Stop").click()
    screen.stands("Stopped")
    expect(screen.button("Continue")).to_be_visible()


def test_send_back_with_a_note(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    before = screen.answer.inner_text()
    screen.button("Send back").click()
    screen.button("Send back and continue").click()
    expect(screen.notice).to_contain_text("what is wrong or missing")
    note = page.get_by_label("What is wrong or missing?")
    note.fill("How many solar panels are there on the roof of Älvmora Mejeri?")
    screen.button("Send back and continue").click()
    expect(screen.answer).to_contain_text("412 solar panels")
    screen.stands("Answer to review")
    screen.tells("You sent the answer back")
    expect(screen.answer.locator(".changes li").first).to_be_visible()
    assert "412" not in before, "so it is the note that brings it"


def test_narrow_window(server: Served, tab: Tab) -> None:
    page = tab(width=400, height=800)
    screen = Screen(page, server.url).open()
    expect(screen.question).to_be_visible()
    assert not screen.too_wide()
    screen.ask()
    screen.stands("Answer to review")
    expect(screen.see(1, 1).locator("mark").first).to_be_visible()
    expect(screen.answer).to_be_hidden()  # one pane at a time
    assert not screen.too_wide()
    for name in ("Sources", "Facts", "Conflicts", "Plan", "Activity"):
        screen.tab(name)
        assert not screen.too_wide(), name
    with screen.menu(screen.button("Export"), screen.button("Markdown")):
        for label in ("Markdown", "Evidence bundle", "Pages (CSV)", "CSL-JSON"):
            expect(screen.button(label)).to_be_visible()
            box = screen.button(label).bounding_box()
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= 400, label
    screen.button("Accept").click()
    screen.stands("Accepted")


def test_a_second_tab_sees_the_same_run_and_answers_once(server: Served, tab: Tab) -> None:
    first = Screen(tab(), server.url).open().ask(step=True)
    first.stands("Waiting for you")
    second = Screen(tab(), server.url).open(first.run_id)
    second.stands("Waiting for you")
    first.page.locator(".st-key-research-approve button").click()
    first.journey()
    expect(first.page.locator(".step .head", has_text="You approved")).to_be_visible()
    first.stands("Waiting for you")
    second.page.locator(".st-key-research-approve button").click()  # it shows what was answered in the first
    expect(second.notice).to_contain_text("answered first")
    second.stands("Waiting for you")
    second.journey()
    expect(second.page.locator(".step .head", has_text="You approved")).to_have_count(1)


def test_typed_text_outlives_a_refresh(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open()
    saved = "An unsent question, typed and not sent"
    expect(screen.question).to_be_visible()  # a page that is still being built is hidden, and takes no focus
    screen.question.press_sequentially(saved, delay=5)
    expect(screen.question).to_be_focused()
    server.wait_for_draft(saved)
    expect(screen.question).to_be_focused()  # keeping the draft did not take the cursor away
    page.reload()
    expect(screen.question).to_have_value(saved)
    screen.question.fill("")
    server.wait_for_draft("")


def test_an_empty_question_is_told_kindly_and_ctrl_enter_asks(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open()
    expect(screen.question).to_be_visible()
    screen.start.click()
    expect(screen.notice).to_contain_text("There is no question yet")

    with screen.menu(screen.button("Options"), page.get_by_label("Search in")):
        screen.pick("Search in", "demo")
        expect(page.get_by_text("The demo world (invented pages) ·")).to_be_visible()
    screen.question.press_sequentially("Who is the head cheesemaker at Älvmora Mejeri?")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/?run=*")
    expect(page.get_by_role("heading", name="Who is the head cheesemaker at Älvmora Mejeri?")).to_be_visible()
    expect(page).to_have_title(re.compile("Who is the head cheesemaker"))


def test_a_page_of_the_graph_opens_with_its_quotes_marked(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Screen(page, server.url).open(
        server.answered("How many solar panels are there on the roof of Älvmora Mejeri?")
    )
    screen.stands("Answer to review")
    screen.tab("Sources").get_by_text("Source graph").click()
    kept, node = (
        page.locator(".st-key-pane-evidence"),
        page.locator(".graph button", has_text="Älvmora").first,
    )
    opened = kept.get_by_role("heading", name="From this page")
    act_until(lambda: opened.is_visible() or node.click(), opened)
    expect(kept.locator("mark").first).to_be_visible()
    kept.get_by_role("link", name="See it in the page").first.click()
    expect(page.locator(".paper mark").first).to_be_visible()
    page.get_by_role("link", name="Back to the run").click()
    expect(opened).to_be_visible()


def test_runs_are_found_opened_deleted_and_taken_back(server: Served, tab: Tab) -> None:
    page = tab()
    screen = (
        Screen(page, server.url)
        .open()
        .ask("Who won the goat's cheese class at the Norrvidda cheese fair in 2026?")
    )
    run_id = screen.run_id
    page.get_by_role("link", name="Runs").click()
    page.get_by_label("Find", exact=True).fill("goat's cheese class")
    row = page.locator(f".st-key-runs-row-{run_id}")
    expect(row).to_be_visible()
    expect(page.locator("[class*=st-key-runs-row-]")).to_have_count(1)
    row.locator("label").first.click()
    screen.button("Delete").click()
    expect(row).to_be_hidden()
    screen.button("Undo").click()
    expect(row).to_be_visible()
    row.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Who won the goat's cheese class")).to_be_visible()
    assert screen.run_id == run_id
    page.get_by_role("link", name="New question").click()
    expect(screen.question).to_be_visible()
    expect(page).not_to_have_url(re.compile("run="))
    screen.question.fill("Something else?")
    server.wait_for_draft("Something else?")
    expect(screen.question).to_have_value("Something else?")
    screen.question.fill("")
    server.wait_for_draft("")
