"""What a person says in a chat, checked before it is written down: which way of chatting holds, what answers
a clarifying question.

It holds nothing and writes nothing; the workbench does, when this says it may."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.config import Config
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import ConcurrentChange, UsageError
from agent.flows.chat.flow import apply_clarification
from agent.text.dialogue_acts import classify_small_talk, has_question_opening, is_question
from agent.text.tokens import tokenize
from agent.text.word_lists import STOPWORDS
from agent.types import Answer, Run, Settings, Turn

MAX_ANSWER_CHARS = 4000
"""Characters of an answer."""
_CONTINUATION = re.compile(r"(?:and|or|what about|how about)\b", re.IGNORECASE)
"""How a piece begins that asks on after what was asked before ("And in 2024?"): no answer to a question
back."""


def conversation_kind(flow: str) -> str:
    """The kind of conversation a flow belongs to: both ways of chatting are one."""
    return "chat" if flow == "chat_simple" else flow


def apply_conversational_mode(
    settings: Settings, history: Sequence[Turn], config: Config
) -> tuple[Settings, list[Turn]]:
    """Settings and history as they are started with: without CONVERSATIONAL_MODE a chat is the simple one,
    which remembers nothing."""
    if settings.flow == "chat" and not config.CONVERSATIONAL_MODE:
        settings = settings.model_copy(update={"flow": "chat_simple"})
    return settings, [] if settings.flow == "chat_simple" else list(history)


def build_turn(run: Run, answer: Answer | None) -> Turn:
    """A run as an earlier turn of its conversation."""
    said = answer.text or answer.certainty if answer else ""
    return Turn(user=run.question, bot=said, run_id=run.id, answered=bool(answer and answer.text))


def is_clarification_answer(state: RunState, text: str) -> bool:
    """Does this answer what a chat asked back? Not when it is a whole question of its own, thanks or a
    greeting: that is a further turn."""
    if (
        conversation_kind(state.settings.flow) != "chat"
        or state.own.needs_clarification is None
        or classify_small_talk(state.question)
    ):
        return False
    said = text.strip()
    if said.isdigit() or said in state.own.choices:
        return True
    if _CONTINUATION.match(said) and is_question(said):
        return False
    weighty = [word for word in tokenize(said) if word not in STOPWORDS]
    return (
        not classify_small_talk(said)
        and not has_question_opening(said)
        and (not is_question(said) or len(weighty) == 1)
    )


def build_clarification_change(state: RunState, text: str) -> Change:
    """The change that a person's answer makes. Raises UsageError when there is nothing in it, Overtaken when
    nothing was asked."""
    if conversation_kind(state.settings.flow) != "chat" or state.own.needs_clarification is None:
        raise ConcurrentChange("nothing is asked of you here now: ask a further question instead")
    if not text.strip():
        raise UsageError("the answer is empty: say what you mean, or pick one of the choices")
    if len(text) > MAX_ANSWER_CHARS:
        raise UsageError(f"the answer has {len(text):,} characters; {MAX_ANSWER_CHARS:,} are the most")
    return apply_clarification(state, text)
