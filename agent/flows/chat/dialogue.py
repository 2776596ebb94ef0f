"""The rules of a conversation: what a chat remembers, and what answers a question that was asked back."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import ConcurrentChange, UsageError
from agent.settings.config import Config
from agent.types import Answer, PlanPart, Run, Settings, Turn

MAX_ANSWER_CHARS = 4000
"""Characters of an answer to a clarifying question."""


def apply_chat_settings(
    settings: Settings, history: Sequence[Turn], config: Config
) -> tuple[Settings, list[Turn]]:
    """Settings and history of a new run: without CONVERSATIONAL_MODE a turn of a chat has no history."""
    if settings.flow != "chat":
        return settings, list(history)
    chosen = {"conversational": config.CONVERSATIONAL_MODE, "chat_one_passage": config.CHAT_ONE_PASSAGE}
    return settings.replace(**chosen), list(history) if config.CONVERSATIONAL_MODE else []


def build_turn(run: Run, answer: Answer | None) -> Turn:
    """A run as an earlier turn of its conversation."""
    text = answer.text if answer else ""
    bot = text or (answer.certainty if answer else "")
    return Turn(user=run.question, bot=bot, run_id=run.id, answered=bool(text))


def picks_choice(state: RunState, text: str) -> bool:
    """Whether this is one of the answers that can be picked, or its number."""
    choices = state.own.choices if asks_back(state) else []
    return text.strip() in [*choices, *map(str, range(1, len(choices) + 1))]


def build_clarification_change(state: RunState, text: str) -> Change:
    """The change of a person's answer: search again, retries counted anew. Raises UsageError for an empty or
    long answer, ConcurrentChange when nothing was asked."""
    if not asks_back(state):
        raise ConcurrentChange("nothing is asked of you here now: ask a further question instead")
    reply, choices = text.strip(), state.own.choices
    if not reply:
        raise UsageError("the answer is empty: say what you mean, or pick one of the choices")
    if len(text) > MAX_ANSWER_CHARS:
        raise UsageError(f"the answer has {len(text):,} characters; {MAX_ANSWER_CHARS:,} are the most")
    if reply.isdigit() and 1 <= int(reply) <= len(choices):
        reply = choices[int(reply) - 1]
    question = f"{state.full_question} {reply}"
    return {
        "responses": [reply],
        "asked": question,
        "plan_parts": [PlanPart(id="1", question=question)],
        "rewritten_query": question,
        "needs_clarification": None,
        "choices": [],
        "retry_count": 0,
        "retrieved_docs": [],
        "doc_relevance_scores": [],
        "grades": {},
        "asks_nothing": False,
        "draft": None,
        "stop_reason": "",
        "why_stopped": "",
    }


def asks_back(state: RunState) -> bool:
    """Whether a chat waits for the answer to its question."""
    return state.settings.flow == "chat" and state.own.needs_clarification is not None
