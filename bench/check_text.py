"""How well "Check a text" tells supported from unsupported claims, on labelled statements with their quotes.

    python -m bench.check_text FILE_WITH_LABELS [--limit N] [--seed N] [--pages N] [--model keyless|NAME]
        [--json OUT]

FILE_WITH_LABELS has a JSON object a line (".gz" too): `id, quote, statement, label` (supported | contradicted |
not_stated). Texts are built from them: each statement is a sentence that cites a page, each quote a page of a
folder world, among `--pages` quotes of other statements on the same page (0: the quote alone). They are checked
like a person's text. Without a file nothing is measured.

The table says for each label how many statements have which mark. Two figures count: supported statements that
are accused (not supported, or the source says otherwise), and unsupported ones that are called supported."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent import api
from agent.settings import config
from agent.types import MARK_LABELS, CheckTextSettings, Settings, Status
from agent.workbench import Workbench
from bench.claims import read_rows

CLAIMS_A_TEXT = 20
LABELS = ("supported", "contradicted", "not_stated")


def write_world(
    folder: Path, rows: Sequence[dict[str, Any]], others: Sequence[dict[str, Any]], pages: int
) -> None:
    """A page for each quote, with `pages` other quotes around it."""
    dice = random.Random(3)
    with (folder / "docs.jsonl").open("w", encoding="utf-8") as out:
        for n, row in enumerate(rows):
            paragraphs = [other["quote"] for other in dice.sample(list(others), min(pages, len(others)))]
            paragraphs.insert(dice.randint(0, len(paragraphs)), row["quote"])
            doc = {"id": str(n), "url": f"https://source-{n}.example/page", "title": f"Page {n}"}
            out.write(json.dumps(doc | {"text": "\n\n".join(paragraphs)}) + "\n")


def build_text(rows: Sequence[dict[str, Any]], first: int) -> bytes:
    """A text with a paragraph for each statement, which cites its page by number."""
    claims = [f"{' '.join(row['statement'].split()).rstrip('.')} [{n}]." for n, row in enumerate(rows, 1)]
    references = [f"[{n}] https://source-{first + n - 1}.example/page" for n in range(1, len(rows) + 1)]
    return "\n\n".join(["# Text", *claims, "## References", *references]).encode()


def check_rows(bench: Workbench, world: Path, rows: Sequence[dict[str, Any]], model: str) -> list[str]:
    """The mark of each statement; "split" where it was not read as one sentence."""
    marks: list[str] = []
    settings = Settings(flow="check_text", world=str(world), model=model, max_calls=10_000, max_tokens=10**9)
    settings = settings.replace(check_text=CheckTextSettings(max_pages=10_000), max_seconds=86_400.0)
    for first in range(0, len(rows), CLAIMS_A_TEXT):
        batch = rows[first : first + CLAIMS_A_TEXT]
        run_id = api.start_text_check(bench, "text.md", build_text(batch, first), settings)
        status = bench.drive(run_id)
        view = bench.snapshot(run_id)
        checked = view.state.own.checked_text(view.state)
        assert status is Status.DONE and checked is not None, view.run.error
        by_page: dict[str, list[str]] = {}
        for one in checked.sentences:
            for url in one.sentence.urls:
                by_page.setdefault(url, []).append(str(one.mark))
        for n in range(first, first + len(batch)):
            found = by_page.get(f"https://source-{n}.example/page", [])
            marks.append(found[0] if len(found) == 1 else "split")
    return marks


def print_table(rows: Sequence[dict[str, Any]], marks: Sequence[str]) -> dict[str, Any]:
    """The table, and its figures."""
    counts = {
        label: Counter(m for r, m in zip(rows, marks, strict=True) if r["label"] == label) for label in LABELS
    }
    names = [*(name for name in MARK_LABELS if any(counts[label][name] for label in LABELS)), "split"]
    print(f"{'label':14} {'n':>5} " + " ".join(f"{MARK_LABELS.get(name, name):>22}" for name in names))  # type: ignore[call-overload]
    for label in LABELS:
        total = max(1, counts[label].total())
        cells = [f"{counts[label][name]} ({100 * counts[label][name] / total:.1f} %)" for name in names]
        print(f"{label:14} {counts[label].total():>5} " + " ".join(f"{cell:>22}" for cell in cells))
    accused = counts["supported"]["contradicted"] + counts["supported"]["not_supported"]
    wrong = [label for label in LABELS if label != "supported"]
    believed = sum(counts[label]["supported"] for label in wrong)
    unsupported = sum(counts[label].total() for label in wrong)
    print(f"supported statements that are accused: {accused} of {counts['supported'].total()}")
    print(f"unsupported statements that are called supported: {believed} of {unsupported}")
    return {"counts": counts, "accused": accused, "believed": believed}


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the texts, check them, print the table; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", metavar="FILE_WITH_LABELS", nargs="?")
    parser.add_argument("--limit", type=int, default=0, help="statements that are checked; 0: all")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--pages", type=int, default=6, help="other quotes on each page")
    parser.add_argument("--model", default="keyless")
    parser.add_argument("--json", metavar="OUT")
    given = parser.parse_args(arguments)
    if not given.file:
        print("nothing is measured without a FILE_WITH_LABELS; --help tells its form")
        return 0
    everything = read_rows(Path(given.file))
    rows = list(everything)
    random.Random(given.seed).shuffle(rows)
    rows = rows[: given.limit or None]
    began = time.process_time()
    with tempfile.TemporaryDirectory() as temporary:
        world = Path(temporary, "world")
        world.mkdir()
        write_world(world, rows, everything, given.pages)
        bench = Workbench(config.read_config({"TOUCHSTONE_DATA": temporary}))
        marks = check_rows(bench, world, rows, given.model)
        bench.shutdown()
    figures = print_table(rows, marks)
    print(f"{(time.process_time() - began) / max(1, len(rows)) * 1000:.0f} ms of CPU time a statement")
    if given.json:
        found = [
            {"id": row["id"], "label": row["label"], "mark": mark}
            for row, mark in zip(rows, marks, strict=True)
        ]
        Path(given.json).write_text(json.dumps({**figures, "marks": found}, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
