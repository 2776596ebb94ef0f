"""The words of the Makefile: what they install again, and what `make test` says where there is no browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OLD, NOW, NEWER = 1_000_000_000, 1_000_000_100, 1_000_000_200


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A Makefile with its requirements, and a Python and an installer that do nothing."""
    for name in ("Makefile", *(path.name for path in ROOT.glob("requirements*"))):
        shutil.copy(ROOT / name, tmp_path)
        os.utime(tmp_path / name, (OLD, OLD))
    (tmp_path / ".venv/bin").mkdir(parents=True)
    for program in (".venv/bin/python", "uv"):
        (tmp_path / program).write_text("#!/bin/sh\n")
        (tmp_path / program).chmod(0o755)
    return tmp_path


def make(checkout: Path, *arguments: str) -> str:
    """What make prints."""
    path = f"{checkout}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["make", *arguments], cwd=checkout, env={"PATH": path}, capture_output=True, text=True, check=True
    )
    return done.stdout


def installs(checkout: Path, *arguments: str) -> list[str]:
    """The files that a word would install from."""
    return re.findall(r"uv pip install .*? -r (\S+);", make(checkout, "-n", *arguments))


def test_a_changed_file_is_installed_and_so_is_another_one(checkout: Path) -> None:
    assert installs(checkout, "run") == ["requirements.txt"]
    assert "--require-hashes -r requirements.lock" in make(checkout, "-n", "run", "LOCKED=1")
    for word, stamp, file in (
        ("install", "run", "requirements.txt"),
        ("LOCKED=1", "run.lock", "requirements.lock"),
    ):
        make(checkout, "install", word)
        stamps = list((checkout / ".venv").glob("*.stamp"))
        assert [path.name for path in stamps] == [f"{stamp}.stamp"], "what was installed last"
        assert installs(checkout, "run", word) == []
        os.utime(stamps[0], (NOW, NOW))
        os.utime(checkout / file, (NEWER, NEWER))
        assert installs(checkout, "run", word) == [file]
        os.utime(checkout / file, (OLD, OLD))
        other = [] if word == "LOCKED=1" else ["LOCKED=1"]
        assert len(installs(checkout, "run", *other)) == 1, "the other kind is installed anew"


def test_the_tests_install_their_own_lock(checkout: Path) -> None:
    assert installs(checkout, "check", "LOCKED=1") == ["requirements-dev.lock"]
    assert installs(checkout, "check") == ["requirements-dev.txt"]
    make(checkout, ".venv/dev.stamp")
    assert installs(checkout, "run") == [], "it has all that a run needs"


@pytest.mark.slow
@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_without_a_browser_the_last_line_says_how_many_tests_did_not_run(
    ci: str, code: int, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "1",
        "-p",
        "no:cacheprovider",
        "tests/browser/test_settings.py",
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={
            "PATH": str(tmp_path),
            "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path),
            "CI": ci,
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.splitlines()[-1]
    assert done.returncode == code and "NO BROWSER: 4 BROWSER TESTS DID NOT RUN" in last, done.stdout[-900:]
    assert "apt-get install chromium" in last
