"""The Chromium that the browser tests drive: the system's, else Playwright's own. As a program
(`python -m tests.browser.chromium`) it gets one where there is none that starts: Debian's package as root, else
Playwright's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

# The first one draws no window of its own: it needs a seventh less of the processor.
PROGRAMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
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
HOW_TO_GET = (
    f"get one with `apt-get install {PROGRAMS[0]}` (as root) or `.venv/bin/playwright install chromium`"
)


def launch(playwright: Playwright) -> Browser:
    """A browser. Raises Error of Playwright when none starts."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    return playwright.chromium.launch(executable_path=program, args=list(FLAGS))


def has_browser() -> bool:
    """Does one start?"""
    with sync_playwright() as playwright:
        try:
            launch(playwright).close()
        except Error:
            return False
    return True


def install() -> None:
    """Try to get one; what that says is shown."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for what in ("update", f"install -y {PROGRAMS[0]}", f"install -y {PROGRAMS[1]}"):
            print(f"No Chromium was found: apt-get {what}", flush=True)
            command = ["apt-get", "-qq", *what.split()]
            subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=False)
            if what != "update" and has_browser():
                return
    print("No Chromium was found: getting Playwright's.", flush=True)
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


if __name__ == "__main__" and not has_browser():
    install()
