"""A real Chromium and a real server. Without a browser these tests are skipped, and the summary says so in so
many words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from tests.browser import chromium
from tests.browser.forked import ForkedServed
from tests.browser.served import Served

PATIENCE_MS = 60_000
"""How long a test waits for something to appear: a busy two-core machine must not make it fail."""
expect.set_options(timeout=PATIENCE_MS)
NO_BROWSER = "NO BROWSER"
_left_out = pytest.StashKey[int]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test below this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Count the tests that found no browser; where CI is set, that is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    session.config.stash[_left_out] = count = sum(NO_BROWSER in str(one.longrepr) for one in skipped)
    if count and os.environ.get("CI"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line says how many tests did not run."""
    if count := config.stash.get(_left_out, 0):
        print(f"!!! {NO_BROWSER}: {count} BROWSER TESTS DID NOT RUN; {chromium.HOW_TO_GET}", flush=True)


@pytest.fixture(scope="session", autouse=True)
def browser() -> Iterator[Browser]:
    """Chromium, before anything else is set up."""
    with sync_playwright() as playwright:
        try:
            found = chromium.launch(playwright)
        except Error as trouble:
            pytest.skip(f"{NO_BROWSER}: {str(trouble).splitlines()[0]}")
        yield found
        found.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all journeys that do not need their own."""
    served = ForkedServed(tmp_path_factory.mktemp("served") / "data", STEP_GAP="0.05").start()
    yield served
    served.stop()


@pytest.fixture(scope="session")
def unhurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One whose runs take their time, for what is done while they work."""
    served = ForkedServed(tmp_path_factory.mktemp("unhurried") / "data", STEP_GAP="0.2").start()
    yield served
    served.stop()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Servers of a test's own: `served(STEP_GAP="1")`."""
    started: list[Served] = []

    def start(**settings: str) -> Served:
        started.append(ForkedServed(tmp_path / f"data{len(started)}", **settings).start())
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
            reduced_motion="reduce",
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
