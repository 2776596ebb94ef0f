"""How a command reports: progress on stderr, the answer on stdout, files where asked."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Collection
from pathlib import Path
from typing import Any

from agent.actions.export import export_run
from agent.engine.run_settings import continue_settings
from agent.errors import TouchstoneError, UsageError
from agent.export.plain import render_plain_text
from agent.flows import FLOWS
from agent.llm.recorded import NOTE, RECORDED
from agent.types import Settings, Status
from agent.workbench import RunSnapshot, Workbench

NO_NETWORK = (
    "there is no network; try the bundled world with --world demo, or --world DIR with docs.jsonl in DIR"
)


def write_stderr(line: str) -> None:
    """One line on stderr, unless that is closed."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def write_stdout(text: str, end: str = "\n") -> None:
    """The result on stdout, if open. Raises BrokenPipeError without a reader, TouchstoneError otherwise."""
    try:
        print(text, end=end, flush=True)
    except OSError as error:
        sys.stdout = None  # type: ignore[assignment]  # else what is left in it fails once more at the end
        if isinstance(error, BrokenPipeError):
            raise
        raise TouchstoneError(
            f"the result could not be printed: {error.strerror}; the run is kept, `runs` lists it"
        ) from error


def to_json(value: Any) -> str:
    """Indented JSON with letters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def write_file(path: Path, content: str | bytes) -> None:
    """A file, its folder made; text gets a line end. Raises UsageError when it cannot be written."""
    folder = "" if path.parent.is_dir() else ", in a new folder"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else f"{content}\n".encode())
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}; the run is kept, `export` writes it elsewhere"
        ) from error
    write_stderr(f"wrote {path}{folder}")


def read_file(path: Path, most: int = -1) -> bytes:
    """The bytes of a file, at most `most`. Raises UsageError when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def check_network(bench: Workbench, world: str, flows: Collection[str]) -> None:
    """Raises TouchstoneError when one of the flows searches the live web and there is no network. Others need
    no search engine: the pages that a person names may be on the person's own network."""
    if world == "live" and "research" in flows and not bench.worker.world("live").is_reachable():
        raise TouchstoneError(NO_NETWORK)


def follow_up(bench: Workbench, run_id: str, question: str, given: Settings) -> str:
    """A further question, or answer, in the thread of a run: only what was typed differs from the thread, and
    another model or server than it had is used only when one was typed. Raises UsageError."""
    run_id = (bench.thread(run_id) or [run_id])[-1]
    previous = bench.snapshot(run_id).run.settings
    if "model" not in given.model_fields_set:
        check_same_model(bench, previous)
    check_network(bench, continue_settings(previous, given).world, [previous.flow])
    ask = bench.send_chat_message if given.flow == "chat" else bench.follow_up
    return ask(run_id, question, given)


def check_same_model(bench: Workbench, settings: Settings) -> None:
    """Raises UsageError where a run with these settings had another model or server than is set up now."""
    if settings.model != "keyless" and settings.served_by:
        bench.worker.model_search.find()
    if told := bench.explain_other_model(settings):
        raise UsageError(f"{told} Type --model auto to go on with it, or --model keyless for no model.")


def drive_run(
    bench: Workbench, run_id: str, *, after: int = 0, ends: Collection[Status] = (Status.REVIEW, Status.DONE)
) -> RunSnapshot | None:
    """Drive a run and report its steps behind `after`, and its question as completed in a thread; the run
    with its answer, or None when it did not reach one (stderr says why)."""
    write_stderr(f"run {run_id}")
    settings, last, said = bench.snapshot(run_id).run.settings, after, ""
    if settings.model == RECORDED:
        write_stderr(NOTE)
    elif missing := bench.worker.model_client(settings.model)[1]:
        write_stderr(f"touchstone: {missing}")

    def tell() -> None:
        nonlocal last, said
        view = bench.snapshot(run_id)
        for step in view.steps[last + 1 :]:
            if line := FLOWS[settings.flow].describe(step):
                judged = (p for p in view.state.confidence if p.step == step.n and p.model is not None)
                level = "".join(f", confidence {point.value:.2f}" for point in judged)
                write_stderr(f"  {step.n:>3}  {line}{level}")
        last = len(view.steps) - 1
        if view.state.standalone_question not in ("", said):
            said = view.state.standalone_question
            write_stderr(f"       Read as: {said}")

    status = bench.drive(run_id, watch=tell)
    view = bench.snapshot(run_id)
    unread = view.run.settings.world == "live" and [not page.page_id for page in view.state.pages.values()]
    if unread and all(unread) and not bench.worker.world("live").is_reachable():
        write_stderr(f"touchstone: {NO_NETWORK}")
    if status in ends and view.state.answer is not None:
        return view
    halt = view.state.halt
    why = view.run.error or (halt.why if halt else "it did not reach an answer")
    if halt and halt.kind == "recorded":
        why += f" `./touchstone act {run_id} drop_model` shows them."
    write_stderr(f"touchstone: the run is {status.value}: {why}")
    return None


def drive_and_print(bench: Workbench, run_id: str, args: Namespace, *, after: int = 0) -> int:
    """Drive a run, print its answer, and write the files that OUTPUT_FILES ask for; returns the exit code."""
    view = drive_run(bench, run_id, after=after)
    if view is None or view.state.answer is None:
        return 1
    write_stdout(render_plain_text(view.state.answer))
    write_run(bench, run_id, args)
    return 0


def write_run(bench: Workbench, run_id: str, args: Namespace) -> None:
    """Write the files of a run that OUTPUT_FILES ask for."""
    if file := getattr(args, "json_file", None):
        write_file(file, to_json(bench.as_json(run_id)))
    if file := getattr(args, "markdown_file", None):
        write_file(file, export_run(bench, run_id, "md").decode())
