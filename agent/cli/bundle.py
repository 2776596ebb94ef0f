"""`export`, `verify` and `import`: a run leaves as a file, a bundle is checked, a bundle is opened as a run.
Knows options and wording.

Exit codes of `verify`: 0 the bundle holds (and, with --refetch, every source still says its quotes); 1 it
does not, or a source changed so that a quote is lost, is gone, or could not be read; 2 wrong usage, no such
file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from agent.actions.bundle_import import import_bundle
from agent.actions.bundle_verify import BundleVerification, SourceCheck, refetch_sources, verify_bundle
from agent.actions.export import FORMATS, export_run
from agent.cli.output import check_network, write_stderr, write_stdout
from agent.errors import BundleError, UsageError
from agent.export.archive import MAX_BYTES
from agent.workbench import Workbench

ATTENTION_MARKS = {"same": "", "stands": "", "lost": "!", "gone": "!", "unread": "?", "given": ""}


def add_export_options(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument(
        "--format",
        default="md",
        choices=list(FORMATS),
        help="one of %(choices)s (default: %(default)s)",
        metavar="FORMAT",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to (default: stdout)")


def run_export(options: argparse.Namespace) -> int:
    """Write a run out; returns the exit code."""
    if FORMATS[options.format].binary and not options.output:
        raise UsageError(f"{options.format} is not text: name a file with --output FILE")
    body = export_run(Workbench(), options.run, options.format)
    if options.output:
        _save(options.output, body)
        if options.format == "bundle":
            write_stderr(f"SHA-256 {verify_bundle(body).sha256}")
    else:
        write_stdout(body.decode("utf-8-sig"), end="")
    return 0


def add_verify_options(parser: argparse.ArgumentParser) -> None:
    """The options of `verify`."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument(
        "--refetch", action="store_true", help="fetch its sources again and tell what became of each"
    )
    parser.add_argument("--json", action="store_true", help="tell the result as JSON")


def run_verify(options: argparse.Namespace) -> int:
    """Check a bundle; returns the exit code."""
    found = verify_bundle(_read_bundle(options.bundle))
    sources: list[SourceCheck] = []
    if not options.json:
        for line in format_verification(found):
            write_stdout(line)
    if options.refetch and found.contents is not None and found.is_valid:
        bench, world = Workbench(), found.contents.run.settings.world
        check_network(bench, world)
        sources = refetch_sources(
            found, bench.worker.world(world), (lambda source: None) if options.json else _print_source
        )
        if not options.json:
            write_stdout(_format_summary(sources))
    if options.json:
        write_stdout(json.dumps(verification_record(found, sources), ensure_ascii=False, indent=1))
    return 0 if found.is_valid and not any(ATTENTION_MARKS[source.drift] for source in sources) else 1


def format_verification(found: BundleVerification) -> list[str]:
    """What was found, for a person."""
    told = [f"SHA-256 {found.sha256}"]
    contents = found.contents
    if contents is not None:
        told.append(f"run {contents.run.id}: {_one_line(contents.run.question)}")
        told.append(
            f"{len(contents.steps)} steps, {len(contents.pages)} pages, {len(contents.calls)} model calls"
        )
        told.append(f"{found.found_quote_count} of {found.quote_count} quotes stand in their pages")
    told += [f"! {_one_line(trouble)}" for trouble in found.problems] + [
        f"({_one_line(remark)})" for remark in found.remarks
    ]
    told.append("The bundle holds." if found.is_valid else "The bundle does not hold.")
    return told


def verification_record(found: BundleVerification, sources: list[SourceCheck]) -> dict[str, Any]:
    """The result as JSON."""
    return {
        "sha256": found.sha256,
        "holds": found.is_valid,
        "run": found.contents.run.id if found.contents else None,
        "quotes": found.quote_count,
        "standing": found.found_quote_count,
        "troubles": list(found.problems),
        "remarks": list(found.remarks),
        "sources": [
            {
                "url": s.url,
                "how": s.drift,
                "quotes": s.quotes,
                "lost": list(s.lost_quotes),
                "detail": s.detail,
                "by": s.origin,
            }
            for s in sources
        ],
    }


def add_import_options(parser: argparse.ArgumentParser) -> None:
    """The options of `import`."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")


def run_import(options: argparse.Namespace) -> int:
    """Open a bundle as a run, when it verifies; returns the exit code."""
    data = _read_bundle(options.bundle)
    try:
        came = import_bundle(Workbench(), data)
    except BundleError as refused:
        write_stderr(f"touchstone: {_one_line(str(refused))}")
        return 1
    if came.is_renamed:
        write_stderr(f"there is a run {came.original_id} already, so this one is called {came.run_id}")
    write_stderr(
        f"{came.verification.found_quote_count} of {came.verification.quote_count} quotes stand in their pages; marked as imported"
    )
    write_stdout(came.run_id)
    return 0


def _read_bundle(path: Path) -> bytes:
    """A file's bytes, no more than a bundle may have. Raises UsageError."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as trouble:
        raise UsageError(f"{path} cannot be read: {trouble.strerror}") from trouble


def _save(path: Path, body: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    except OSError as trouble:
        raise UsageError(f"{path} cannot be written: {trouble.strerror}") from trouble
    write_stderr(f"wrote {path}")


def _print_source(source: SourceCheck) -> None:
    write_stdout(
        f"{ATTENTION_MARKS[source.drift] or ' '} {_one_line(source.url)}: {_one_line(source.description)}"
    )
    for quote in source.lost_quotes if source.drift == "lost" else ():
        write_stdout(f"      no longer: “{_one_line(quote)[:200]}”")


def _format_summary(sources: list[SourceCheck]) -> str:
    if not sources:
        return "No source to fetch: nothing usable stands on a page of the web."
    count = {how: sum(source.drift == how for source in sources) for how in ATTENTION_MARKS}
    parts = [
        f"{count['same']} same",
        f"{count['stands']} changed but its quotes stand",
        f"{count['lost']} changed and a quote is lost",
    ]
    parts += [f"{count['gone']} gone", f"{count['unread']} not readable now"]
    parts += [f"{count['given']} given by a person and not readable now"] if count["given"] else []
    return f"{len(sources)} sources: {', '.join(parts)}."


def _one_line(text: str) -> str:
    """A stranger's text for a terminal: one line, no control characters."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
