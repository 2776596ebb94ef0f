"""A person's word on the mark of a sentence: it stands above the check's, with its reason."""

from __future__ import annotations

from agent.actions.commit import PersonStep, commit
from agent.actions.context import ActionContext
from agent.engine.snapshots import RunSnapshot
from agent.errors import NotFound, UsageError
from agent.types import MARK_LABELS, ClaimMark, Overruling

MAX_REASON_CHARS = 500


def overrule(bench: ActionContext, run_id: str, sentence_id: str, mark: ClaimMark, reason: str) -> None:
    """Set the mark of a sentence. Raises UsageError without a reason, NotFound."""
    if mark not in MARK_LABELS:
        raise UsageError(f"there is no mark “{mark[:40]}”; there are {', '.join(MARK_LABELS)}")
    if not reason.strip():
        raise UsageError("say why: the reason is shown beside your mark")

    def build_step(view: RunSnapshot) -> PersonStep:
        checked = view.state.own.checked_text(view.state)
        if checked is None or all(one.sentence.id != sentence_id for one in checked.sentences):
            raise NotFound(f"there is no sentence {sentence_id[:20]} in the text of this run")
        why = reason.strip()[:MAX_REASON_CHARS]
        said = Overruling(id=sentence_id, mark=mark, reason=why, step=view.head + 1)
        return PersonStep({"overrulings": [said]})

    commit(bench, run_id, "overrule", build_step)
