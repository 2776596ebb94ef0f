"""The frame of the scorecard: what a case is, what it gives, where corpora are found, and how the table is written.

A case is a function of a `Bench` that returns a `Result`. Each is run in a process of its own (`run_apart`), so
that its memory, its hooks and its crash are its own. Results are merged into one JSON file, from which the page
is written: a case that was not run today keeps the date of its last run."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bench import ROOT

MARK = "ssrf.json"
"""The file by which a folder of corpora is known."""
MAX_MISSES = 40
"""Misses named on the page for one case; the number of all is always given."""


@dataclass
class Result:
    """What a case measured. `misses` names each single failure; a case without a figure of its own passes when
    there is none."""

    n: int
    measured: str
    misses: list[str] = field(default_factory=list)
    is_passed: bool | None = None
    note: str = ""
    verdict: str = ""
    seconds: float = 0.0
    date: str = ""
    load: float = 0.0

    def judge(self) -> Result:
        """The same with its verdict: passed, or missed."""
        passed = not self.misses if self.is_passed is None else self.is_passed
        self.verdict = self.verdict or ("pass" if passed else "**missed**")
        return self


class CorpusAbsent(Exception):
    """The case needs a file of the corpora that is not there."""


@dataclass(frozen=True)
class Bench:
    """What a case may use: the folder of corpora, if there is one, and how much to try."""

    corpora: Path | None = None
    quick: bool = False

    def pick(self, full: int, quick: int) -> int:
        """The number of trials."""
        return quick if self.quick else full

    def is_late(self, seconds: float, most: float) -> bool:
        """Whether it took longer. A quick run judges what happened alone: its machine may be busy."""
        return not self.quick and seconds > most

    def thin(self, cases: Iterable[Any], quick: int) -> list[Any]:
        """All cases; in a quick run about `quick` of them, evenly spread."""
        listed = list(cases)
        stride = max(1, len(listed) // quick)
        while math.gcd(stride, len(listed)) > 1:  # else a product would be met in some of its columns alone
            stride += 1
        return listed[::stride] if self.quick else listed

    def corpus(self, name: str) -> Path:
        """A file of the corpora. Raises CorpusAbsent."""
        path = self.corpora / name if self.corpora else None
        if path is None or not path.exists():
            raise CorpusAbsent(name)
        return path

    def archive(self, name: str) -> dict[str, bytes]:
        """The files of a packed corpus, by their paths."""
        with tarfile.open(self.corpus(name)) as packed:
            files = ((entry.name.removeprefix("./"), packed.extractfile(entry)) for entry in packed)
            return {path: opened.read() for path, opened in files if opened is not None}

    def tests(self, *arguments: str, threads: int = 1) -> Result:
        """The project's own tests of these files (and options of pytest) as one case: n passed, misses named."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "tests.xml"
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
            done = subprocess.run(
                [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
            )
            if not report.exists():
                return Result(0, "the tests did not run", [done.stdout[-300:] + done.stderr[-300:]])
            found = list(ElementTree.parse(report).iter("testcase"))
        failed = [
            test for test in found if test.find("failure") is not None or test.find("error") is not None
        ]
        left_out = sum(test.find("skipped") is not None for test in found)
        names = [f"{test.get('classname')}: {test.get('name')}" for test in failed]
        kept = len(found) - left_out
        note = f"{left_out} skipped" if left_out else ""
        if not kept:
            names.append("no test was run")
        return Result(kept, f"{kept - len(failed)} of {kept} tests passed", names, note=note)


@dataclass(frozen=True)
class Case:
    """One numbered line of the scorecard."""

    name: str
    title: str
    limit: str
    run: Callable[[Bench], Result]
    is_quick: bool


CASES: dict[str, Case] = {}


def case(
    name: str, title: str, limit: str, *, quick: bool = False
) -> Callable[[Callable[[Bench], Result]], Callable[[Bench], Result]]:
    """Register a case under its number. `quick`: it has a short form that belongs on every change."""

    def register(run: Callable[[Bench], Result]) -> Callable[[Bench], Result]:
        assert name not in CASES, name
        CASES[name] = Case(name, title, limit, run, quick)
        return run

    return register


def find_corpora() -> Path | None:
    """A folder `trust` beside the checkout, or in a folder beside it; None where there is none."""
    beside = [ROOT.parent / "trust", *sorted(ROOT.parent.glob("*/trust"))]
    return next((folder for folder in beside if (folder / MARK).exists()), None)


def run_here(found: Case, bench: Bench) -> Result:
    """Run a case in this process."""
    began = time.monotonic()
    try:
        result = found.run(bench)
    except CorpusAbsent as absent:
        result = Result(0, f"{absent} is not there", verdict="corpus not given")
    result.seconds = round(time.monotonic() - began, 1)
    result.date, result.load = f"{datetime.now(UTC):%Y-%m-%d}", round(os.getloadavg()[2], 1)
    return result.judge()


def run_apart(found: Case, bench: Bench) -> Result:
    """Run a case in a process of its own; a crash is a miss."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        options = ["--inside", "--json", str(out)] + (["--quick"] if bench.quick else [])
        options += ["--corpora", str(bench.corpora)] if bench.corpora else []
        own = {"TOUCHSTONE_DATA": folder, "OLLAMA_URL": "", "EMBEDDING_MODEL": "off", "CONFIG_FILE": ""}
        done = subprocess.run(
            [sys.executable, "-m", "bench.trust", found.name, *options],
            cwd=ROOT,
            env={**os.environ, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if out.exists():
            return Result(**read_results(out)[found.name])
    tail = "the case ended without a result: " + done.stdout[-600:]
    return Result(0, f"exit code {done.returncode}", [tail], date=f"{datetime.now(UTC):%Y-%m-%d}").judge()


def read_results(path: Path) -> dict[str, dict[str, Any]]:
    """The results that a file holds, by case."""
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def merge_results(path: Path, results: dict[str, Result]) -> dict[str, dict[str, Any]]:
    """Write the results over those of the same cases; returns all that the file now holds."""
    held = read_results(path)
    for name, result in results.items():
        if (
            name not in held or result.verdict != "corpus not given"
        ):  # what was measured with the corpus stays
            held[name] = asdict(result)
    path.write_text(json.dumps(held, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    return held


def order(name: str) -> tuple[float, ...]:
    """Cases in the order of their numbers."""
    return tuple(float(part) for part in re.findall(r"\d+", name))


def format_rows(results: dict[str, dict[str, Any]]) -> list[str]:
    """The scorecard as lines of a Markdown table."""
    rows = ["| case | what | pass figure | n | measured | verdict | run |", "|---|---|---|---|---|---|---|"]
    for name in sorted(CASES, key=order):
        known = results.get(name)
        found = CASES[name]
        done = Result(**known) if known else Result(0, "", verdict="not run")
        note = f"; {done.note}" if done.note else ""
        load = f", load {done.load:.0f}" if done.load else ""
        when = f"{done.date}, {done.seconds:.0f} s{load}" if done.date else ""
        cells = [name, found.title, found.limit, f"{done.n:,}", done.measured + note, done.verdict, when]
        rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return rows


def describe_machine() -> str:
    """Cores, memory, system and Python of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )


def write_page(path: Path, results: dict[str, dict[str, Any]]) -> None:
    """The published page: the table, and every miss by name."""
    verdicts = [results[name]["verdict"] if name in results else "not run" for name in CASES]
    counts = ", ".join(
        f"{verdicts.count(kind)} {kind.strip('*')}" for kind in dict.fromkeys(sorted(verdicts))
    )
    lines = [
        "# The scorecard of trust",
        "",
        "What Touchstone promises about forbidden addresses, hostile pages, obedient models, crashes and load, and "
        "what was measured. One command runs all of it and writes this page: `make trust`. A figure that was not "
        "reached is printed as missed, and named below the table.",
        "",
        f"Written {datetime.now(UTC):%Y-%m-%d} on {describe_machine()}. Everything ran on loopback; nothing left "
        f"the machine. {len(CASES)} cases: {counts}. The last column has the day, the duration and, where it was noted, how many processes "
        "of other work wanted the cores meanwhile (load average of 15 minutes): seconds and percentiles that were "
        "taken under load are worse than those of a machine of its own.",
        "",
        *format_rows(results),
        "",
        "## Every miss",
        "",
    ]
    missed = [name for name in sorted(CASES, key=order) if results.get(name, {}).get("misses")]
    for name in missed:
        misses = results[name]["misses"]
        lines += [f"### {name}: {CASES[name].title} ({len(misses)})", ""]
        lines += [f"- {_plain(miss)}" for miss in misses[:MAX_MISSES]]
        lines += [f"- and {len(misses) - MAX_MISSES} more"] if len(misses) > MAX_MISSES else []
        lines.append("")
    lines += [] if missed else ["None.", ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def _plain(miss: str) -> str:
    """A miss as one line of text that is no Markdown and names no folder of this machine."""
    text = " ".join(miss.replace(str(ROOT), "").replace(tempfile.gettempdir(), "").split())[:300]
    return (
        "`" + "".join(letter if letter.isprintable() and letter not in "`|" else "?" for letter in text) + "`"
    )
