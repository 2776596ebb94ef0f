"""Measures whether a run of 1,000 steps and 5,000 facts is as quick to read as one a tenth the size, in a
real Chromium.

    python -m bench.reading [--paints 5] [--clicks 7] [--only WORDS]

It writes runs of both sizes into a throw-away store (steps are searches and page visits; each is three to a
ledger), serves the app and takes turns between the sizes: the first paint of a run nobody has looked at since
the server started (until its heading, figures, journey and facts are drawn), then with both open each tab,
the next page of each list, and whatever filters and menus the screen has; and what a second of following a
run at work costs the server. Exit code 1 when for one of them the median of the large run is more than 1.3
times that of the small one and more than 25 ms above it, and its fastest is, too: what else the machine does
slows single ones, never all of one size."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from agent.store.database import Store
from agent.store.ledger import new_owner_id
from agent.types import (
    Outcome,
    Status,
)
from agent.types import Page as Stored
from bench.long_runs import WORDS, Writer
from tests.browser import chromium
from tests.browser.served import Served

MOST, NOISE_MS = 1.3, 25.0
SIZES = {"small": 100, "large": 1_000}
"""Searches and page visits; five facts to each."""


DRAWN = """() => {
  const app = document.querySelector('[data-testid=stApp]')
  const panel = [...document.querySelectorAll('[role=tabpanel]')].find(e => e.checkVisibility() && e.offsetHeight > 40)
  return app && app.dataset.testScriptState === 'notRunning' && !!document.querySelector('.ts-question')
    && !!document.querySelector('.figures') && !!document.querySelector('.step .head') && !!panel && !!panel.querySelector('.ts, canvas, table')
    && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')
}"""
"""Is the run drawn: heading, figures, journey, the open tab, and nothing left to come?"""
WATCHED = """async (drawn) => {
  const done = eval(drawn), began = performance.now()
  let last = began, still = 0
  const watch = new MutationObserver(() => { last = performance.now(); still = 0 })
  watch.observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true})
  const what = %s
  what.click()
  while (performance.now() - began < 60000) {
    await new Promise(requestAnimationFrame)
    still = done() ? still + 1 : 0
    if (still === 8) { watch.disconnect(); return last - began }
  }
  return -1
}"""
"""Click, and wait until all is drawn and nothing changes any more: the time of the last change."""


class Reader:
    """One tab of Chromium that reads runs and tells how long things take, in ms."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.url = url
        self.page: Page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.page.set_default_timeout(60_000)

    def paint(self, run_id: str) -> float:
        """Open a run; until all of it is drawn."""
        began = time.perf_counter()
        self.page.goto(f"{self.url}?run={run_id}", wait_until="commit")
        self.page.wait_for_function(DRAWN, polling="raf")
        return (time.perf_counter() - began) * 1000

    def click(self, what: str) -> float:
        """Click what a script names, until the screen is drawn anew."""
        taken = float(self.page.evaluate(WATCHED % what, DRAWN))
        if taken < 0:
            sys.exit(f"after a click on {what} the screen was not drawn within a minute")
        return taken

    def tabs(self) -> list[str]:
        """The names of the tabs."""
        return [name.strip() for name in self.page.get_by_role("tab").all_inner_texts()]

    def there(self, what: str) -> bool:
        """Is there anything that a script names?"""
        return bool(self.page.evaluate(f"() => !!({what})"))


def tab_named(name: str) -> str:
    """The script for a tab."""
    return f"[...document.querySelectorAll('.stMain [role=tab]')].find(e => e.innerText.trim() === {name!r})"


PANEL = (
    "[...document.querySelectorAll('[role=tabpanel]')].find(e => e.checkVisibility() && e.offsetHeight > 40)"
)
TURN = (
    "[...document.querySelectorAll('.stMain [data-testid=stPagination] button[aria-label*=%s]:not([disabled])')]"
    ".find(e => %s({panel}).contains(e))"
)
OPENERS = {
    "next page": (TURN % ("ext", ""), TURN % ("rev", "")),
    "a filter": (
        "({panel}).querySelector('[data-testid=stPopover] button, [data-testid=stExpander] summary')",
    )
    * 2,
}
"""What is clicked in an open tab, and what takes it back."""
JOURNEY = (TURN % ("ext", "!"), TURN % ("rev", "!"))
EXPORTS = "[...document.querySelectorAll('[data-testid=stPopover] button')].find(e => e.innerText.includes('Export'))"


def measured(
    readers: dict[str, Reader], runs: dict[str, list[str]], clicks: int, only: str
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds by what was done and the size of the run."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for reader, run_ids in ((readers[size], runs[size]) for size in SIZES):
        reader.paint(run_ids[0])  # what the browser and the server load once
    for turn in range(1, len(runs["small"])):
        for size, reader in readers.items():
            found["first paint"][size].append(reader.paint(runs[size][turn]))

    def both(name: str, act: Callable[[Reader], float]) -> None:
        if only and not re.search(only, name):
            return
        for _ in range(clicks):
            for size, reader in readers.items():
                found[name][size].append(act(reader))

    def way(name: str, there: str, back: str) -> None:
        there, back = there.replace("{panel}", PANEL), back.replace("{panel}", PANEL)
        if all(reader.there(there) for reader in readers.values()):
            both(name, lambda reader: (reader.click(there), reader.click(back))[0])

    tabs = readers["large"].tabs()
    home = tab_named(tabs[0])
    for name in tabs[1:]:
        both(f"tab: {name}", lambda reader, name=name: reader.click(tab_named(name)) + 0 * reader.click(home))
    both(f"tab: {tabs[0]}", lambda reader: (reader.click(tab_named(tabs[1])), reader.click(home))[1])
    for name in tabs:
        for reader in readers.values():
            reader.click(tab_named(name))
        for what, there in OPENERS.items():
            way(f"{name}: {what}", *there)
    for reader in readers.values():
        reader.click(home)
    way("journey: next page", *JOURNEY)
    way("exports", EXPORTS, EXPORTS)
    return found


def cpu_s(pid: int) -> float:
    """The CPU seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def followed(reader: Reader, run_id: str, pid: int, seconds: float) -> float:
    """What a second of following a run at work costs the server, in ms of CPU."""
    reader.paint(run_id)
    before = cpu_s(pid)
    reader.page.wait_for_timeout(seconds * 1000)
    return (cpu_s(pid) - before) / seconds * 1000


def main(arguments: list[str]) -> int:
    """Write, serve, measure, print; 1 when the large run is slower than it may be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paints", type=int, default=5)
    parser.add_argument("--clicks", type=int, default=7)
    parser.add_argument("--only", default="", help="only clicks whose name fits this expression")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        runs, living = written(data, options.paints + 1)
        served = Served(data).start()
        try:
            with sync_playwright() as playwright:
                browser = chromium.launch(playwright)
                readers = {size: Reader(browser, served.url) for size in SIZES}
                found = measured(readers, runs, options.clicks, options.only)
                assert served.process is not None
                for size, reader in readers.items():
                    for other in readers.values():
                        other.page.goto("about:blank")
                    found["following, CPU ms a second"][size].append(
                        followed(reader, living[size], served.process.pid, 8)
                    )
                browser.close()
        finally:
            served.stop()
    return told(found)


def written(data: Path, copies: int) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The runs by size: some at rest, and one at work that nobody drives."""
    store, owner = Store(f"sqlite:///{data / 'touchstone.db'}"), new_owner_id()
    for n in range(50):
        store.pages.put(
            Stored(
                url=f"https://h{n}.example/",
                final_url=f"https://h{n}.example/",
                text=" ".join(WORDS),
                outcome=Outcome.OK,
            )
        )
    runs = {
        size: [Writer(store, count, seed).write(Status.REVIEW) for seed in range(copies)]
        for size, count in SIZES.items()
    }
    living = {size: Writer(store, count, 99).write(Status.RUNNING, owner) for size, count in SIZES.items()}
    store.close()
    return runs, living


def _over(small: float, large: float) -> bool:
    return large > small * MOST and large - small > NOISE_MS


def told(found: dict[str, dict[str, list[float]]]) -> int:
    """Print the figures; 1 when one is over."""
    slow = 0
    print(f"  {'ms: median (fastest)':<30} {'1/10':>15} {'whole':>15}   ratio (at most {MOST:g})")
    for name, by_size in found.items():
        (small, best), (large, fastest) = ((median(by_size[size]), min(by_size[size])) for size in SIZES)
        over = _over(small, large) and _over(best, fastest)
        slow += over
        ratios = f"{large / max(small, 0.001):5.2f} ({fastest / max(best, 0.001):.2f})"
        print(
            f"  {name:<30} {small:7.0f} ({best:5.0f}) {large:7.0f} ({fastest:5.0f})   {ratios}{'  OVER' if over else ''}"
        )
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
