"""Asking a site as a person does it: an answer with its sources, a follow-up from the same pages, a question
that is refused politely."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.screen import Screen, Tab
from tests.browser.served import Served

START = "https://kallsteg.example/"
QUESTION = "How do I return a Kallsteg C2 logger?"


class Asking(Screen):
    """One tab on the Ask a site screen."""

    path = "site"

    @property
    def field(self) -> Locator:
        return self.page.get_by_label("The site’s address, then your question")

    def begin(self) -> Asking:
        """Fill in the field, choose the demo world, ask; wait for the run's own address."""
        self.field.fill(f"kallsteg.example {QUESTION}")
        expect(self.page.get_by_text("only kallsteg.example")).to_be_visible()
        self.choose_demo()
        self.button("Ask").click()
        self.page.wait_for_url("**/site?run=*")
        return self

    def ask_on(self, question: str) -> str:
        """Ask on; wait for the new turn's address and give the run's id."""
        before = self.run_id
        box = self.page.locator("[data-testid=stChatInputTextArea]:enabled").first
        box.fill(question)
        box.press("Enter")
        self.page.wait_for_function("before => !location.search.includes(before)", arg=before)
        return self.run_id


def test_answer_follow_up_and_a_polite_no(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Asking(page, server.url).open()
    expect(page.get_by_role("heading", name="Ask a site.")).to_be_visible()
    screen.begin()
    expect(page.locator(".world").first).to_contain_text("demo world")
    screen.stands("Answer to review")
    expect(screen.answer).to_contain_text("within 30 days of delivery")
    expect(screen.see(1, 1).locator("mark").first).to_contain_text("within 30 days")
    expect(screen.tab("Activity")).to_contain_text("Enough is read")
    expect(screen.tab("Sources").locator("li", has_text="Returns and refunds").locator(".n")).to_have_text(
        "1"
    )
    with screen.menu(screen.button("Source graph"), page.locator(".graph")):
        cited = page.locator(".graph li", has_text="Returns and refunds")
        expect(cited).to_contain_text(re.compile(r"^1 Returns and refunds\d+ facts? · kallsteg.example/"))

    first = screen.run_id
    screen.ask_on("And who pays for the postage?")
    screen.stands("Answer to review")
    expect(screen.answer).to_contain_text("We pay the return postage")
    expect(page.locator(f".st-key-site-turn-{first}")).to_contain_text("within 30 days of delivery")

    screen.ask_on("Who won the football world cup in 1998?")
    screen.stands("Answer to review")
    expect(screen.answer).to_contain_text("do not answer this")
    assert screen.too_wide() == []

    page.reload()
    expect(screen.answer).to_contain_text("do not answer this")
    page.goto(f"{server.url}runs")
    expect(page.get_by_role("link", name=QUESTION).first).to_have_attribute("href", f"site?run={first}")


def test_a_saved_site_is_asked_again(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Asking(page, server.url).open()
    screen.field.fill(START)
    expect(page.get_by_text("only kallsteg.example")).to_be_visible()
    name = page.get_by_label("Name", exact=True)
    domains = page.get_by_role("textbox", name="Only these domains")
    with screen.menu(screen.button("Options"), name):
        expect(domains).to_have_value("kallsteg.example")
        name.fill("Loggers")
        name.press("Enter")
        screen.button("Save this site").click()
        expect(screen.notice).to_contain_text("The site “Loggers” is saved.")

    other = Asking(tab(width=400, dark=True), server.url).open()
    other.field.fill("https://www.alvmora-mejeri.example/")
    other.button("Loggers").or_(other.page.get_by_role("radio", name="Loggers")).first.click()
    expect(other.field).to_have_value(f"{START}\n")
    domains = other.page.get_by_role("textbox", name="Only these domains")
    with other.menu(other.button("Options"), domains):
        expect(domains).to_have_value("kallsteg.example")
        other.looks_right()
