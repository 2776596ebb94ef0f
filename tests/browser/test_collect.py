"""Collecting as a person does it: the three scenarios in the demo world, the path shown first, what goes
wrong, the exports."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.forked import ForkedServed
from tests.browser.screen import Screen, Tab
from tests.browser.served import Served
from tests.web.collecting_model import Walker
from tests.web.model_server import ModelServer

FORUM = "Go to the forum section and find out what people are saying about Kallsteg in the last month"
QUOTE, NEWS = "https://borskvart.example/stock/KALL", "https://granvattnet-courier.example/news/"
ARTICLE, OLDER = "https://granvattnet-courier.example/2026/08/20/kallsteg-factory", f"{NEWS}page/2/"
INVENTED = f"{QUOTE}/secret-forum"


@pytest.fixture(scope="module")
def misled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose model invents an address at the quote, and walks to and fro between two pages of the
    news."""
    lead = {"action": "NAVIGATE_TO", "page_type": "news_listing"}
    wrong = {
        QUOTE: {**lead, "target_url": INVENTED},
        NEWS: {**lead, "target_url": OLDER},
        OLDER: {**lead, "target_url": NEWS},
    }
    with ModelServer(Walker(decisions=wrong), models=["big"]) as model:
        served = ForkedServed(
            tmp_path_factory.mktemp("misled") / "data", OPENAI_BASE_URL=model.url, MODEL="big"
        ).start()
        yield served
        served.stop()


@pytest.fixture
def guided(served: Callable[..., Served]) -> Iterator[Served]:
    """A server whose model leads to the forum."""
    with ModelServer(Walker(topic="Kallsteg", section="forum", days=30), models=["big"]) as model:
        yield served(STEP_GAP="0", OPENAI_BASE_URL=model.url, MODEL="big")


class Collecting(Screen):
    """One tab on the Collect screen."""

    path = "collect"

    def collect(
        self, prompt: str, starts: str, *, shown_first: bool = False, articles: int = 0
    ) -> Collecting:
        """Fill in the screen, choose the demo world, start; wait for the run's own address."""
        self.page.get_by_label("What to gather").fill(prompt)
        self.page.get_by_label("Start pages, one per line").fill(starts)
        self.choose_demo()
        if articles:
            box = self.page.get_by_label("Articles and threads at most")
            with self.menu(self.button("Options"), box):
                box.fill(str(articles))
                box.press("Enter")
        if shown_first:
            self.page.get_by_role("radio", name="Approve each path").or_(
                self.button("Approve each path")
            ).first.click()
            expect(self.page.get_by_text("You approve each path before it is followed.")).to_be_visible()
        self.button("Collect").click()
        self.page.wait_for_url("**/collect?run=*")
        return self

    def walked(self, title: str) -> None:
        """Wait until a page of this title stands in the tree."""
        expect(self.page.locator(".walk .page", has_text=title).first).to_be_visible()

    def at(self, title: str) -> Locator:
        """The entries of the tree for pages of this title, without what lies below them."""
        return self.page.locator(".walk li", has=self.page.locator("> .page", has_text=title))

    def gathered(self) -> list[str]:
        """The titles of what was gathered."""
        expect(self.page.locator(".found summary b").first).to_be_visible()
        return self.page.locator(".found summary b").all_inner_texts()


def test_a_forum_two_hops_away(server: Served, tab: Tab, tmp_path: Path) -> None:
    page = tab()
    screen = Collecting(page, server.url).open().collect(FORUM, QUOTE)
    screen.stands("Working")
    screen.walked("Kallsteg Instruments (KALL)")
    expect(page.locator(".walk .why").first).to_contain_text("leads to what members write")
    page.reload()
    screen.stands("Answer to review")
    screen.walked("Forum: Kallsteg Instruments")
    expect(page.locator(".walk details").first).to_contain_text(": before 2026-10-21")
    assert screen.gathered() == [
        "Third quarter: good or bad?",
        "The factory and the debt",
        "Dividend next spring",
    ]
    first = page.locator(".found details").first
    first.locator("summary").click()
    assert first.locator(".post").count() == 6
    expect(first.locator(".post").nth(2)).to_contain_text("quietmoney")
    expect(first.locator(".post").nth(2)).to_contain_text("2026-11-12 18:45")
    expect(first.locator(".post").nth(2)).to_contain_text("22 of them were still open last week")
    download = screen.download("CSV")
    rows = list(csv.DictReader(Path(download.path()).read_text(encoding="utf-8-sig").splitlines()))
    assert len(rows) == 13 and rows[0]["user"] == "fellfox"
    download = screen.download("JSON")
    told = json.loads(Path(download.path()).read_text(encoding="utf-8"))
    assert len(told["articles"]) == 3 and told["digest"]["verdict"] == "answered"
    download = screen.download("Markdown")
    assert "Best research on this forum in years." in Path(download.path()).read_text(encoding="utf-8")
    screen.button("Accept").click()
    screen.stands("Accepted")


def test_news_of_last_week(server: Served, tab: Tab) -> None:
    page = tab()
    screen = Collecting(page, server.url).open()
    page.get_by_role("button", name="Summarize Granvattnet news from last week").click()
    page.wait_for_url("**/collect?run=*")
    screen.stands("Answer to review")
    assert screen.gathered() == [
        "Snow closes the roof of Lövnäs school",
        "Bear seen three times behind the school",
    ]
    expect(screen.see(1, 1).locator("mark").first).to_be_visible()


def test_a_direct_article_in_a_second_narrow_tab_too(server: Served, tab: Tab) -> None:
    page, other = tab(), tab(width=400)
    screen = (
        Collecting(page, server.url)
        .open()
        .collect("Summarize this article", "https://granvattnet-courier.example/2026/08/20/kallsteg-factory")
    )
    screen.stands("Answer to review")
    assert screen.gathered() == ["Kallsteg opens its factory in Stenfors"]
    expect(page.locator(".found .said")).to_contain_text("The first logger left the line at 10.40")
    second = Collecting(other, server.url).open(screen.run_id)
    second.stands("Answer to review")
    assert second.too_wide() == []
    assert second.gathered() == ["Kallsteg opens its factory in Stenfors"]


def test_the_path_is_shown_before_it_is_walked(guided: Served, tab: Tab) -> None:
    page = tab()
    screen = Collecting(page, guided.url).open().collect(FORUM, QUOTE, shown_first=True)
    screen.stands("Waiting for you")
    preview = page.locator(".st-key-collect-preview")
    expect(preview).to_contain_text("Next pages, if you approve: 1 page.")
    screen.button("Follow this path").click()
    expect(preview).to_contain_text("4 pages")
    preview.get_by_text("The factory and the debt").click()
    screen.button("Follow to the end without asking").click()
    screen.stands("Answer to review")
    assert screen.gathered() == ["Third quarter: good or bad?", "Dividend next spring"]


def test_what_could_not_be_read_is_told(server: Served, tab: Tab) -> None:
    page = tab()
    loop = "https://northernbrief.example/latest"
    screen = Collecting(page, server.url).open().collect("Collect all news", f"{loop}\n{NEWS}", articles=20)
    screen.stands("Answer to review")
    panel = screen.unread()
    for told in ("paywall", "404", "more than ten times"):
        expect(panel).to_contain_text(told)
    assert len(screen.gathered()) == 8


def test_an_invented_address_is_refused_and_the_walk_goes_on(misled: Served, tab: Tab) -> None:
    page = tab()
    screen = (
        Collecting(page, misled.url)
        .open()
        .collect("Gather what is told about Kallsteg", f"{QUOTE}\n{ARTICLE}")
    )
    screen.stands("Answer to review")
    begun = screen.at("Kallsteg Instruments (KALL)")
    expect(begun).to_contain_text("target_url is no link of the page")
    expect(begun.locator("ul")).to_have_count(0)
    panel = screen.unread()
    expect(panel).to_contain_text(INVENTED)
    expect(panel).to_contain_text("target_url is no link of the page")
    assert screen.gathered() == ["Kallsteg opens its factory in Stenfors"]


def test_links_that_lead_in_a_circle_are_walked_once(misled: Served, tab: Tab) -> None:
    page = tab()
    screen = Collecting(page, misled.url).open().collect("Collect the news", f"{NEWS}\n{ARTICLE}")
    screen.stands("Answer to review")
    older = screen.at("News, page 2")
    expect(older).to_contain_text("this page was visited or planned before")
    assert page.locator(".walk li > .page").count() == 3
    assert screen.gathered() == ["Kallsteg opens its factory in Stenfors"]
