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
