"""`facts` and `edit`: list what a run knows, and correct it; the answer is then written anew. Knows options
and wording.

Exit codes of `edit`: 0 the edit stands and the answer, where there was one, was written anew; 1 that failed;
2 wrong usage, nothing changed."""

from __future__ import annotations

import argparse
import json
import sys

from agent.actions import fact_edits
from agent.actions.fact_changes import FactEdit, StrikeImpact
from agent.cli.output import check_network, write_stderr, write_stdout
from agent.errors import UsageError
from agent.evidence import citation_check
from agent.flows.shared import fact_view
from agent.flows.shared.fact_filter import FACT_STATUSES, FactFilter, fact_statuses, filter_facts
from agent.text.plurals import format_count
from agent.text.urls import site
from agent.types import Answer, Fact, Status
from agent.workbench import RunSnapshot, Workbench

CHANGE_MARKS = {"added": "+", "removed": "-", "reworded": "~", "resourced": "~"}


def add_facts_options(parser: argparse.ArgumentParser) -> None:
    """The options of `facts`."""
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--find", default="", metavar="WORDS", help="only those with all these words")
    parser.add_argument("--source", default="", metavar="SITE|URL", help="only those of this site or page")
    parser.add_argument("--step", type=int, default=-1, metavar="N", help="only those found by this step")
    parser.add_argument(
        "--status",
        default="",
        choices=FACT_STATUSES,
        metavar="STATUS",
        help="only those that stand so: one of %(choices)s",
    )
    parser.add_argument("--json", action="store_true", help="tell them as JSON")


def run_facts(options: argparse.Namespace) -> int:
    """List the facts of a run, newest first; returns the exit code."""
    view = Workbench().snapshot(options.run)
    found = filter_facts(
        fact_view.all_facts(view.state),
        FactFilter(options.find, options.source, options.step, options.status),
    )
    if options.json:
        write_stdout(
            json.dumps(
                [fact.model_dump(mode="json") | {"marks": fact_statuses(fact)} for fact in found],
                ensure_ascii=False,
                indent=1,
            )
        )
        return 0
    for fact in found:
        for line in format_fact(fact):
            write_stdout(line)
    write_stderr(f"{len(found):,} of {len(view.state.facts):,} facts")
    return 0


def format_fact(fact: Fact) -> list[str]:
    """A fact for a person: how it stands and what it says, then the words it stands on."""
    told = [
        f"{fact.id}  step {fact.step}  {', '.join(fact_statuses(fact))}  {site(fact.url) or fact.origin}",
        f"    {_one_line(fact.statement)}",
    ]
    told += [f"    “{_one_line(fact.quote)}”"] if fact.quote != fact.statement else []
    return told + ([f"    before its correction: {_one_line(fact.former)}"] if fact.former else [])


def add_edit_options(parser: argparse.ArgumentParser) -> None:
    """The options of `edit`."""
    parser.add_argument("run", metavar="RUN")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--pin", nargs="+", metavar="FACT", help="these count, whatever disputes them")
    what.add_argument("--strike", nargs="+", metavar="FACT", help="these count no more")
    what.add_argument(
        "--restore", nargs="+", metavar="FACT", help="as they were found: neither pinned nor struck"
    )
    what.add_argument(
        "--strike-source", metavar="SITE|URL", help="strike a source with all its facts, after asking"
    )
    what.add_argument("--restore-source", metavar="SITE|URL", help="take a struck source in again")
    what.add_argument(
        "--correct",
        nargs=2,
        metavar=("FACT", "TEXT"),
        help="what the fact states is this (with --quote: on these words)",
    )
    what.add_argument("--add", metavar="TEXT", help="a further fact, with --url and --quote, or with --own")
    what.add_argument("--undo", action="store_true", help="take back the last edit that stands")
    what.add_argument("--redo", action="store_true", help="do again what was taken back last")
    parser.add_argument("--url", default="", metavar="URL", help="the page it stands on")
    parser.add_argument("--quote", default="", metavar="WORDS", help="the words as they stand there")
    parser.add_argument(
        "--own", action="store_true", help="it is your own knowledge: never counted as backed by a page"
    )
    parser.add_argument("--yes", action="store_true", help="strike the source without being asked")


def run_edit(options: argparse.Namespace) -> int:
    """Make one edit, have the answer written anew, tell what changed; returns the exit code."""
    bench = Workbench()
    before = bench.snapshot(options.run)
    if options.strike_source and not _is_confirmed(
        options, fact_edits.preview_strike(before, options.strike_source)
    ):
        write_stderr("touchstone: nothing was changed")
        return 2
    if options.add and options.url:
        check_network(bench, before.run.settings.world)
    step = _apply_edit(bench, before, options)
    edited = bench.snapshot(options.run)
    write_stderr(f"  {step:>3}  {'; '.join(edit.text for edit in edited.state.edits if edit.step == step)}")
    if options.correct and (
        bare := fact_edits.find_unsupported_facts(
            edited, [FactEdit(options.correct[0], statement=options.correct[1])]
        )
    ):
        write_stderr(
            f"       The quote does not carry these words, so no page backs them any more: “{_one_line(bare[0].quote)}”"
        )
        write_stderr(
            "       Correct the quote too (--quote WORDS), pin the fact to have it told as your word, or take it back (--undo)."
        )
    status = bench.drive(options.run) if edited.run.status is Status.RUNNING else edited.run.status
    after = bench.snapshot(options.run)
    if status is Status.FAILED and edited.run.status is Status.RUNNING:
        write_stderr(f"touchstone: the answer could not be written anew: {after.run.error}")
        return 1
    for line in describe_changes(before, after):
        write_stdout(line)
    return 0


def _apply_edit(bench: Workbench, view: RunSnapshot, options: argparse.Namespace) -> int:
    run_id = view.run.id
    if options.undo or options.redo:
        return (fact_edits.undo if options.undo else fact_edits.redo)(bench, run_id)
    if options.strike_source:
        return fact_edits.strike_source(bench, run_id, options.strike_source)
    if options.restore_source:
        return fact_edits.restore_source(bench, run_id, options.restore_source)
    if options.correct:
        name, text = options.correct
        return fact_edits.revise(bench, run_id, [FactEdit(name, statement=text, quote=options.quote or None)])
    if options.add:
        if options.own is bool(options.url or options.quote):
            raise UsageError(
                "say where the fact is from: --url URL --quote WORDS, or --own for your own knowledge"
            )
        return fact_edits.add(bench, run_id, options.add, url=options.url, quote=options.quote)
    decision = "pinned" if options.pin else "struck" if options.strike else "none"
    return fact_edits.mark(bench, run_id, options.pin or options.strike or options.restore, decision)  # type: ignore[arg-type]


def _is_confirmed(options: argparse.Namespace, fall: StrikeImpact) -> bool:
    """Tell what falls with a source, and ask; where nobody can answer, only --yes agrees."""
    write_stderr(
        f"{format_count(len(fall.facts), 'fact')} of {fall.source} will be struck, and so will what is read there later"
    )
    for sentences, become in ((fall.sentences, "fall"), (fall.weakened, "lose a source, but not the last")):
        if sentences:
            write_stderr(f"these sentences of the answer {become}:")
        for sentence in sentences:
            write_stderr(f"  - {_one_line(sentence.text)}")
    if not fall.sentences + fall.weakened:
        write_stderr("no sentence of the answer rests on it")
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("nobody is there to be asked: add --yes to strike it")
    write_stderr("Strike it? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def describe_changes(before: RunSnapshot, after: RunSnapshot) -> list[str]:
    """What the edit led to: the answer's changes, its verdict, the confidence."""
    old, new = before.state.answer, after.state.answer
    level = f"confidence {before.state.current_confidence:.2f} -> {after.state.current_confidence:.2f}"
    if new is None or old is None or new.n == old.n:
        return [level]
    changed = [change for change in citation_check.diff_answers(old, new) if change.kind != "same"]
    said = [
        f"{CHANGE_MARKS[c.kind]} {_one_line(sentence.text)}{_format_sources(c.kind, new)}"
        for c in changed
        if (sentence := c.new or c.old)
    ]
    counts = new.statements
    head = f"answer {new.n}: {new.verdict}, {counts.backed} of {counts.backed + counts.unsupported} statements backed by a page, {level}"
    return [head, *(said or ["the answer says the same"])]


def _format_sources(kind: str, answer: Answer) -> str:
    named = ", ".join(dict.fromkeys(site(source.url) or source.title for source in answer.sources))
    return f"  (other sources: {named})" if kind == "resourced" else ""


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
