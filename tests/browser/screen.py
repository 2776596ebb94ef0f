"""The screens as a person uses them: by labels and roles, waiting for what should appear."""

from __future__ import annotations

import re
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Self

from playwright.sync_api import Download, Locator, Page, TimeoutError, expect

from tests.browser.looks import NAMELESS, PALE

TOO_WIDE = """() => [...document.querySelectorAll('.stMain .ts *, .stMain button, .stMain textarea, .stMain h1')].filter(e => {
    const box = e.getBoundingClientRect()
    return e.checkVisibility({visibilityProperty: true}) && box.width > 0 && box.right > innerWidth + 1 && !e.closest('.scroll, [role=tablist]')
}).map(e => e.tagName + ' ' + e.textContent.slice(0, 40))"""
WIDE = 1_100
"""Pixels of a window from which on answer and evidence stand side by side."""
STATUSES = {
    "Working": "running",
    "Waiting for you": "waiting",
    "Answer to review": "review",
    "Paused": "paused",
    "Stopped": "stopped",
    "Accepted": "done",
}
"""How a run stands, as the line of its status says it to programs."""
QUESTION = "How many people does Älvmora Mejeri employ?"
FOUNDED = "In which year was Älvmora Mejeri founded?"
"""Of this the sources disagree."""
Tab = Callable[..., Page]


AGAIN_MS = (3_000, 7_000, 15_000, 35_000)
"""After how long something is done once more, that showed nothing."""


def act_until(act: Callable[[], object], seen: Locator, *, gone: bool = False) -> None:
    """Act until this is seen (or gone), and act again where it is not: what is done between two drawings of the
    page may be lost, and a person does it again."""
    for limit in AGAIN_MS:
        act()
        try:
            expect(seen).to_be_visible(visible=not gone, timeout=limit)
            return
        except AssertionError:
            if limit == AGAIN_MS[-1]:
                raise


class Screen:
    """One tab on the Research screen."""

    path = ""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url

    def open(self, run_id: str = "") -> Self:
        """Go to the empty screen, or to a run."""
        self.page.goto(self.url + self.path + (f"?run={run_id}" if run_id else ""))
        return self

    @property
    def run_id(self) -> str:
        """The run in the address."""
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.page.url).query).get("run", [""])[0]

    @property
    def question(self) -> Locator:
        return self.page.get_by_label("Your question")

    @property
    def start(self) -> Locator:
        """The button that starts the research; its shortcut is part of its name."""
        return self.page.get_by_role("button", name=re.compile("^Research"))

    @property
    def notice(self) -> Locator:
        """What the screen tells about the last thing that was asked of it."""
        return self.page.get_by_test_id("stAlert")

    def button(self, name: str) -> Locator:
        """A button, whatever its shortcut, or what is clicked to unfold something."""
        button = self.page.get_by_role(
            "button", name=re.compile(rf"^{re.escape(name)}( Shortcut Ctrl \+ Enter)?$")
        )
        return button.or_(self.page.locator("summary", has=self.page.get_by_text(name, exact=True)))

    def ask(self, question: str = QUESTION, *, step: bool = False, world: str = "demo") -> Screen:
        """Type a question, choose the world and the mode, start; wait for the run's own address."""
        expect(self.question).to_be_visible()
        self.question.fill(question)
        if world == "demo":
            self.choose_demo()
        if step:
            self.page.get_by_role("radio", name="Step by step").or_(self.button("Step by step")).first.click()
            expect(self.page.get_by_text("You approve each step.")).to_be_visible()
        expect(self.start).to_have_count(1)  # for a moment it may be drawn twice
        self.start.click()
        self.page.wait_for_url("**/?run=*")
        return self

    def choose_demo(self) -> None:
        """Take the demo that is offered where there is no network, where it was not taken before."""
        offered, taken = (
            self.button("Use the demo"),
            self.page.get_by_text("The demo world (invented pages) ·"),
        )
        expect(offered.or_(taken).first).to_be_visible()
        act_until(lambda: taken.is_visible() or offered.click(), taken)

    @contextmanager
    def menu(self, opener: Locator, inside: Locator) -> Iterator[None]:
        """Open a menu by its button until something inside it is seen; close it when all in it is done."""
        opener, inside = opener.first, inside.first  # for a moment they may be drawn twice
        is_fold = opener.evaluate("e => e.tagName") == "SUMMARY"
        close = opener.click if is_fold else lambda: self.page.keyboard.press("Escape")
        act_until(lambda: inside.is_visible() or opener.click(), inside)
        yield
        act_until(lambda: inside.is_visible() and close(), inside, gone=True)

    def pick(self, label: str, option: str | re.Pattern[str]) -> None:
        """Choose an option of a list."""
        field, choice = (
            self.page.get_by_label(label, exact=True).last,
            self.page.get_by_role("option", name=option),
        )
        for limit in AGAIN_MS:
            if not choice.is_visible():
                field.click()
            with suppress(TimeoutError):  # the list may be drawn anew while it is open
                choice.click(timeout=limit)
                return
        raise AssertionError(f"{label}: {option} could not be chosen")

    def stands(self, words: str) -> None:
        """Wait until the run stands like this ("Working", "Answer to review"). At a limit on the way to an
        answer it is told to write that."""
        status = STATUSES.get(words, "")
        line = self.page.locator(".ts-now").first
        wanted = line.locator(f"xpath=self::*[@data-status='{status}' or @data-status='failed']")
        if not status:
            wanted = line.locator(".chip").first.filter(has_text=re.compile(f"^({words}|Failed)$"))
        if words == "Answer to review":
            write = self.button("Write the answer now")
            expect(wanted.or_(write).first).to_be_visible()
            with suppress(TimeoutError):  # it goes with the limit it asks about
                if write.is_visible():
                    write.click(timeout=5_000)
        shown = wanted.filter(visible=True).evaluate("e => e.dataset.status ?? e.textContent", timeout=60_000)
        assert shown in (status, words), shown  # the moment it is shown: the line may go on at once
        assert line.get_attribute("data-status") != "failed", line.inner_text()

    def see(self, sentence: int = 1, source: int = 0) -> Locator:
        """Open what is behind a sentence of the newest answer, by its text or one of its citations; the pane
        beside it."""
        name = f".s{sentence}-{source}" if source else f".s{sentence}"
        target = self.page.locator(f'.answer-pane [data-see$="{name}"]').last
        closed = self.page.locator(".st-key-evidence-head")
        act_until(target.click, closed)
        return self.page.locator(".st-key-pane-evidence")

    @property
    def answer(self) -> Locator:
        """The newest answer."""
        return self.page.locator(".answer-pane").last

    def tab(self, name: str) -> Locator:
        """Open a tab beside the answer and give its panel."""
        closes = self.page.locator(".st-key-evidence-close button")
        if closes.is_visible():
            closes.click()
        tab = self.page.get_by_role("tab", name=re.compile(rf"^{re.escape(name)}( ?[0-9].*)?$"))
        if (size := self.page.viewport_size) and size["width"] < WIDE:
            switch = self.page.locator(".st-key-pane-switch").get_by_text("Evidence", exact=True)
            act_until(switch.click, tab)
        act_until(tab.click, tab.and_(self.page.locator("[aria-selected=true]")))
        return self.page.get_by_role("tabpanel").filter(visible=True)

    def unread(self) -> Locator:
        """What could not be read, unfolded."""
        panel = self.tab("Sources").locator(".st-key-folded-unavailable-sources")
        panel.locator("summary").click()
        return panel

    def journey(self) -> Locator:
        """The journey, opened."""
        return self.tab("Activity")

    def cards(self) -> list[str]:
        """The headlines of the journey, newest first."""
        heads = self.journey().locator(".step .head")
        expect(heads.first).to_be_visible()
        expect(self.page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
        return heads.all_inner_texts()

    def card(self, number: int) -> Locator:
        """The card of a search or a read page, by its number (of a round the first), on whichever of two pages of
        a finished journey it stands."""
        self.journey()
        expect(self.page.locator(".step .head", has_text="written").first).to_be_visible()
        dot = self.page.locator(".dot", has_text=re.compile(f"^{number}(–\\d+)?$"))
        card = self.page.locator("[class*=st-key-research-step]").filter(has=dot)
        if not card.is_visible():
            journey = self.page.locator("[class*=st-key-research-journey]")
            journey.get_by_role("button", name="Next page").click()
        expect(card).to_be_visible()
        return card

    def choose_under(self, card: Locator, what: str) -> None:
        """Choose what to do with a card of the journey, under its ⋯."""
        option = self.page.get_by_role("menuitem", name=what).or_(self.page.get_by_role("option", name=what))
        act_until(card.get_by_role("button", name=re.compile("^More about")).click, option.first)
        option.first.click()

    def tells(self, words: str) -> None:
        """See that the journey has a step of this headline, on whichever of its pages."""
        self.journey()
        expect(self.page.locator(".step .head", has_text="written").first).to_be_visible()
        head = self.page.locator(".step .head", has_text=words).first
        if not head.is_visible():
            journey = self.page.locator("[class*=st-key-research-journey]")
            journey.get_by_role("button", name="Next page").click()
        expect(head).to_be_visible()

    def download(self, label: str) -> Download:
        """The file that a button gives."""
        with self.page.expect_download() as waiting:
            self.button(label).click()
        return waiting.value

    def looks_right(self) -> None:
        """See that nothing is cut off, that texts stand out, and that each control has a name."""
        assert (self.too_wide(), self.page.evaluate(PALE), self.page.evaluate(NAMELESS)) == ([], [], [])

    def too_wide(self) -> list[str]:
        """What reaches beyond the right edge of the window for longer than it takes to be laid out (what
        scrolls inside a box of its own does not count)."""
        until = time.monotonic() + 5
        while (found := list(self.page.evaluate(TOO_WIDE))) and time.monotonic() < until:
            self.page.wait_for_timeout(100)
        return found
