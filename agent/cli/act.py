"""`act`: do with a run what the screens can do, by the table of acts.

Exit codes: 0 it is done, and the run went on as far as it goes by itself; 1 the run failed then; 2 wrong
usage, nothing changed."""

from __future__ import annotations

import json
import sys
from argparse import REMAINDER, ArgumentParser, BooleanOptionalAction, Namespace
from pathlib import Path
from typing import Any

from agent.actions import acts
from agent.actions.acts import Act
from agent.actions.erase_note import ERASED, list_private
from agent.cli.main import PROGRAM
from agent.cli.options import RUN_ID, command, option
from agent.cli.output import drive_run, read_file, write_stderr, write_stdout
from agent.errors import UsageError
from agent.evidence.citation_check import diff_answers
from agent.export.escaping import to_one_line
from agent.export.plain import render_plain_text
from agent.text.plurals import clip, format_count
from agent.types import STATUS_PHRASES, Status
from agent.web.extract import documents
from agent.workbench import Workbench

CHANGE_MARKS = {"added": "+", "removed": "-", "reworded": "~", "resourced": "~"}


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
                write_stdout(f"    --{name.replace('_', '-')}  {_describe(schema)}{needed}")
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
        reached = drive_run(bench, run_id, after=after.head)
        after = reached or bench.snapshot(run_id)
        if reached is None and after.run.status is not Status.WAITING:
            return 1
    write_stderr(f"run {run_id} is {STATUS_PHRASES[after.run.status]}")
    old, new = before.state.answer, after.state.answer
    if new is not None and new != old:
        write_stdout(render_plain_text(new))
    if new is not None and old not in (None, new):
        changes = diff_answers(old, new)
        for change in changes:
            if change.kind != "same":
                former, now = (to_one_line(said.text) if said else "" for said in (change.old, change.new))
                both = f"{former} → {now}" if change.kind == "reworded" else now or former
                write_stderr(f"{CHANGE_MARKS[change.kind]} {both}")
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
        field = act.parameters.model_fields[name]
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            help=_describe(schema),
            required=field.is_required(),
            default=None,
            **shape,
        )
    typed = vars(parser.parse_args(given))
    return {name: _read_value(schemas[name], value) for name, value in typed.items() if value is not None}


def _properties(act: Act) -> dict[str, dict[str, Any]]:
    """The JSON schemas of its parameters, of an optional one that of its value."""
    found = act.parameters.model_json_schema().get("properties", {})
    return {name: {**(schema.get("anyOf") or [{}])[0], **schema} for name, schema in found.items()}


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
