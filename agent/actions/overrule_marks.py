"""A person's word on the mark of a sentence: it stands above the check's, with its reason."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agent.actions.commit import PersonStep
from agent.engine.snapshots import RunSnapshot
from agent.errors import NotFound, UsageError
from agent.types import ClaimMark, Overruling

MAX_REASON_CHARS = 500


def overrule(
    view: RunSnapshot,
    sentence: Annotated[str, Field(description="the id of the sentence")],
    mark: ClaimMark,
    reason: Annotated[str, Field(description="why; it is shown beside the mark")],
) -> PersonStep:
    """Set the mark of a sentence of a checked text."""
    if not reason.strip():
        raise UsageError("say why: the reason is shown beside your mark")
    checked = view.state.own.checked_text(view.state)
    if checked is None or all(one.sentence.id != sentence for one in checked.sentences):
        raise NotFound(f"there is no sentence {sentence[:20]} in the text of this run")
    why = reason.strip()[:MAX_REASON_CHARS]
    said = Overruling(id=sentence, mark=mark, reason=why, step=view.head + 1)
    return PersonStep({"overrulings": [said]})
