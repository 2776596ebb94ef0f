"""`verify`: check an evidence bundle, and optionally its sources as they are today.

Exit codes: 0 the bundle is valid (and, with --refetch, every source still contains its quotes); 1 it is not,
or a source lost a quote, is gone, or could not be read; 2 wrong usage, no such file."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from typing import Any

from agent.actions.bundle_verify import BundleVerification, SourceCheck, refetch_sources, verify_bundle
from agent.cli.options import AS_JSON, file_option, flag
from agent.cli.output import check_network, read_file, write_json, write_stdout
from agent.export.archive import MAX_BYTES
from agent.export.escaping import to_one_line
from agent.workbench import Workbench

BUNDLE = file_option("bundle BUNDLE", "the file of an evidence bundle")
ATTENTION_MARKS = {"same": "", "stands": "", "lost": "!", "gone": "!", "unread": "?", "given": ""}
DRIFT_LABELS = {
    "same": "same",
    "stands": "changed, quotes still there",
    "lost": "changed and a quote is lost",
    "gone": "gone",
    "unread": "not readable now",
    "given": "given by a person and not readable now",
}


ARGUMENTS = (BUNDLE, flag("--refetch", "fetch its sources again and compare their quotes"), AS_JSON)


def run(args: Namespace) -> int:
    """Check a bundle and print the result; returns the exit code."""
    found = verify_bundle(read_file(args.bundle, MAX_BYTES + 1))
    sources: list[SourceCheck] = []
    if not args.as_json:
        write_stdout("\n".join(format_verification(found)))
    if args.refetch and found.contents is not None and found.is_valid:
        bench, world = Workbench(), found.contents.run.settings.world
        check_network(bench, world)
        sources = refetch_sources(
            found, bench.worker.world(world), (lambda _: None) if args.as_json else _print_source
        )
        if not args.as_json:
            write_stdout(_format_summary(sources))
    if args.as_json:
        write_json(verification_record(found, sources))
    return 0 if found.is_valid and not any(ATTENTION_MARKS[source.drift] for source in sources) else 1


def format_verification(found: BundleVerification) -> list[str]:
    """The result for a person."""
    lines = [f"SHA-256 {found.sha256}"]
    if contents := found.contents:
        lines += [
            f"run {contents.run.id}: {to_one_line(contents.run.question)}",
            f"{len(contents.steps)} steps, {len(contents.pages)} pages, {len(contents.calls)} model calls",
            f"{found.found_quote_count} of {found.quote_count} quotes are in their pages",
        ]
    lines += [f"! {to_one_line(problem)}" for problem in found.problems]
    lines += [f"({to_one_line(remark)})" for remark in found.remarks]
    return [*lines, "The bundle is valid." if found.is_valid else "The bundle is not valid."]


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
                "url": source.url,
                "how": source.drift,
                "quotes": source.quotes,
                "lost": list(source.lost_quotes),
                "detail": source.detail,
                "by": source.origin,
            }
            for source in sources
        ],
    }


def _print_source(source: SourceCheck) -> None:
    mark = ATTENTION_MARKS[source.drift] or " "
    write_stdout(f"{mark} {to_one_line(source.url)}: {to_one_line(source.description)}")
    for quote in source.lost_quotes if source.drift == "lost" else ():
        write_stdout(f"      no longer: “{to_one_line(quote)[:200]}”")


def _format_summary(sources: list[SourceCheck]) -> str:
    if not sources:
        return "No source to fetch: no usable fact is on a page of the web."
    counts = Counter[str](source.drift for source in sources)
    parts = [
        f"{counts[drift]} {label}"
        for drift, label in DRIFT_LABELS.items()
        if drift != "given" or counts[drift]
    ]
    return f"{len(sources)} sources: {', '.join(parts)}."
