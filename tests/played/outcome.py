"""What a recorded run came to, as plain data that can be stored, compared and read as a diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent.engine.snapshots import RunSnapshot
from agent.text.urls import host
from agent.types import Answer, AnswerBlock, Sentence


def describe_turn(act: str, view: RunSnapshot) -> dict[str, Any]:
    """What a person sees after an act: status, verdict, blocks, each sentence with its check and marks, the
    conflicts; of a collection what was kept, of a checked text its marks. What is empty is left out."""
    state = view.state
    answer = state.answer or Answer(n=0, verdict="no_evidence")
    turn = {
        "act": act,
        "status": str(view.run.status),
        "error": view.run.error,
        "verdict": answer.verdict if state.answer else "",
        "reason": answer.reason if answer.reason != "none" else "",
        "confidence": "" if answer.confidence is None else round(answer.confidence, 2),
        "length": answer.length if answer.blocks else "",
        "certainty": answer.certainty,
        "missing": answer.missing,
        "assumed": answer.assumed,
        "remark": answer.remark,
        "trouble": answer.trouble,
        "plan": [f"{part.status}: {part.question}" for part in state.plan],
        "blocks": [_describe_block(block) for block in answer.blocks],
        "sentences": [_describe_sentence(said, answer, view) for said in answer.sentences],
        "dropped citations": answer.statements.dropped or "",
        "conflicts": sorted(_list_conflicts(view)),
        **_describe_own(view),
    }
    return {name: value for name, value in turn.items() if value not in ("", [], {})}


def _describe_block(block: AnswerBlock) -> str:
    columns = " | ".join(block.heads)
    kind = " ".join(filter(None, (block.kind, "by code" * block.by_code, block.role)))
    return ": ".join(filter(None, (kind, block.text, columns)))


def _describe_sentence(said: Sentence, answer: Answer, view: RunSnapshot) -> dict[str, Any]:
    places = [block.id for block in answer.blocks]
    facts = [view.state.facts[i] for i in said.fact_ids if i in view.state.facts]
    marks = [f"{f.kind}{' absent' * f.is_absent}: {f.claimed} / {f.quoted}" for f in said.findings]
    told = {
        "text": said.claim,
        "check": said.check,
        "marks": marks,
        "contradicted": said.contradicted or "",
        "disputed": said.disputed,
        "block": places.index(said.block) + 1 if said.block in places else "",
        "part": said.part,
        "cites": list(dict.fromkeys(host(fact.url) or fact.url for fact in facts)),
        "why": said.check_reason,
    }
    return {name: value for name, value in told.items() if value not in ("", [])}


def _list_conflicts(view: RunSnapshot) -> Iterator[str]:
    for conflict in view.state.conflicts.values():
        values = " / ".join(sorted(side.text for side in conflict.values))
        yield f"{conflict.status}: {conflict.topic}: {values} ({conflict.model_ruling or conflict.reason})"


def _describe_own(view: RunSnapshot) -> dict[str, Any]:
    own = view.state.own
    if view.run.settings.flow == "collect":
        return {"items": [f"{item.status}: {item.title}" for item in own.items.values()]}
    if view.run.settings.flow == "check_text":
        checked = own.checked_text(view.state)
        return {"text_marks": [f"{one.mark}: {one.sentence.text}" for one in checked.sentences]}
    return {}
