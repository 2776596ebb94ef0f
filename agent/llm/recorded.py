"""A model whose replies were recorded: it answers the examples of the demo without a server and a key.

A reply is found by its role, by what fills the role's prompt (`filling`: the prompt without the words of
its file, its mark and its long ids), and by how many replies to that prompt were refused before. So another
wording of a prompt keeps its replies, and another state of a run finds none. `bench/record.py` records
them."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from agent.errors import ModelUnavailable, NotRecorded
from agent.llm.model import Completion, CompletionRequest, Tier, estimate_tokens, measure_prompt
from agent.settings.config import ROOT
from agent.types import Settings

RECORDED = "recorded"
"""The `model` of a run that recorded replies answer."""
LABEL = "recorded model"
NOTE = "A recorded model: the replies of a strong model to this example were recorded for the demo."
EXAMPLES, REPLIES = ROOT / "demo" / "examples.json", ROOT / "demo" / "replies.jsonl"
MISS = "Recorded until here: connect a model, or see the passages."
_ROOM = 1_000_000


class RecordedModel:
    """The recorded replies; thread-safe. `rests`: what was not recorded rests the run, else is no answer."""

    strong = fast = LABEL
    local = True
    server = ""

    def __init__(self, file: Path = REPLIES, *, rests: bool = True) -> None:
        self._file, self._rests = file, rests

    def complete(self, request: CompletionRequest) -> Completion:
        """The recorded reply; raises NotRecorded, or ModelUnavailable."""
        request.checkpoint()
        text = _read_replies(self._file)[0].get(make_key(request))
        if text is None:
            raise NotRecorded(MISS) if self._rests else ModelUnavailable(MISS)
        prompt = measure_prompt(request.messages)
        return Completion(text, prompt, estimate_tokens(text), 0.0, LABEL, estimated=True)

    def context_length(self, tier: Tier) -> int:
        """Enough for every prompt: none is shortened."""
        return _ROOM


def make_key(request: CompletionRequest) -> str:
    """The key of the reply to a request: 20 hex digits."""
    refused = sum(message["role"] == "assistant" for message in request.messages)
    text = "\n".join([request.role, str(refused), request.filling()])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:20]


def has_example(settings: Settings, question: str) -> bool:
    """Whether replies were recorded for this question, with these start pages and this length."""
    about = (settings.flow, question.strip())
    asked = (one.get("settings", {}) for one in list_examples() if (one["flow"], one["question"]) == about)
    fitting = any(
        all(getattr(settings, name) == value for name, value in {"report": "standard", **given}.items())
        for given in asked
    )
    return fitting and ": ".join(about) in _read_replies(REPLIES)[1]


@cache
def list_examples() -> list[dict[str, Any]]:
    """What was recorded, in the order in which it is offered: `flow`, `question`, `settings`, and `next`:
    what a person may do with the answer."""
    found: list[dict[str, Any]] = json.loads(EXAMPLES.read_text("utf-8")) if EXAMPLES.is_file() else []
    return found


@cache
def _read_replies(file: Path) -> tuple[dict[str, str], frozenset[str]]:
    """The replies by their keys, and the examples that have some."""
    if not file.is_file():
        return {}, frozenset()
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    replies = {row["key"]: json.dumps(row["reply"], ensure_ascii=False) for row in rows}
    return replies, frozenset(row["of"] for row in rows)
