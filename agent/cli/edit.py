"""`edit`: correct the facts of a run; the answer is then rewritten.

Exit codes: 0 the edit is recorded and the answer, where there was one, was rewritten; 1 rewriting failed; 2
wrong usage, nothing changed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from agent.actions import fact_edits, source_strikes, undo_edits
from agent.actions.fact_edits import FactEdit
from agent.actions.source_strikes import StrikeImpact
from agent.cli.options import RunId, require_one
from agent.cli.output import check_network, finish_edit, write_stderr, write_stdout
from agent.errors import UsageError
from agent.evidence import citation_check
from agent.evidence.support import count_support
from agent.export.escaping import to_one_line
from agent.text.plurals import format_count
from agent.text.urls import site
from agent.types import Answer, Status
from agent.workbench import RunSnapshot, Workbench

CHANGE_MARKS = {"added": "+", "removed": "-", "reworded": "~", "resourced": "~", "same": " "}


def _facts(text: str) -> Any:
    return typer.Option(metavar="FACT …", help=text)


@dataclass(frozen=True)
class EditOptions:
    """The edit to make (exactly one), and what it needs."""

    pin: Annotated[list[str] | None, _facts("use these facts although others dispute them")] = None
    strike: Annotated[list[str] | None, _facts("do not use these facts any more")] = None
    restore: Annotated[list[str] | None, _facts("neither pinned nor struck, as they were found")] = None
    strike_source: Annotated[
        str | None,
        typer.Option(metavar="SITE|URL", help="strike a source with all its facts, after a confirmation"),
    ] = None
    restore_source: Annotated[
        str | None, typer.Option(metavar="SITE|URL", help="use a struck source again")
    ] = None
    correct: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="FACT TEXT", help="correct what the fact states (with --quote: and its quote)"),
    ] = None
    add: Annotated[
        str | None, typer.Option(metavar="TEXT", help="add a fact, with --url and --quote, or with --own")
    ] = None
    undo: Annotated[bool, typer.Option("--undo", help="take back the last edit in force")] = False
    redo: Annotated[bool, typer.Option("--redo", help="repeat the edit taken back last")] = False
    url: Annotated[str, typer.Option(metavar="URL", help="the page that an added fact is on")] = ""
    quote: Annotated[str, typer.Option(metavar="WORDS", help="its words on that page")] = ""
    own: Annotated[
        bool, typer.Option("--own", help="it is your own knowledge: never counted as backed by a page")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help="strike the source without a confirmation")] = False


def run(run_id: RunId, *, edit: EditOptions) -> int:
    """Make one edit, have the answer rewritten, print what changed; returns the exit code."""
    names = ("pin", "strike", "restore", "strike_source", "restore_source", "correct", "add", "undo", "redo")
    require_one(**{name: getattr(edit, name) for name in names})
    bench = Workbench()
    before = bench.snapshot(run_id)
    if edit.strike_source and not _is_confirmed(
        source_strikes.preview_strike(before.state, edit.strike_source), yes=edit.yes
    ):
        write_stderr("touchstone: nothing was changed")
        return 2
    if edit.add and edit.url:
        check_network(bench, before.run.settings.world, before.run.settings.flow)
    step = _apply_edit(bench, run_id, edit)
    edited = bench.snapshot(run_id)
    write_stderr(f"  {step:>3}  {'; '.join(one.text for one in edited.state.edits if one.step == step)}")
    if edit.correct:
        _warn_unsupported(edited, *edit.correct)
    after = finish_edit(bench, run_id)
    if after.run.status is Status.FAILED and edited.run.status is Status.RUNNING:
        write_stderr(f"touchstone: the answer could not be rewritten: {after.run.error}")
        return 1
    write_stdout("\n".join(describe_changes(before, after)))
    return 0


def _apply_edit(bench: Workbench, run_id: str, edit: EditOptions) -> int:
    """The number of the step that records the edit."""
    if edit.undo or edit.redo:
        return (undo_edits.undo if edit.undo else undo_edits.redo)(bench, run_id)
    if edit.strike_source is not None:
        return source_strikes.strike_source(bench, run_id, edit.strike_source)
    if edit.restore_source is not None:
        return source_strikes.restore_source(bench, run_id, edit.restore_source)
    if edit.correct:
        name, text = edit.correct
        return fact_edits.revise(bench, run_id, [FactEdit(name, statement=text, quote=edit.quote or None)])
    if edit.add is not None:
        if edit.own is bool(edit.url or edit.quote):
            raise UsageError(
                "say where the fact is from: --url URL --quote WORDS, or --own for your own knowledge"
            )
        return fact_edits.add(bench, run_id, edit.add, url=edit.url, quote=edit.quote)
    if edit.pin:
        return fact_edits.mark(bench, run_id, edit.pin, "pinned")
    if edit.strike:
        return fact_edits.mark(bench, run_id, edit.strike, "struck")
    return fact_edits.mark(bench, run_id, edit.restore or [], "none")


def _warn_unsupported(edited: RunSnapshot, name: str, text: str) -> None:
    if bare := fact_edits.find_unsupported_facts(edited, [FactEdit(name, statement=text)]):
        write_stderr(
            "       The quote does not support this statement, so no page backs it any more: "
            f"“{to_one_line(bare[0].quote)}”"
        )
        write_stderr(
            "       Correct the quote too (--quote WORDS), pin the fact to use it as your own word, or take "
            "the "
            "correction back (--undo)."
        )


def _is_confirmed(impact: StrikeImpact, *, yes: bool) -> bool:
    """Shows what a strike removes, and asks; without a terminal only --yes confirms. Raises UsageError."""
    write_stderr(
        f"{format_count(len(impact.facts), 'fact')} of {impact.source} will be struck, and so will what is "
        "read there later"
    )
    for sentences, fate in ((impact.sentences, "fall"), (impact.weakened, "lose a source, but not the last")):
        if sentences:
            write_stderr(f"these sentences of the answer {fate}:")
        for sentence in sentences:
            write_stderr(f"  - {to_one_line(sentence.text)}")
    if not impact.sentences + impact.weakened:
        write_stderr("no sentence of the answer rests on it")
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to confirm on: add --yes to strike it")
    write_stderr("Strike it? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def describe_changes(before: RunSnapshot, after: RunSnapshot) -> list[str]:
    """The effect of the edit: the changes of the answer, its verdict, the confidence."""
    old, new = before.state.answer, after.state.answer
    level = f"confidence {before.state.current_confidence:.2f} -> {after.state.current_confidence:.2f}"
    if new is None or old is None or new.n == old.n:
        return [level]
    changes = [
        f"{CHANGE_MARKS[change.kind]} {to_one_line(sentence.text)}{_format_sources(change.kind, new)}"
        for change in citation_check.diff_answers(old, new)
        if change.kind != "same" and (sentence := change.new or change.old)
    ]
    head = f"answer {new.n}: {new.verdict}, {count_support(new) or 'no statement'}, {level}"
    return [head, *(changes or ["the answer says the same"])]


def _format_sources(kind: str, answer: Answer) -> str:
    names = ", ".join(dict.fromkeys(site(source.url) or source.title for source in answer.sources))
    return f"  (other sources: {names})" if kind == "resourced" else ""
