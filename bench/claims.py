"""How well code tells supported from unsupported claims, and a judge with it.

    python -m bench.claims FILE_WITH_LABELS [--model NAME] [--technical]

FILE_WITH_LABELS has a JSON object a line (".gz" too): `id, quote, statement, question?, label` (supported |
contradicted | not_stated) and, if known, `kind`. A question is a difference that code puts to the judge; a
changed number or date is found when a question is asked about its claim. `--technical`: a small file of which
the cases are counted, and named where code is wrong."""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent import api
from agent.cli.check import read_claims
from agent.evidence.claim_check import ClaimCheck, check_claims
from agent.roles.check_claims import ClaimJudge
from agent.settings.config import read_config

CERTAIN = ("quoted", "computed")
REFUSED = ("differs", "not_supported")


@dataclass(frozen=True)
class Checked:
    """A labelled claim and what became of it."""

    id: str
    label: str
    kind: str
    check: ClaimCheck


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, packed or not."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw).decode("utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def check_file(path: Path, model: str = "keyless") -> list[Checked]:
    """The checks of a file's claims, by code alone or with a judge."""
    claims, rows = read_claims(path), read_rows(path)
    ask = api.make_ask(model, read_config())
    judge = ClaimJudge(lambda role, **blanks: role.judge(ask, **blanks)) if ask else None
    checks = check_claims(list(claims.values()), judge)
    return [
        Checked(str(row["id"]), row["label"], row.get("kind", ""), check)
        for row, check in zip(rows, checks, strict=True)
    ]


def describe_share(name: str, found: Sequence[bool], goal: str) -> str:
    """A line of the table."""
    share = 100 * sum(found) / len(found) if found else 0.0
    return f"{name:44} {share:5.1f} %  {f'{sum(found)}/{len(found)}':>10}  {goal}"


def list_figures(checked: Sequence[Checked]) -> list[str]:
    """The shares that are promised (DECISIONS.md, "Claim check")."""
    by_label = {
        label: [one.check for one in checked if one.label == label]
        for label in ("supported", "contradicted", "not_stated")
    }
    supported = by_label["supported"]
    changed = [one.check for one in checked if one.label != "supported" and one.kind in ("number", "date")]
    lines = [
        describe_share(f"quoted or computed, {label}", [c.verdict in CERTAIN for c in checks], goal)
        for (label, checks), goal in zip(by_label.items(), ("", "≤ 1 %", "≤ 1 %"), strict=True)
    ]
    lines.append(describe_share("asked about, supported", [bool(c.findings) for c in supported], "≤ 12 %"))
    lines.append(
        describe_share(
            "asked about, changed numbers and dates", [bool(c.findings) for c in changed], "≥ 85 %"
        )
    )
    for label in ("supported", "contradicted", "not_stated"):
        checks = by_label[label]
        lines.append(
            describe_share(f"differs or not supported, {label}", [c.verdict in REFUSED for c in checks], "")
        )
        absent = [any(one.is_absent for one in c.findings) for c in checks]
        lines.append(describe_share(f"something stands nowhere, {label}", absent, ""))
    kinds = Counter(one.kind for c in supported for one in c.findings)
    return [
        *lines,
        "questions on supported claims: " + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()),
    ]


def list_cases(checked: Sequence[Checked]) -> list[str]:
    """The counts of a small file, and the cases on which code is wrong."""
    wrong = [one.id for one in checked if one.label == "supported" and one.check.verdict in REFUSED]
    rest = [one for one in checked if one.label != "supported"]
    missed = [one.id for one in rest if one.check.verdict not in REFUSED]
    supported = len(checked) - len(rest)
    return [
        f"supported, shown as differing: {len(wrong)} of {supported} {' '.join(wrong)}".rstrip(),
        f"contradicted, found: {len(rest) - len(missed)} of {len(rest)}; missed: {' '.join(missed)}",
    ]


def main() -> None:
    """Print the figures of a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE_WITH_LABELS")
    parser.add_argument("--model", default="keyless")
    parser.add_argument("--technical", action="store_true")
    given = parser.parse_args()
    checked = check_file(given.file, given.model)
    print("\n".join((list_cases if given.technical else list_figures)(checked)))


if __name__ == "__main__":
    main()
