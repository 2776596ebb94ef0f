"""Checking a text as a person does it: the pasted report of the demo world, judged by the recorded model, what its marks open to, the filter,
a mark overruled, exports, a narrow window."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, expect

from agent.settings.config import ROOT
from tests.browser.screen import Screen, Tab, act_until
from tests.browser.served import Served

REPORT = (ROOT / "demo" / "report-to-check.md").read_text(encoding="utf-8")


class Checking(Screen):
    """One tab on the screen that checks a text."""

    path = "check_text"

    def check(self, text: str) -> Checking:
        """Paste a text, choose the demo world, start; wait until it is checked."""
        self.page.get_by_label("Text to check").fill(text)
        self.choose_demo()
        self.button("Check").click()
        self.page.wait_for_url("**/check_text?run=*")
        self.stands("Accepted")
        return self

    def claim(self, text: str) -> Locator:
        """The sentence that says this."""
        return self.answer.locator(".sentence", has_text=text)

    def mark(self, text: str) -> Locator:
        """Its mark."""
        return self.claim(text).locator("xpath=following-sibling::button[1]")

    def behind(self, text: str) -> Locator:
        """Open what stands behind a sentence."""
        shown = self.page.locator(".st-key-evidence-head")
        act_until(self.mark(text).click, shown)
        return self.page.locator(".st-key-pane-evidence")

    @property
    def summary(self) -> Locator:
        return self.page.locator(".ts-now .say")


def test_a_pasted_report_is_checked_claim_by_claim(server: Served, tab: Tab, tmp_path: Path) -> None:
    page = tab()
    screen = Checking(page, server.url).open().check(REPORT)
    expect(screen.summary).to_have_text(
        "11 claims: 6 supported, 2 contradicted by the source, 2 source unavailable, 1 without a source"
    )
    expect(screen.mark("It creates 64 jobs")).to_have_text("✓")
    expect(screen.mark("It creates 64 jobs")).to_have_attribute("aria-label", "supported")
    hall = "The hall cost 181 million kronor"
    expect(screen.mark(hall)).to_have_text("≠ source says otherwise")
    wrong = screen.behind(hall)
    expect(wrong.locator(".quote mark")).to_have_text("It creates 64 jobs and cost 118 million kronor.")
    expect(wrong).to_contain_text("The quote says “cost 118 million kronor”, not 181 million.")
    wrong.get_by_role("link", name="See it in the page").click()
    expect(page.locator(".paper mark").first).to_contain_text("118 million kronor")
    page.get_by_role("link", name="Back to the run").click()
    expect(screen.mark("A ferry used to cross")).to_have_text("⊘ source unavailable")
    expect(screen.mark("It carried its first tram")).to_have_text("⊘ no source")
    page.get_by_text("Only problems").click()
    expect(page.locator(".problems .sentence")).to_have_count(5)
    expect(screen.claim("It creates 64 jobs")).to_have_count(0)
    page.reload()
    expect(screen.summary).to_contain_text("11 claims")
    screen.button("Export").click()
    with page.expect_download() as saved:
        screen.button("Markdown").click()
    saved.value.save_as(tmp_path / "report.md")
    assert "≠ source says otherwise" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_a_person_overrules_a_mark(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Checking(page, server.url).open().check("The town of Lövnäs has a school.")
    expect(screen.summary).to_have_text("1 claim: 1 without a source")
    panel = screen.behind("has a school")
    screen.button("Overrule this mark").click()
    act_until(screen.button("Set this mark").click, screen.notice.filter(has_text="Say why").first)
    page.get_by_label("Why").fill("I went there.")
    page.get_by_label("Why").blur()
    screen.button("Set this mark").click()
    expect(screen.summary).to_have_text("1 claim: 1 supported")
    expect(screen.answer.locator(".by")).to_have_text("set by you")
    expect(panel).to_contain_text("I went there.")
    expect(panel).to_contain_text("the check: no source")


def test_a_source_that_failed_can_be_supplied(server: Served, tab: Tab) -> None:
    page = tab()
    dead = "https://granvattnet-courier.example/2024/02/11/ferry"
    screen = Checking(page, server.url).open().check(f"A ferry crossed the lake until 1971 ({dead}).")
    expect(screen.summary).to_have_text("1 claim: 1 source unavailable")
    panel = screen.unread()
    panel.get_by_role("button", name="Paste its text").click()
    page.get_by_label("Page text").fill("A ferry crossed the lake until 1971. Then came the bridge.")
    page.get_by_label("Page text").blur()
    page.get_by_role("button", name="Use this text").click()
    expect(screen.summary).to_have_text("1 claim: 1 supported")


def test_what_is_missing_is_said(server: Served, tab: Tab) -> None:
    screen = Checking(tab(), server.url).open()
    screen.button("Check").click()
    expect(screen.notice.first).to_contain_text("Paste a text first")
    screen.page.get_by_text("Web address").click()
    screen.button("Check").click()
    expect(screen.notice.first).to_contain_text("is not a web address")


def test_it_fits_a_narrow_window_and_stands_out_in_the_dark(server: Served, tab: Tab) -> None:
    page = tab(width=400, dark=True)
    screen = Checking(page, server.url).open()
    page.get_by_role("button", name="A small dairy by the lake").click()
    page.wait_for_url("**/check_text?run=*")
    screen.stands("Accepted")
    screen.behind("The hall cost 181 million kronor")
    screen.looks_right()
