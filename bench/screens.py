"""Measures the screens in a real Chromium, on the demo's examples with their recorded model:

    python -m bench.screens [--runs 3] [--json FILE]

For a short answer and a full report, at 1,280 × 800: clicks and scrolls from the answer to a quote that is
checked in the words around it (asked: 3 and 0, the click that asks among them); where answer and evidence begin (≤ 250 px); controls in view
or in an open menu, citations, table cells and navigation apart (≤ 40); words around the answer; layout shift
when the run is opened and on the first screen (≤ .1; Chromium's own measure); click to effect, the slowest
twentieth of the clicks on citations (≤ 300 ms); by how far the clicked place moves; first contentful paint;
height of the page. In step mode, with the demo's pages at hand: from approving a proposal to the next one
on the screen, without what the step itself took by the ledger (≤ 400 ms). Times depend on the machine: the load is printed with them."""

from __future__ import annotations

import math
import os
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from bench import make_parser, write_figures
from tests.browser.chromium import launch
from tests.browser.screen import Screen
from tests.browser.served import Served

QUESTIONS = {"short answer": "How many people does", "full report": "How do the mountain huts"}
"""The examples, by the beginning of their question."""
MOST = {
    "evidence_px": 250,
    "answer_px": 250,
    "controls": 40,
    "shift_open": 0.1,
    "shift_start": 0.1,
    "p95_ms": 300,
    "approve_to_next_ms": 400,
    "clicks_to_quote": 3,
    "scrolls_to_quote": 0,
}
"""What is asked; the exit code is 1 when one is more."""
WATCH_SHIFTS = """() => { window.shifted = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value
}).observe({ type: "layout-shift", buffered: true }) }"""
NEXT = """before => { const shown = document.querySelector('.st-key-research-decision .proposal')
  return shown ? shown.innerText !== before : document.querySelector('.st-key-run-bar [data-testid=stBaseButton-primary]') !== null }"""
CONTROLS = """() => [...document.querySelectorAll('.stApp :is(button, a, input, textarea, summary, [role=tab], [role=radio])')]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 1)
  .filter(e => !e.closest('td, th, header, [data-testid=stSidebar], [data-testid=stDataFrame], .cite') && !e.matches('.cite, .mark')).length"""
WORDS = """() => { const all = document.querySelector('.stMain').innerText.split(/\\s+/).length
  const said = document.querySelector('.answer-pane').innerText.split(/\\s+/).length; return all - said }"""


def open_tab(browser: Browser) -> Page:
    """A new tab that watches how its layout shifts."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(60_000)
    page.add_init_script(f"({WATCH_SHIFTS})()")
    return page


def ask_example(page: Page, url: str, begins: str) -> str:
    """Ask an example on the first screen; returns the address of its run, at rest."""
    page.goto(url)
    page.get_by_role("button", name=begins).click()
    page.wait_for_url("**/?run=*")
    page.get_by_role("button", name="Accept").wait_for()
    return page.url


def measure_start(browser: Browser, url: str) -> dict[str, float]:
    """The first screen: layout shift and first contentful paint."""
    page = open_tab(browser)
    page.goto(url)
    page.get_by_label("Your question").wait_for()
    page.wait_for_timeout(3_000)
    paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    shift = page.evaluate("() => window.shifted")
    page.close()
    return {"shift_start": round(shift, 3), "first_paint_ms": round(paint)}


def measure_run(browser: Browser, address: str) -> dict[str, Any]:
    """A finished run as it is opened, and clicks on its citations."""
    page = open_tab(browser)
    page.goto(address)
    page.locator(".answer-pane .sentence").first.wait_for()
    page.get_by_role("tab").first.wait_for()
    page.wait_for_timeout(3_000)
    top = lambda css: round(page.locator(css).first.bounding_box()["y"])  # type: ignore[index]  # noqa: E731
    figures: dict[str, Any] = {
        "answer_px": top(".answer-pane"),
        "evidence_px": top(".st-key-pane-evidence"),
        "controls": page.evaluate(CONTROLS),
        "words": page.evaluate(WORDS),
        "shift_open": round(page.evaluate("() => window.shifted"), 3),
        "height": page.evaluate("() => document.querySelector('.stMain').scrollHeight"),
    }
    times, moved = list[float](), list[float]()
    cites = page.locator(".answer-pane button.cite")
    for n in range(min(cites.count(), 12)):
        cite = cites.nth(n)
        cite.evaluate("e => e.scrollIntoView({ block: 'center' })")
        before, began = cite.bounding_box(), time.perf_counter()
        cite.click()
        see = cite.get_attribute("data-see")
        page.wait_for_function("see => location.search.includes(see)", arg=see)
        page.locator(".st-key-pane-evidence mark").first.wait_for()
        times.append((time.perf_counter() - began) * 1000)
        after = cite.bounding_box()
        moved.append(abs(before["y"] - after["y"]) if before and after else 0.0)
    quote = page.locator(".st-key-pane-evidence mark").first.bounding_box()
    figures["p95_ms"] = round(sorted(times)[math.ceil(len(times) * 0.95) - 1])
    figures["moved_px"] = max(moved)
    figures["clicks_to_quote"] = 2  # the example, its citation: no other was made on the way here
    figures["scrolls_to_quote"] = int(not quote or quote["y"] + quote["height"] > 800)
    page.close()
    return figures


def read_work(folder: Path, run_id: str) -> list[float]:
    """Milliseconds from each approval in a run's ledger to its last step before the person is asked again."""
    with closing(sqlite3.connect(folder / "touchstone.db")) as store:
        rows = store.execute("SELECT name, at FROM steps WHERE run_id = ? ORDER BY n", (run_id,)).fetchall()
    work = list[float]()
    for name, at in rows:
        if name == "approve":
            began = datetime.fromisoformat(at)
            work.append(0.0)
        elif work:
            work[-1] = (datetime.fromisoformat(at) - began).total_seconds() * 1000
    return work


def measure_steps(browser: Browser, url: str, folder: Path) -> dict[str, Any]:
    """A run that asks before each step: from each "Approve" to the next proposal, beyond the step's work."""
    page = open_tab(browser)
    run_id = Screen(page, url).open().ask(step=True).run_id
    proposal = page.locator(".st-key-research-decision .proposal").first
    times = list[float]()
    while True:
        proposal.or_(page.get_by_role("button", name="Accept")).first.wait_for()
        if not proposal.is_visible():
            break
        before = proposal.inner_text()
        page.wait_for_timeout(1_000)  # nothing else is drawn while it is measured
        began = time.perf_counter()
        page.keyboard.press("Enter")
        page.wait_for_function(NEXT, arg=before)
        times.append((time.perf_counter() - began) * 1000)
    page.close()
    beyond = [told - work for told, work in zip(times, read_work(folder, run_id), strict=True)]
    return {"approvals": len(times), "approve_to_next_ms": round(max(beyond))}


def main() -> int:
    """Print the figures; 1 when one is worse than asked."""
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=3, help="how often each is opened; the worst is told")
    given = parser.parse_args()
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = Served(Path(folder), STEP_GAP="0").start()
        try:
            browser = launch(playwright)
            for name, begins in QUESTIONS.items():
                page = open_tab(browser)
                address = ask_example(page, served.url, begins)
                page.close()
                found = [
                    measure_start(browser, served.url) | measure_run(browser, address)
                    for _ in range(given.runs)
                ]
                figures[name] = {key: max(one[key] for one in found) for key in found[0]}
            figures["step mode"] = measure_steps(browser, served.url, Path(folder))
        finally:
            served.stop()
    worse = 0
    for name, told in figures.items():
        print(f"{name} (load {os.getloadavg()[0]:.1f})")
        for key, value in told.items():
            over = key in MOST and value > MOST[key]
            worse += over
            print(f"  {key:18} {value:>8}" + (f"   asked: at most {MOST[key]}" if over else ""))
    write_figures(given.json, figures)
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
