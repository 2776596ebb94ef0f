"""Drives a scenario of `scenarios.json` with whatever model the workbench has, and tells what came out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent import api
from agent.bot.responder import ReplyService
from agent.engine.snapshots import RunSnapshot
from agent.settings.reply_config import AIResponseSettings, ResponseConfig
from agent.types import Answer, ModelCall, Sentence, Settings, Status
from agent.types.library import LibraryScope
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench
from tests.played.outcome import describe_turn

FOLDER = Path(__file__).parent
KB, FILES, REPLIES = FOLDER / "kb", FOLDER / "files", FOLDER / "replies"


@dataclass
class Scenario:
    """One line of `scenarios.json`. `acts` are what a person does after the first answer, each a name of ACTS
    with its words; `files` are added to the library and talked about; `world` is a folder beside this file.
    The question of a text check names the file. `gold` holds groups of spellings: each group must occur in the
    last answer; without any the right outcome is that nothing is answered."""

    id: str
    kind: str
    flow: str
    question: str
    play: str = "honest"
    world: str = "world"
    length: str = "standard"
    start_urls: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    acts: list[list[str]] = field(default_factory=list)
    gold: list[list[str]] = field(default_factory=list)


@dataclass
class Outcome:
    """What a person would see at the end, what it took, and what each turn came to (see `describe_turn`)."""

    text: str
    sentences: list[Sentence]
    verdict: str
    confidence: float | None
    calls: list[ModelCall]
    turns: list[dict[str, Any]]

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens of all calls."""
        return sum(call.prompt_tokens + call.completion_tokens for call in self.calls)

    def is_right(self, gold: list[list[str]]) -> bool:
        """Whether each group of gold spellings occurs; without gold, whether nothing was answered."""
        if not gold:
            return self.verdict in ("no_evidence", "")
        return all(
            any(re.search(rf"(?<!\d){re.escape(s)}", self.text, re.I) for s in group) for group in gold
        )


def load_scenarios() -> list[Scenario]:
    """All scenarios, in the order of the file."""
    return [Scenario(**given) for given in json.loads((FOLDER / "scenarios.json").read_text("utf-8"))]


def drive_scenario(
    bench: Workbench, scenario: Scenario, *, model: str = "auto", watch: Callable[[str], None] = print
) -> Outcome:
    """Run the scenario to its end on a workbench of its own."""
    if scenario.flow == "reply":
        return _drive_reply(bench, scenario, model)
    runs = [_start(bench, scenario, model)]
    turns = [_drive(bench, runs[-1], "start", watch)]
    for name, *words in scenario.acts:
        view = bench.snapshot(runs[-1])
        if name == "say" and view.run.status is not Status.WAITING:
            continue  # the model asked nothing
        runs.append(ACTS[name](bench, view, *words))
        turns.append(_drive(bench, runs[-1], f"{name}: {' | '.join(words)}", watch))
    answer = bench.snapshot(runs[-1]).state.answer or Answer(n=0, verdict="no_evidence")
    calls = [call for run in dict.fromkeys(runs) for call in bench.calls(run)]
    text = answer.text or answer.certainty
    return Outcome(text, answer.sentences, answer.verdict, answer.confidence, calls, turns)


def _send_back(bench: Workbench, view: RunSnapshot, note: str) -> str:
    bench.act(view.run.id, "send_back", view.head, note=note)
    return view.run.id


def _comment(bench: Workbench, view: RunSnapshot, target: str, text: str) -> str:
    bench.act(view.run.id, "comment", view.head, target=target, text=text)
    return view.run.id


def _exclude(bench: Workbench, view: RunSnapshot, source: str) -> str:
    bench.act(view.run.id, "strike_source", view.head, source=source)
    return view.run.id


def _choose_length(bench: Workbench, view: RunSnapshot, length: Any) -> str:
    bench.act(view.run.id, "rewrite", view.head, length=length)
    return view.run.id


ACTS: dict[str, Callable[..., str]] = {
    "send_back": _send_back,
    "comment": _comment,
    "exclude": _exclude,
    "length": _choose_length,
    "follow_up": lambda bench, view, text: bench.follow_up(view.run.id, text),
    "say": lambda bench, view, text: bench.send_chat_message(view.run.id, text),
}
"""What a person does with the run that is shown, through the facade as the screens do it; each returns the id
of the run that goes on."""


def _start(bench: Workbench, scenario: Scenario, model: str) -> str:
    given: dict[str, Any] = {"flow": scenario.flow, "model": model, "start_urls": scenario.start_urls}
    given |= {"world": str(FOLDER / scenario.world), "report": scenario.length}
    if scenario.flow == "chat":
        bench.library.add_folder(KB)
        added = [bench.library.add_file(name, (FILES / name).read_bytes()) for name in scenario.files]
        scope = LibraryScope(source_ids=[source.source_id for source in added])
        given |= {"world": "live", "scope": scope}
    if scenario.flow == "check_text":
        data = (FILES / scenario.question).read_bytes()
        return api.start_text_check(bench, scenario.question, data, Settings(**given))
    return bench.start(scenario.question, Settings(**given))


def _drive(bench: Workbench, run_id: str, act: str, watch: Callable[[str], None]) -> dict[str, Any]:
    bench.drive(run_id)
    view = bench.snapshot(run_id)
    watch(f"{run_id}: {view.run.status}, {view.head} steps {view.run.error}")
    return describe_turn(act, view)


def _drive_reply(bench: Workbench, scenario: Scenario, model: str) -> Outcome:
    stored = ResponseConfig(ai_response=AIResponseSettings(store_conversations=True))
    service = ReplyService(bench, kb=KB, response=stored)
    try:
        messages = [Message(role="user", text=scenario.question)]
        outcome = service.reply(Conversation(messages=messages), model=model)
        view = bench.snapshot(outcome.run_id)
        text = outcome.result.reply_text
        answer = view.state.answer if text and view.state.answer else Answer(n=0, verdict="no_evidence")
        calls, turns = bench.calls(outcome.run_id), [describe_turn("start", view)]
        verdict = answer.verdict if text else ""
        return Outcome(text, answer.sentences, verdict, answer.confidence, calls, turns)
    finally:
        service.close()
