"""`runs`, `export`, `verify` and `import`: the runs that are stored, as files, and evidence bundles.

Exit codes of `verify`: 0 the bundle is valid (and, with --refetch, every source still contains its quotes);
1 it is not, or a source lost a quote, is gone, or could not be read; 2 wrong usage, no such file."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter

from agent.actions.bundles import (
    BundleVerification,
    SourceCheck,
    import_bundle,
    refetch_sources,
    verify_bundle,
)
from agent.actions.export import FORMATS, export_run
from agent.cli.options import AS_JSON, RUN_ID, command, file_option, flag, option
from agent.cli.output import (
    check_same_model,
    drive_and_print,
    read_file,
    to_json,
    write_file,
    write_stderr,
    write_stdout,
)
from agent.errors import BundleError, UsageError
from agent.export.archive import MAX_BYTES
from agent.export.escaping import to_one_line
from agent.llm.recorded import RECORDED
from agent.text.plurals import clip
from agent.types import Status
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


@command(
    option("--text TEXT", "only those with this text in the question"),
    option("--resume RUN", "go on with this run, which rests"),
    option("--model auto|keyless", "go on with the model set up now, or without one"),
)
def runs(args: Namespace) -> int:
    """Print a line a run, or go on with one; returns the exit code."""
    bench = Workbench()
    if args.resume:
        view = bench.snapshot(args.resume)
        wanted = view.run.settings
        if wanted.model == RECORDED:
            wanted = wanted.replace(model="auto")
        if not args.model:
            check_same_model(bench, view.run.settings)
        elif args.model == "keyless":
            bench.act(args.resume, "drop_model")
        elif bench.worker.detect_model() and (served_by := bench.worker.mark_model(wanted)):
            bench.act(args.resume, "keep_model", served_by=served_by)
        else:
            raise UsageError("no model is set up for it: type --model keyless to go on without one")
        if bench.snapshot(args.resume).run.status is not Status.RUNNING:
            bench.act(args.resume, "resume")
        return drive_and_print(bench, args.resume, after=view.head)
    runs = bench.runs(text=args.text)
    for one in runs:
        level = f"{one.confidence:.2f}" if one.confidence is not None else "  – "
        state = f"{one.status.value:<8} {one.verdict or '-':<14} {level}"
        question = f"{'(imported) ' if one.imported else ''}{clip(one.question)}"
        write_stdout(f"{one.id}  {one.created_at[:16]}  {state}  {question}")
    if not runs:
        none = f"no run has “{args.text}” in its question" if args.text else "no runs yet"
        write_stderr(f'{none}: ./touchstone research "QUESTION" makes one')
    return 0


@command(
    RUN_ID,
    option("--format FORMAT", f"one of {', '.join(FORMATS)} [default: md]", "md", choices=list(FORMATS)),
    file_option("--output FILE", "where to write it [default: stdout]"),
)
def export(args: Namespace) -> int:
    """Write the run in a format; returns the exit code."""
    if FORMATS[args.format].binary and not args.output:
        raise UsageError(f"{args.format} is not text: name a file with --output FILE")
    body = export_run(Workbench(), args.run_id, args.format)
    if not args.output:
        write_stdout(body.decode("utf-8-sig"), end="")
        return 0
    write_file(args.output, body)
    if args.format == "bundle":
        write_stderr(f"SHA-256 {verify_bundle(body).sha256}")
    return 0


@command(BUNDLE, flag("--refetch", "fetch its sources again and compare their quotes"), AS_JSON)
def verify(args: Namespace) -> int:
    """Check a bundle and print the result; returns the exit code."""
    found = verify_bundle(read_file(args.bundle, MAX_BYTES + 1))
    sources: list[SourceCheck] = []
    if not args.as_json:
        write_stdout("\n".join(_format_verification(found)))
    if args.refetch and found.contents is not None and found.is_valid:
        bench, world = Workbench(), found.contents.run.settings.world
        watch = (lambda _: None) if args.as_json else _print_source
        sources = refetch_sources(found, bench.worker.world(world), watch)
        counts = Counter[str](source.drift for source in sources)
        parts = [f"{counts[d]} {label}" for d, label in DRIFT_LABELS.items() if d != "given" or counts[d]]
        told = f"{len(sources)} sources: {', '.join(parts)}."
        if not args.as_json:
            write_stdout(told if sources else "No source to fetch: no usable fact is on a page of the web.")
    if args.as_json:
        record = {
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
        write_stdout(to_json(record))
    return 0 if found.is_valid and not any(ATTENTION_MARKS[source.drift] for source in sources) else 1


def _format_verification(found: BundleVerification) -> list[str]:
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


def _print_source(source: SourceCheck) -> None:
    mark = ATTENTION_MARKS[source.drift] or " "
    write_stdout(f"{mark} {to_one_line(source.url)}: {to_one_line(source.description)}")
    for quote in source.lost_quotes if source.drift == "lost" else ():
        write_stdout(f"      no longer: “{clip(to_one_line(quote))}”")


@command(BUNDLE)
def import_(args: Namespace) -> int:
    """Import a bundle that verifies and print the id of its run; returns the exit code."""
    data = read_file(args.bundle, MAX_BYTES + 1)
    try:
        imported = import_bundle(Workbench(), data)
    except BundleError as refused:
        write_stderr(f"touchstone: {to_one_line(str(refused))}")
        return 1
    if imported.is_renamed:
        write_stderr(f"a run {imported.original_id} exists already, so this one is called {imported.run_id}")
    found = imported.verification
    write_stderr(
        f"{found.found_quote_count} of {found.quote_count} quotes are in their pages; marked as imported"
    )
    write_stdout(imported.run_id)
    return 0
