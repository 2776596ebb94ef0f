"""What a person says in a chat, checked before it is written down: which way of chatting holds, what answers a clarifying question.

It holds nothing and writes nothing; the workbench does, when this says it may.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.config import Config
from agent.errors import Overtaken, UsageError
from agent.flows.chat import answered
from agent.flows.chat_state import Chat
from agent.flows.state import Research
from agent.state import Change
from agent.text.manners import asks, courtesy, opens
from agent.text.stopwords import STOPWORDS
from agent.text.words import tokens
from agent.types import Answer, Run, Settings, Turn

LONGEST = 4000
"""Characters of an answer."""
_GOES_ON = re.compile(r"(?:and|or|what about|how about)\b", re.IGNORECASE)
"""How a piece begins that asks on after what was asked before ("And in 2024?"): no answer to a question back."""


def kind(flow: str) -> str:
    """The kind of conversation a flow belongs to: both ways of chatting are one."""
    return "chat" if flow == "chat_simple" else flow


def settled(settings: Settings, history: Sequence[Turn], config: Config) -> tuple[Settings, list[Turn]]:
    """Settings and history as they are started with: without CONVERSATIONAL_MODE a chat is the simple one, which remembers nothing."""
    if settings.flow == "chat" and not config.switched_on("CONVERSATIONAL_MODE"):
        settings = settings.model_copy(update={"flow": "chat_simple"})
    return settings, [] if settings.flow == "chat_simple" else list(history)


def turn(run: Run, answer: Answer | None) -> Turn:
    """A run as an earlier turn of its conversation."""
    said = answer.text or answer.certainty if answer else ""
    return Turn(user=run.question, bot=said, run_id=run.id, answered=bool(answer and answer.text))


def answers(state: Research, text: str) -> bool:
    """Does this answer what a chat asked back? Not when it is a whole question of its own, thanks or a greeting: that is a further turn."""
    if not isinstance(state, Chat) or state.needs_clarification is None or courtesy(state.question):
        return False
    said = text.strip()
    if said.isdigit() or said in state.choices:
        return True
    if _GOES_ON.match(said) and asks(said):
        return False
    weighty = [word for word in tokens(said) if word not in STOPWORDS]
    return not courtesy(said) and not opens(said) and (not asks(said) or len(weighty) == 1)


def response(state: Research, text: str) -> Change:
    """The change that a person's answer makes. Raises UsageError when there is nothing in it, Overtaken when nothing was asked."""
    if not isinstance(state, Chat) or state.needs_clarification is None:
        raise Overtaken("nothing is asked of you here now: ask a further question instead")
    if not text.strip():
        raise UsageError("the answer is empty: say what you mean, or pick one of the choices")
    if len(text) > LONGEST:
        raise UsageError(f"the answer has {len(text):,} characters; {LONGEST:,} are the most")
    return answered(state, text)
