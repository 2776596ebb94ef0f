"""Replays a recorded run on a workbench of its own: each role gets the replies it was given when the run was
played, in their order; where a step asks a role several times side by side, each prompt gets the reply whose
`cue` stands in it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agent.errors import ModelUnavailable
from agent.llm.detect import ReplyModel
from agent.types import ModelCall
from agent.workbench import Workbench
from tests.played.scenario import REPLIES, Outcome, Scenario, drive_scenario
from tests.web.scripted import ScriptedModel

SIDE_BY_SIDE = ("section", "report", "analyzer")
"""The roles that one step may ask several times at once: sections, pieces of a revision, groups of pages."""
PROMPTS = Path(__file__).parents[2] / "prompts"


Alter = Callable[[str, list[dict[str, Any]], str], str]
"""Given a role, its messages and the recorded reply ("" when none is left), the reply it gets ("": none)."""


def keep_reply(role: str, messages: list[dict[str, Any]], reply: str) -> str:
    """The recorded reply as it is."""
    return reply


def replay(scenario: Scenario, alter: Alter = keep_reply) -> Outcome:
    """What comes out of the scenario with the recorded replies; a role without one left has no model."""
    replies: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in (REPLIES / f"{scenario.id}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        replies[row["role"]].append(row)

    def answer(messages: list[dict[str, Any]], schema: object) -> str | Exception:
        role = find_role(str(messages[0]["content"]))
        reply = alter(role, messages, _take_reply(replies[role], messages))
        return reply or ModelUnavailable("no recorded reply is left for this role")

    model = ScriptedModel(answer)
    bench = Workbench()
    with (
        patch.object(bench.worker, "model_client", lambda name, fast="": (model, "")),
        patch.object(ReplyModel, "client", lambda self, name="auto": (model, "")),
    ):
        try:
            return drive_scenario(bench, scenario, watch=lambda line: None)
        finally:
            bench.shutdown()


def record_replies(calls: Sequence[ModelCall]) -> list[dict[str, str]]:
    """The replies of a run's calls as rows: role, reply and, where a step asked several at once, a `cue`: the
    first line of its prompt that no other of these prompts has."""
    rows = []
    for call in calls:
        place = (call.run_id, call.step, call.role)
        beside = [other for other in calls if (other.run_id, other.step, other.role) == place]
        seen = Counter(line for other in beside for line in set(_list_lines(other.prompt)))
        own = [line for line in _list_lines(call.prompt) if seen[line] == 1 < len(beside)]
        cue = {"cue": own[0]} if own and call.role in SIDE_BY_SIDE else {}
        rows.append({"role": call.role, **cue, "reply": call.reply})
    return rows


def _list_lines(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [line for message in messages for line in str(message["content"]).splitlines() if line.strip()]


def _take_reply(rows: list[dict[str, str]], messages: Sequence[dict[str, Any]]) -> str:
    """The first reply left whose cue stands in the prompt, else the first; "" when none is left."""
    lines = {"", *_list_lines(messages)}
    row = next((row for row in rows if row.get("cue", "") in lines), next(iter(rows), None))
    if row is None:
        return ""
    rows.remove(row)
    return row["reply"]


def find_role(system: str) -> str:
    """The role whose prompt this is, by the longest opening words that it has in common with a prompt file."""
    return max(_openings(), key=lambda role: _openings()[role] in system and len(_openings()[role]))


@cache
def _openings() -> dict[str, str]:
    known = {}
    for path in PROMPTS.glob("*.md"):
        system = path.read_text("utf-8").split("<!-- system -->")[1].split("<!-- user -->")[0]
        plain = [line for line in system.splitlines() if line.strip() and not re.match(r"\s*\{", line)]
        known[path.stem] = re.split(r"[{]", plain[0])[0].strip()
    return known
