"""Taking a run along and opening it elsewhere, in a real browser: the menu, the offline page, a bundle from
one workbench to another."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.screen import FOUNDED, QUESTION, Screen, Tab
from tests.browser.served import Served


def saved(page: Page, screen: Screen, label: str, folder: Path) -> Path:
    """A file from the Export menu, which is open."""
    with page.expect_download() as download:
        screen.button(label).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_a_bundle_goes_from_one_workbench_to_another(
    server: Served, served: Callable[..., Served], tab: Tab, tmp_path: Path
) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(QUESTION))
    screen.stands("Answer to review")
    screen.button("Export").click()
    expect(screen.button("Evidence bundle")).to_be_visible()
    bundle = saved(page, screen, "Evidence bundle", tmp_path)
    assert bundle.name.endswith(".touchstone.zip") and zipfile.is_zipfile(bundle)
    for label, end in (
        ("Word", ".docx"),
        ("BibTeX", ".bib"),
        ("Facts (CSV)", ".facts.csv"),
        ("Graph (GraphML)", ".graphml"),
    ):
        assert saved(page, screen, label, tmp_path).name.endswith(end)

    other = tab()
    there = Screen(other, served().url)
    other.goto(f"{there.url}runs")
    other.get_by_role("button", name="Import a shared run").click()
    other.locator("input[type=file]").set_input_files(bundle)
    expect(other.locator(".chip", has_text="valid")).to_be_visible()
    there.button("Open as a run").click()
    expect(other.get_by_role("heading", name=QUESTION)).to_be_visible()
    assert there.run_id == screen.run_id
    expect(other.locator(".ts-now .chip", has_text="imported")).to_be_visible()
    expect(there.answer).to_contain_text("31 people")
    there.tells("You opened it from an evidence bundle")

    broken = tmp_path / "broken.zip"
    data = bundle.read_bytes()
    at = data.index(b"31 people")
    broken.write_bytes(data[:at] + b"4" + data[at + 1 :])
    other.goto(f"{there.url}runs")
    other.get_by_role("button", name="Import a shared run").click()
    other.locator("input[type=file]").set_input_files(broken)
    expect(other.locator(".chip", has_text="not valid")).to_be_visible()
    expect(there.button("Open as a run")).to_be_hidden()


def test_the_web_page_opens_offline_and_asks_for_nothing(server: Served, tab: Tab, tmp_path: Path) -> None:
    page = tab()
    screen = Screen(page, server.url).open(server.answered(FOUNDED))
    screen.stands("Answer to review")
    screen.button("Export").click()
    path = saved(page, screen, "Web page", tmp_path)
    page.context.set_offline(True)
    alone = page.context.new_page()
    asked: list[str] = []
    troubles: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.on("console", lambda message: troubles.append(message.text))
    alone.set_content(path.read_text(encoding="utf-8"))
    expect(alone.get_by_role("heading", name=FOUNDED)).to_be_visible()
    assert not asked and not troubles
    expect(alone.locator("body")).to_have_css("font-size", "17px")  # its own style is let through
    expect(alone.locator("main")).to_have_css("max-width", "800px")
    for width in (1280, 400):
        alone.set_viewport_size({"width": width, "height": 800})
        assert alone.evaluate("document.documentElement.scrollWidth <= innerWidth")
