"""Batch in a real browser: a table in, rows at work side by side, stopped, a refresh, on again, a table out,
a row's own run."""

from __future__ import annotations

import csv
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.screen import Screen, Tab
from tests.browser.served import Served

TABLE = (
    "question;team;max_steps\nOn what date did the Stenfors bridge reopen to traffic?;=1+1;2\nIn "
    "which year was Älvmora Mejeri founded?;b;3\n"
    "How many people does Älvmora Mejeri employ?;c;3\nin which year was Älvmora "
    "Mejeri founded?;d;3\nWho?;e;many\n"
)


def looks(page: Page, screen: Screen) -> None:
    """Names on all controls, texts that stand out, nothing cut off, wide and narrow."""
    screen.looks_right()
    page.set_viewport_size({"width": 400, "height": 900})
    assert screen.too_wide() == []
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_table_of_questions_is_asked_stopped_and_taken_along(
    server: Served, tab: Tab, tmp_path: Path
) -> None:
    page = tab()
    screen, table = Screen(page, server.url), tmp_path / "suppliers.csv"
    table.write_text(TABLE, encoding="latin-1")
    page.goto(f"{server.url}batch")
    page.locator("input[type=file]").set_input_files(table)
    expect(page.get_by_text("Row 5 cannot be asked")).to_be_visible()
    expect(page.get_by_text("Row 4 repeats row 2")).to_be_visible()
    screen.choose_demo()
    looks(page, screen)
    screen.button("Ask 3 questions").click()
    page.wait_for_url("**/batch?batch=*")

    expect(page.locator(".batch-rows .chip", has_text="at work").first).to_be_visible()
    expect(page.locator(".batch-rows .chip", has_text="waiting").first).to_be_visible()
    screen.button("Stop").click()
    expect(page.locator(".ts-now .chip", has_text="Stopped")).to_be_visible()
    expect(page.locator(".batch-rows .chip", has_text="stopped").first).to_be_visible()
    page.reload()
    expect(page.locator(".ts-now .chip", has_text="Stopped")).to_be_visible()
    screen.button("Continue").click()
    expect(page.locator(".ts-now .chip", has_text="Done")).to_be_visible()
    expect(page.locator(".batch-meter [role=img]")).to_have_attribute(
        "aria-label", "4 done, 1 cannot be asked"
    )
    looks(page, screen)

    download = screen.download("Table (CSV)")
    path = tmp_path / download.suggested_filename
    download.save_as(path)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    assert path.name == "suppliers.answers.csv" and [row["team"] for row in rows] == [
        "'=1+1",
        "b",
        "c",
        "d",
        "e",
    ]
    assert "2 November 2026" in rows[0]["answer"] and rows[0]["sources"].startswith("https://")
    assert rows[3]["run"] == rows[1]["run"]
    screen.button("Delete").click()
    expect(page.locator(".ts-now .chip", has_text="In the bin")).to_be_visible()
    batch = page.url
    page.goto(f"{server.url}runs")
    screen.pick("Kind", "Batches")
    expect(page.get_by_text("No batches yet")).to_be_visible()
    page.get_by_text("Show deleted").click()
    screen.button("Restore").click()
    expect(screen.notice).to_contain_text("1 entry back in the list.")
    page.goto(batch)
    expect(page.locator(".batch-rows .chip").first).to_be_visible()
    expect(page.locator(".batch-rows .chip", has_text="in the bin")).to_have_count(0)
    page.get_by_role("link", name="On what date did the Stenfors bridge").click()
    screen.stands("Answer to review")
    assert screen.run_id == rows[0]["run"]
