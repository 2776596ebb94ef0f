"""How well code tells supported from unsupported claims, and a judge with it.

    python -m bench.claims FILE_WITH_LABELS [--model NAME] [--technical]

FILE_WITH_LABELS has a JSON object a line (".gz" too): `id, quote, statement, question?, label` (supported |
contradicted | not_stated) and, if known, `kind`. A question is a difference that code puts to the judge; a
changed number or date is found when a question is asked about its claim. `--technical`: a small file of which
the cases are counted, and named where code is wrong."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent import api
from agent.cli.check import read_claims
from agent.evidence.claim_check import ClaimCheck, check_claims
from agent.roles.check_claims import ClaimJudge
from agent.settings.config import read_config
from bench import make_parser, write_figures

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


def measure_shares(checked: Sequence[Checked]) -> dict[str, float]:
    """The shares that are promised: at most .01 of what is not supported is quoted or computed; .12 of the
    supported and at least .85 of the changed numbers and dates are asked about."""
    labels = ("supported", "contradicted", "not_stated")
    by_label = {label: [one.check for one in checked if one.label == label] for label in labels}
    changed = [one.check for one in checked if one.label != "supported" and one.kind in ("number", "date")]
    shares: dict[str, float] = {"n": len(checked)}
    for label, checks in by_label.items():
        shares[f"certain_{label}"] = share(check.verdict in CERTAIN for check in checks)
        shares[f"asked_{label}"] = share(bool(check.findings) for check in checks)
        shares[f"refused_{label}"] = share(check.verdict in REFUSED for check in checks)
        shares[f"absent_{label}"] = share(any(one.is_absent for one in c.findings) for c in checks)
    shares["asked_changed"] = share(bool(check.findings) for check in changed)
    kinds = Counter(one.kind for check in by_label["supported"] for one in check.findings)
    return shares | {f"asked about {kind}, supported": n for kind, n in kinds.most_common()}


def share(found: Iterable[bool]) -> float:
    """The share of what is true; 0 of nothing."""
    told = list(found)
    return round(sum(told) / len(told), 4) if told else 0.0


def count_cases(checked: Sequence[Checked]) -> dict[str, Any]:
    """The counts of a small file, and the cases on which code is wrong."""
    true = [one for one in checked if one.label == "supported"]
    rest = [one for one in checked if one.label != "supported"]
    return {
        "supported": len(true),
        "shown_as_differing": [one.id for one in true if one.check.verdict in REFUSED],
        "contradicted": len(rest),
        "missed": [one.id for one in rest if one.check.verdict not in REFUSED],
    }


def main() -> None:
    """Print the figures of a file."""
    parser = make_parser(__doc__)
    parser.add_argument("file", type=Path, metavar="FILE_WITH_LABELS")
    parser.add_argument("--model", default="keyless")
    parser.add_argument("--technical", action="store_true")
    given = parser.parse_args()
    checked = check_file(given.file, given.model)
    figures = (count_cases if given.technical else measure_shares)(checked)
    for name, figure in figures.items():
        print(f"{name:44} {figure}")
    write_figures(given.json, figures)


if __name__ == "__main__":
    main()
