"""`export`, `verify` and `import`: a run leaves as a file, a bundle is checked, a bundle is opened as a run. Knows options and wording.

Exit codes of `verify`: 0 the bundle holds (and, with --refetch, every source still says its quotes); 1 it does not, or a source
changed so that a quote is lost, is gone, or could not be read; 2 wrong usage, no such file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from agent.commands.telling import reached, say, tell
from agent.errors import BundleError, UsageError
from agent.export.archive import MAX_BYTES
from agent.exporting import FORMATS, write
from agent.importing import import_bundle
from agent.verifying import Source, Verified, refetch, verify
from agent.workbench import Workbench

LOUD = {"same": "", "stands": "", "lost": "!", "gone": "!", "unread": "?", "given": ""}


def add_export(parser: argparse.ArgumentParser) -> None:
    """The options of `export`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--format", default="md", choices=list(FORMATS), help="one of %(choices)s (default: %(default)s)", metavar="FORMAT")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to (default: stdout)")


def run_export(options: argparse.Namespace) -> int:
    """Write a run out; returns the exit code."""
    if FORMATS[options.format].binary and not options.output:
        raise UsageError(f"{options.format} is not text: name a file with --output FILE")
    body = write(Workbench(), options.run, options.format)
    if options.output:
        _save(options.output, body)
        if options.format == "bundle":
            say(f"SHA-256 {verify(body).sha256}")
    else:
        tell(body.decode("utf-8-sig"), end="")
    return 0


def add_verify(parser: argparse.ArgumentParser) -> None:
    """The options of `verify`."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument("--refetch", action="store_true", help="fetch its sources again and tell what became of each")
    parser.add_argument("--json", action="store_true", help="tell the result as JSON")


def run_verify(options: argparse.Namespace) -> int:
    """Check a bundle; returns the exit code."""
    found = verify(_loaded(options.bundle))
    sources: list[Source] = []
    if not options.json:
        for line in lines(found):
            tell(line)
    if options.refetch and found.contents is not None and found.holds:
        bench, world = Workbench(), found.contents.run.settings.world
        reached(bench, world)
        sources = refetch(found, bench.worker.world(world), (lambda source: None) if options.json else _told)
        if not options.json:
            tell(_summed(sources))
    if options.json:
        tell(json.dumps(record(found, sources), ensure_ascii=False, indent=1))
    return 0 if found.holds and not any(LOUD[source.how] for source in sources) else 1


def lines(found: Verified) -> list[str]:
    """What was found, for a person."""
    told = [f"SHA-256 {found.sha256}"]
    contents = found.contents
    if contents is not None:
        told.append(f"run {contents.run.id}: {_safe(contents.run.question)}")
        told.append(f"{len(contents.steps)} steps, {len(contents.pages)} pages, {len(contents.calls)} model calls")
        told.append(f"{found.standing} of {found.quotes} quotes stand in their pages")
    told += [f"! {_safe(trouble)}" for trouble in found.troubles] + [f"({_safe(remark)})" for remark in found.remarks]
    told.append("The bundle holds." if found.holds else "The bundle does not hold.")
    return told


def record(found: Verified, sources: list[Source]) -> dict[str, Any]:
    """The result as JSON."""
    return {
        "sha256": found.sha256, "holds": found.holds, "run": found.contents.run.id if found.contents else None, "quotes": found.quotes,
        "standing": found.standing, "troubles": list(found.troubles), "remarks": list(found.remarks),
        "sources": [{"url": s.url, "how": s.how, "quotes": s.quotes, "lost": list(s.lost), "detail": s.detail, "by": s.by} for s in sources],
    }  # fmt: skip


def add_import(parser: argparse.ArgumentParser) -> None:
    """The options of `import`."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")


def run_import(options: argparse.Namespace) -> int:
    """Open a bundle as a run, when it verifies; returns the exit code."""
    data = _loaded(options.bundle)
    try:
        came = import_bundle(Workbench(), data)
    except BundleError as refused:
        say(f"touchstone: {_safe(str(refused))}")
        return 1
    if came.renamed:
        say(f"there is a run {came.was} already, so this one is called {came.run_id}")
    say(f"{came.found.standing} of {came.found.quotes} quotes stand in their pages; marked as imported")
    tell(came.run_id)
    return 0


def _loaded(path: Path) -> bytes:
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
    say(f"wrote {path}")


def _told(source: Source) -> None:
    tell(f"{LOUD[source.how] or ' '} {_safe(source.url)}: {_safe(source.told)}")
    for quote in source.lost if source.how == "lost" else ():
        tell(f"      no longer: “{_safe(quote)[:200]}”")


def _summed(sources: list[Source]) -> str:
    if not sources:
        return "No source to fetch: nothing usable stands on a page of the web."
    count = {how: sum(source.how == how for source in sources) for how in LOUD}
    parts = [f"{count['same']} same", f"{count['stands']} changed but its quotes stand", f"{count['lost']} changed and a quote is lost"]
    parts += [f"{count['gone']} gone", f"{count['unread']} not readable now"]
    parts += [f"{count['given']} given by a person and not readable now"] if count["given"] else []
    return f"{len(sources)} sources: {', '.join(parts)}."


def _safe(text: str) -> str:
    """A stranger's text for a terminal: one line, no control characters."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())
