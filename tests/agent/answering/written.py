"""An answer that code alone checked, of a reply that a test writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.answering.draft import draft_from_reply
from agent.answering.verdict import finish_answer
from agent.engine.run_state import RunState
from agent.roles.role import RoleResult
from agent.types import Answer, Sentence


def build_answer(
    state: RunState,
    judgement: RoleResult,
    step: int,
    *,
    judge: Callable[[Sentence], Sentence | None] | None = None,
    answered_parts: Sequence[str] | None = None,
) -> Answer:
    """The answer of a reply; `judge` gives each sentence its verdict, or None for one that falls; `answered_parts` are what it says of the parts."""
    draft = draft_from_reply(state, None, judgement).replace(answered_parts=answered_parts)
    if judge:
        draft = draft.replace(sentences=[s for s in map(judge, draft.sentences) if s])
    return finish_answer(state, draft, step)
