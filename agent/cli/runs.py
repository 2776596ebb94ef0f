"""`runs`, `act`, `export`, `verify` and `import`: the stored runs, what is done with one, evidence bundles.

Exit codes of `act`: 0 it is done, and the run went on as far as it goes by itself; 1 the run failed then; 2
nothing changed. Of `verify`: 0 the bundle is valid (with --refetch, and every source still contains its
quotes), 1 it is not, or a source lost a quote, is gone or could not be read, 2 no such file."""

from __future__ import annotations

import json
import sys
from argparse import REMAINDER, ArgumentParser, BooleanOptionalAction, Namespace
from itertools import starmap
from pathlib import Path
from typing import Any

from agent.actions import acts
from agent.actions.acts import Act
from agent.actions.bundles import (
    import_bundle,
    refetch_sources,
    verify_bundle,
)
from agent.actions.export import FORMATS, export_run
from agent.actions.release import ERASED, list_private
from agent.cli import output
from agent.cli.main import PROGRAM
from agent.cli.options import RUN_ID, command, file_option, flag, option
from agent.cli.output import read_file, write_stderr, write_stdout
from agent.errors import BundleError, UsageError
from agent.evidence.citation_check import diff_answers
from agent.export.archive import MAX_BYTES
from agent.export.escaping import to_one_line
from agent.export.plain import render_plain_text
from agent.flows.verify_again.state import QuoteStanding
from agent.text.plurals import clip, format_count
from agent.types import PAGE_ORIGIN_LABELS, STATUS_PHRASES, Fact, Status
from agent.web.extract import documents
from agent.workbench import Workbench

BUNDLE = file_option("bundle BUNDLE", "the file of an evidence bundle")


@command(
    option("--text TEXT", "only those with this text in the question"),
    option("--resume RUN", "go on with this run, which rests"),
    option("--model auto|keyless", "go on with the model set up now, or without one"),
)
def runs(args: Namespace) -> int:
    """Print a line a run, or go on with one; returns the exit code."""
    bench = Workbench()
    if args.resume:
        return _resume(bench, args)
    runs = bench.runs(text=args.text or "")
    for one in runs:
        level = f"{one.confidence:.2f}" if one.confidence is not None else "  – "
        state = f"{one.status.value:<8} {one.verdict or '-':<14} {level}"
        question = f"{'(imported) ' if one.imported else ''}{clip(one.question)}"
        write_stdout(f"{one.id}  {one.created_at[:16]}  {state}  {question}")
    if not runs:
        none = f"no run has “{args.text}” in its question" if args.text else "no runs yet"
        write_stderr(f'{none}: ./touchstone research "QUESTION" makes one')
    return 0


def _resume(bench: Workbench, args: Namespace) -> int:
    view = bench.snapshot(args.resume)
    if not args.model:
        output.check_same_model(bench, view.run.settings)
    elif args.model == "keyless":
        bench.act(args.resume, "drop_model")
    elif bench.worker.model_search.find().client:
        bench.act(args.resume, "keep_model")
    else:
        raise UsageError("no model is set up for it: type --model keyless to go on without one")
    if bench.snapshot(args.resume).run.status is not Status.RUNNING:
        bench.act(args.resume, "resume")
    return output.drive_and_print(bench, args.resume, args, after=view.head)


@command(
    RUN_ID,
    option(
        "--format FORMAT", f"one of {', '.join(FORMATS)} [default: md]", default="md", choices=list(FORMATS)
    ),
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
    output.write_file(args.output, body)
    if args.format == "bundle":
        write_stderr(f"SHA-256 {verify_bundle(body).sha256}")
    return 0


@command(
    BUNDLE,
    flag("--refetch", "fetch its sources again and compare their quotes"),
    flag("--json", "print JSON", dest="as_json"),
)
def verify(args: Namespace) -> int:
    """Check a bundle and print the result; returns the exit code."""
    found = verify_bundle(read_file(args.bundle, MAX_BYTES + 1))
    told: list[tuple[Fact, QuoteStanding]] = []
    write = (lambda _: None) if args.as_json else write_stdout
    lines = [f"SHA-256 {found.sha256}"]
    if contents := found.contents:
        lines += [
            f"run {contents.run.id}: {to_one_line(contents.run.question)}",
            f"{len(contents.steps)} steps, {len(contents.pages)} pages, {len(contents.calls)} model calls",
            f"{found.found_quote_count} of {found.quote_count} quotes are in their pages",
        ]
    lines += [f"! {to_one_line(problem)}" for problem in found.problems]
    lines += [f"({to_one_line(remark)})" for remark in found.remarks]
    write("\n".join([*lines, "The bundle is valid." if found.is_valid else "The bundle is not valid."]))
    if args.refetch and found.contents is not None and found.is_valid:
        world = Workbench().worker.world(found.contents.run.settings.world)
        told = refetch_sources(found, world, lambda *one: write(_format_standing(*one)))
    doubtful = sum(starmap(_is_doubtful, told))
    if args.refetch:
        write(f"{format_count(len(told), 'quote')} looked for again, {doubtful} to look at.")
    if args.as_json:
        known = {"url", "quote", "given"}
        record = {
            "sha256": found.sha256,
            "holds": found.is_valid,
            "run": found.contents.run.id if found.contents else None,
            "quotes": found.quote_count,
            "standing": found.found_quote_count,
            "troubles": found.problems,
            "remarks": found.remarks,
            "sources": [
                fact.model_dump(include=known) | one.model_dump(exclude={"id", "now_page_id"})
                for fact, one in told
            ],
        }
        write_stdout(output.to_json(record))
    return 0 if found.is_valid and not doubtful else 1


def _is_doubtful(fact: Fact, one: QuoteStanding) -> bool:
    """Whether it is to be looked at: what a person gave need not be at its address."""
    return one.standing not in ("stands", "moved") and fact.given == "fetched"


def _format_standing(fact: Fact, one: QuoteStanding) -> str:
    mark, given = "!" if _is_doubtful(fact, one) else " ", PAGE_ORIGIN_LABELS[fact.given]
    quote = "" if one.standing == "stands" else f"\n      “{clip(to_one_line(fact.quote))}”"
    return f"{mark} {to_one_line(fact.url)}: {to_one_line(one.text)}{f' ({given})' * bool(given)}{quote}"


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


@command(
    RUN_ID,
    option("act ACT", "without it what is possible now is listed", nargs="?"),
    option(
        "given PARAMETERS",
        "--NAME VALUE …, or all of them as one JSON object; ACT -h tells them",
        nargs=REMAINDER,
    ),
)
def act(args: Namespace) -> int:
    """Do the act, drive the run as far as it goes, print the answer and on stderr what changed in it."""
    bench = Workbench()
    before = bench.snapshot(args.run_id)
    if not args.act:
        for one in acts.list_possible(before):
            write_stdout(f"{one.name}: {one.help}")
            for name, schema in _properties(one).items():
                needed = " (needed)" if one.parameters.model_fields[name].is_required() else ""
                write_stdout(f"    {_flag(name)}  {_describe(schema)}{needed}")
        for note in list_private(before):
            if note["text"] != ERASED:
                write_stdout(to_one_line(f"private note of step {note['step']}: {note['text']}"))
        return 0
    done = bench.act(args.run_id, args.act, **parse_parameters(acts.find_act(args.act), args.given))
    run_id = done if isinstance(done, str) else args.run_id
    after = bench.snapshot(run_id)
    for edit in after.state.edits[len(before.state.edits) :]:
        write_stderr(to_one_line(edit.text))
    for fact in after.state.facts.values():
        if fact.is_from_page and not fact.verified and before.state.facts.get(fact.id, fact).verified:
            write_stderr(
                "The quote does not support this statement, so no page backs it: "
                f"“{to_one_line(fact.quote)}”. Correct the quote too, pin the fact to use it as your own "
                "word, or undo the correction."
            )
    goes_on = after.run.status is Status.RUNNING
    if goes_on and (run_id != args.run_id or before.run.status is not Status.RUNNING):
        reached = output.drive_run(bench, run_id, after=after.head)
        after = reached or bench.snapshot(run_id)
        if reached is None and after.run.status is not Status.WAITING:
            return 1
    write_stderr(f"run {run_id} is {STATUS_PHRASES[after.run.status]}")
    if after.state.answer is not None and after.state.answer != before.state.answer:
        write_stdout(render_plain_text(after.state.answer))
        if before.state.answer is not None:
            changes = diff_answers(before.state.answer, after.state.answer)
            for change in changes:
                former, now = (to_one_line(said.text) if said else "" for said in (change.old, change.new))
                both = f"{former} → {now}" if change.kind == "reworded" else now or former
                if change.kind != "same":
                    sign = {"added": "+", "removed": "-"}.get(change.kind, "~")
                    write_stderr(f"{sign} {both}")
            same = sum(change.kind == "same" for change in changes)
            write_stderr(f"  {format_count(same, 'sentence')} unchanged")
    return 0


def parse_parameters(act: Act, given: list[str]) -> dict[str, Any]:
    """The parameters as they were typed. Raises UsageError; SystemExit for what cannot be parsed."""
    if len(given) == 1 and given[0].lstrip().startswith("{"):
        return dict(_read_json(given[0]))
    parser = ArgumentParser(f"{PROGRAM} act RUN {act.name}", description=act.help)
    schemas = _properties(act)
    for name, schema in schemas.items():
        shape: dict[str, Any] = {"metavar": name.upper()}
        if schema.get("type") == "boolean":
            shape = {"action": BooleanOptionalAction}
        elif schema.get("type") == "array":
            shape["nargs"] = "+"
        needed = act.parameters.model_fields[name].is_required()
        parser.add_argument(_flag(name), dest=name, help=_describe(schema), required=needed, **shape)
    typed = vars(parser.parse_args(given))
    return {name: _read_value(schemas[name], value) for name, value in typed.items() if value is not None}


def _properties(act: Act) -> dict[str, dict[str, Any]]:
    """The JSON schemas of its parameters, of an optional one that of its value."""
    found = act.parameters.model_json_schema().get("properties", {})
    return {name: {**(schema.get("anyOf") or [{}])[0], **schema} for name, schema in found.items()}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _describe(schema: dict[str, Any]) -> str:
    choices = "|".join(map(str, schema.get("enum", ())))
    return ": ".join(filter(None, (str(schema.get("description", "")), choices)))


def _read_value(schema: dict[str, Any], value: Any) -> Any:
    """A value as the model of the parameters takes it: objects are JSON, "-" is stdin, a file its path."""
    if isinstance(value, list):
        return [_read_json(one) if one.lstrip().startswith("{") else one for one in value]
    if schema.get("$ref", "").endswith("GivenFile"):
        path = Path(value)
        return {"name": path.name, "data": read_file(path, documents.MAX_BYTES + 1)}
    if schema.get("type") == "object" or "$ref" in schema:
        return _read_json(value)
    return sys.stdin.read() if value == "-" else value


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f'“{clip(text)}” is not JSON such as {{"steps": 20}}: {error}') from error
