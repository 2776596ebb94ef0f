"""A real Chromium and a real server. Without a browser these tests are skipped, and the summary says so in so
many words."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests.browser.served import Served

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
PATIENCE_MS = 60_000
"""How long a test waits for something to appear: a busy two-core machine must not make it fail."""
expect.set_options(timeout=PATIENCE_MS)
_missing: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test below this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly that no browser was found."""
    if _missing:
        terminalreporter.section(
            "NO BROWSER WAS FOUND: THE BROWSER TESTS DID NOT RUN", sep="!", red=True, bold=True
        )
        terminalreporter.line(_missing[0])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: the system's, else Playwright's own."""
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        try:
            found = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        except Error as trouble:
            _missing.append(
                f"Looked for {', '.join(PROGRAMS)} and Playwright's own (get it with "
                "`playwright install chromium`)."
            )
            pytest.skip(f"NO BROWSER: {str(trouble).splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all journeys that do not need their own."""
    served = Served(tmp_path_factory.mktemp("served") / "data", STEP_GAP="0.05").start()
    yield served
    served.stop()


@pytest.fixture(scope="session")
def unhurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One whose runs take their time, for what is done while they work."""
    served = Served(tmp_path_factory.mktemp("unhurried") / "data", STEP_GAP="0.2").start()
    yield served
    served.stop()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Servers of a test's own: `served(STEP_GAP="1")`."""
    started: list[Served] = []

    def start(**settings: str) -> Served:
        started.append(Served(tmp_path / f"data{len(started)}", **settings).start())
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[..., Page]]:
    """New tabs: `tab()`, `tab(width=400)`. At the end no script of the page may have failed, and nothing may
    have left this machine."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def opened(width: int = 1280, height: int = 900, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"a script failed: {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"a dialog opened: {dialog.message}"))
        context.on(
            "request", lambda request: _local(request.url) or troubles.append(f"it asked for {request.url}")
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not troubles, "\n".join(troubles)


def _local(url: str) -> bool:
    return url.startswith(
        ("http://127.0.0.1:", "http://localhost:", "ws://127.0.0.1:", "data:", "blob:", "about:")
    )
