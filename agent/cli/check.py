"""`check`: whether quotes support statements, for a file of them. `check-text`: each claim of a report or
article against the sources it cites.

Exit codes of `check`: 0 every line was checked, whatever the verdicts; 1 the model that was asked did not
judge all; 2 wrong usage, a missing, empty or faulty file."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from argparse import Namespace
from collections import Counter
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from agent import api
from agent.cli import options
from agent.cli.options import command, count, file_option, flag, limit, option, read_settings
from agent.cli.output import drive_run, read_file, to_json, write_file, write_run, write_stderr, write_stdout
from agent.errors import UsageError, describe_faults
from agent.evidence.claim_check import Claim, ClaimCheck, check_claims, describe_finding
from agent.roles.check_claims import ClaimJudge
from agent.settings.config import read_config
from agent.text.plurals import clip, format_count
from agent.text.urls import canonicalize, complete_typed_url
from agent.types import MARK_SIGNS, Status
from agent.web import mime
from agent.web.extract import documents
from agent.workbench import Workbench

EXPECTED = 'expected {"id": …, "quote": "…", "statement": "…"} and, if there is one, "question": "…"'


@command(
    file_option("file FILE.jsonl", 'a JSON object a line: id, quote, statement, question; ".gz" too'),
    option("--model keyless|NAME", "the model that judges [default: keyless]", default="keyless"),
    options.JSON_FILE,
)
def check(args: Namespace) -> int:
    """Check each line and print its verdict and reason, a JSON object a line; returns the exit code."""
    claims = read_claims(args.file)
    ask = api.make_ask(args.model, read_config())
    judge = ClaimJudge(lambda role, **blanks: role.judge(ask, **blanks)) if ask else None
    checks = check_claims(list(claims.values()), judge)
    rows = [
        {"id": id, "verdict": check.verdict, "reason": explain(check)}
        for id, check in zip(claims, checks, strict=True)
    ]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    if args.json_file is None:
        write_stdout(lines)
    else:
        write_file(args.json_file, lines if args.json_file.suffix == ".jsonl" else to_json(rows))
    counts = Counter(check.verdict for check in checks)
    write_stderr(", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    if judge and judge.failures:
        why = next(iter(judge.failures.values()))
        write_stderr(f"{format_count(len(judge.failures), 'claim')} not judged: {why}")
    return 1 if judge and judge.failures else 0


class ClaimRow(BaseModel):
    """A line of the file."""

    id: str | int
    quote: str
    statement: str = Field(min_length=1)
    question: str | None = None


def read_claims(file: Path) -> dict[str, Claim]:
    """The claims of a file by their ids, in order. Raises UsageError, naming the line that is wrong."""
    claims: dict[str, Claim] = {}
    raw = read_file(file)
    try:
        text = (gzip.decompress(raw) if file.suffix == ".gz" else raw).decode("utf-8-sig")
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file} is not UTF-8 text, or such a text packed as .gz: {error}") from error
    for n, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = ClaimRow.model_validate_json(line)
        except ValidationError as error:
            raise UsageError(f"{file}, line {n}: {describe_faults(error)}; {EXPECTED}") from error
        id = str(row.id)
        if id in claims:
            raise UsageError(f"{file}, line {n}: the id “{clip(id)}” was used before; give each line its own")
        quotes = (row.quote,) if row.quote.strip() else ()
        claims[id] = Claim(str(n), row.statement, quotes, question=row.question or "")
    if not claims:
        raise UsageError(f"{file} holds no claim; {EXPECTED}, one a line")
    return claims


def explain(check: ClaimCheck) -> str:
    """Why it has its verdict: the judge's words or the calculation, and what code found."""
    if check.verdict == "quoted":
        return "It stands in one stretch of the quote, spelled otherwise at most."
    if check.verdict in ("differs", "not_checked"):
        parts = [f"The quotes give {check.reason}."] if check.reason else []
        parts += map(describe_finding, check.findings)
        parts += ["Nobody judged its meaning."] if check.verdict == "not_checked" else []
    else:
        parts = [check.reason, *(describe_finding(found) for found in check.findings if found.is_absent)]
    return " ".join(filter(None, parts)) or "There is no quote."


@command(
    option("text FILE|URL|-", "a document (Markdown, DOCX, PDF, HTML …), an address, or - for stdin"),
    flag("--search", "search for claims that cite no source", dest="check_text.search_missing"),
    limit("--max-pages N", "sources fetched", "check_text.max_pages", count),
    flag("--problems", "list only claims to look at: no support, no source, or a difference"),
    options.ALLOW,
    *options.SEARCH_SOURCES,
    options.WORLD,
    options.MODEL,
    *options.OUTPUT_FILES,
)
def check_text(args: Namespace) -> int:
    """Check the text, print the summary and the marks, write the files asked for; returns the exit code."""
    settings, text, path = read_settings(args, flow="check_text"), args.text, Path(args.text)
    bench, most, is_named = Workbench(), documents.MAX_BYTES + 1, mime.read_ending(text) in mime.BY_ENDING
    if text == "-":
        run_id = api.start_text_check(bench, api.PASTED_NAME, sys.stdin.buffer.read(most), settings)
    elif path.is_file() or (text == path.name and is_named) or not canonicalize(complete_typed_url(text)):
        run_id = api.start_text_check(bench, path.name, read_file(path, most), settings)
    else:
        run_id = api.start_address_check(bench, text, settings)
    view = drive_run(bench, run_id, ends=(Status.DONE,))
    checked = view.state.own.checked_text(view.state) if view else None
    if view is None or checked is None:
        why = view.state.answer.certainty if view and view.state.answer else ""
        if why:
            raise UsageError(why)
        return 1
    lines = [checked.summary, *([f"Ended early: {checked.why_stopped}."] if checked.why_stopped else []), ""]
    for one in checked.claims:
        if one.mark and (one.is_problem or not args.problems):
            lines.append(f"{MARK_SIGNS[one.mark]} {one.label}: {one.sentence.text}")
            lines += [f"    overruled by a person: {one.overruled}"] if one.overruled else []
            lines += [f"    {one.reason}"] if one.reason else []
            quoted = " ".join(one.closest.split())
            lines += [f"    “{quoted}” ({one.facts[0].url})"] if one.closest else []
    write_stdout("\n".join(lines).rstrip())
    write_run(bench, run_id, args)
    return 0
