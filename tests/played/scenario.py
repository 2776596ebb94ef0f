"""Drives a scenario of `scenarios.json` with whatever model the workbench has, and tells what came out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.bot.responder import ReplyService
from agent.reply_config import AIResponseSettings, KBSettings, ResponseConfig
from agent.types import Answer, ModelCall, Sentence, Settings, Status
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench

FOLDER = Path(__file__).parent
WORLD, KB, REPLIES = FOLDER / "world", FOLDER / "kb", FOLDER / "replies"
RESTING = (Status.REVIEW, Status.DONE, Status.STOPPED, Status.FAILED, Status.PAUSED)


@dataclass
class Scenario:
    """One line of `scenarios.json`. `gold` holds groups of spellings: each group must occur in the answer;
    without any the right outcome is that nothing is answered."""

    id: str
    kind: str
    flow: str
    question: str
    play: str = "honest"
    start_urls: list[str] = field(default_factory=list)
    follow_up: str = ""
    send_back: str = ""
    respond: str = ""
    gold: list[list[str]] = field(default_factory=list)


@dataclass
class Outcome:
    """What a person would see at the end, and what it took."""

    text: str
    sentences: list[Sentence]
    verdict: str
    confidence: float
    calls: list[ModelCall]

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
    if scenario.flow == "chat":
        bench.library.add_folder(KB)
    settings: dict[str, Any] = {"flow": scenario.flow, "model": model, "start_urls": scenario.start_urls}
    settings["world"] = "live" if scenario.flow == "chat" else str(WORLD)
    run_id = bench.start(scenario.question, Settings(**settings))
    runs = [run_id]
    _drive(bench, run_id, watch)
    if scenario.respond and bench.snapshot(run_id).run.status is Status.WAITING:
        runs.append(bench.send_chat_message(run_id, scenario.respond))
        _drive(bench, runs[-1], watch)
    if scenario.send_back:
        bench.send_back(run_id, bench.snapshot(run_id).head, scenario.send_back)
        _drive(bench, run_id, watch)
    if scenario.follow_up:
        runs.append(bench.follow_up(run_id, scenario.follow_up))
        _drive(bench, runs[-1], watch)
    runs = list(dict.fromkeys(runs))
    view = bench.snapshot(runs[-1])
    answer = view.state.answer or Answer(n=0, verdict="no_evidence")
    calls = [call for run in runs for call in bench.calls(run)]
    return Outcome(
        answer.text or answer.certainty, answer.sentences, answer.verdict, answer.confidence, calls
    )


def _drive(bench: Workbench, run_id: str, watch: Callable[[str], None]) -> None:
    bench.drive(run_id)
    view = bench.snapshot(run_id)
    watch(f"{run_id}: {view.run.status}, {view.head} steps {view.run.error}")


def _drive_reply(bench: Workbench, scenario: Scenario, model: str) -> Outcome:
    stored = ResponseConfig(AIResponseSettings(store_conversations=True), KBSettings())
    service = ReplyService(bench, kb=KB, response=stored)
    try:
        messages = [Message(role="user", text=scenario.question)]
        outcome = service.reply(Conversation(messages=messages), model=model)
        view = bench.snapshot(outcome.run_id)
        answer = view.state.answer
        text = outcome.result.reply_text
        return Outcome(
            text,
            answer.sentences if answer and text else [],
            answer.verdict if answer and text else "",
            answer.confidence if answer and text else 0.0,
            bench.calls(outcome.run_id),
        )
    finally:
        service.close()
