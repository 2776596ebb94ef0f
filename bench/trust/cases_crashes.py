"""Cases of crashes (SIGKILL at random moments, full disks), and of more than one person."""

from __future__ import annotations

import re
import subprocess
import sys

from bench.trust.scorecard import ROOT, Bench, Result, case


def kill(kind: str, kills: int, seed: int) -> Result:
    """Run bench/kills.py for one kind of run."""
    command = [sys.executable, "-m", "bench.kills", "--kinds", kind]
    done = subprocess.run(
        [*command, "--kills", str(kills), "--seed", str(seed)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines() or [done.stderr[-300:]]
    figures = re.match(r"(\d+) kills", said[0])
    misses = [line.strip() for line in said[1:]] or ([said[0]] if done.returncode else [])
    return Result(int(figures[1]) if figures else 0, said[0], misses)


@case(
    "S6.2", "SIGKILL at random moments: runs without a model, one action a round", "0 lost, 0 doubled of 600"
)
def kills_keyless(bench: Bench) -> Result:
    return kill("keyless", bench.pick(600, 10), 11)


@case(
    "S6.2r",
    "SIGKILL in rounds of three actions side by side, with a model",
    "0 lost, 0 doubled of 250; no answered call paid twice",
)
def kills_rounds(bench: Bench) -> Result:
    return kill("rounds", bench.pick(250, 10), 12)


@case(
    "S6.2w",
    "SIGKILL while a full report is written, section by section",
    "0 lost, 0 doubled of 150; no answered call paid twice",
)
def kills_report(bench: Bench) -> Result:
    return kill("report", bench.pick(150, 10), 13)


@case(
    "S6.5",
    "Several processes and threads resume one run: one holder, stale writers refused",
    "all tests",
)
def leases(bench: Bench) -> Result:
    return bench.tests(
        "tests/agent/store", "tests/agent/engine", "-k", "lease or twice or holder or stale or claim"
    )


@case(
    "S6.8",
    "Full disk, read-only, locked, damaged or newer database",
    "a clean message, nothing lost",
)
def disks(bench: Bench) -> Result:
    return bench.tests(
        "tests/agent/store",
        "tests/agent/engine",
        "-k",
        "full or locked or damaged or newer or read_only or migrat or backup",
    )


@case("S6.10", "A store of an earlier version is refused as it is; its bundles verify", "all")
def old_stores(bench: Bench) -> Result:
    return bench.tests("tests/agent/store/test_old_store.py")


@case("S6.11", "Backups of a running store, restored elsewhere; damaged ones refused", "all tests")
def backups(bench: Bench) -> Result:
    return bench.tests("tests/agent/store", "tests/agent/cli", "-k", "backup or restore or damaged")


@case("S7.2", "11 kinds of objects x 5 actions x 3 other people: what comes back", "0 leaks of 165")
def isolation(bench: Bench) -> Result:
    return bench.tests("tests/test_isolation.py")


@case(
    "S7.3",
    "Two people at once in Chromium, with a login: sharing, taking back, sign-out everywhere",
    "all tests",
)
def two_people(bench: Bench) -> Result:
    return bench.tests("tests/browser/test_people.py")


@case("S7.5", "Foreign Host, Origin, port, cookie; a bind to other machines without a login", "all refused")
def doors(bench: Bench) -> Result:
    return bench.tests(
        "tests/pages/widgets/shell",
        "tests/browser/test_safety.py",
        "-k",
        "gate or bind or origin or host or start_checks or headers",
    )


@case("S7.6", "Tokens of programs, rate limits, quotas, roles, shares, secrets at rest", "all tests")
def accounts(bench: Bench) -> Result:
    return bench.tests(
        "tests/agent/accounts",
        "tests/agent/bot",
        "tests/agent/test_secret_box.py",
        "-k",
        "token or rate or quota or share or role or admin or secret",
    )
