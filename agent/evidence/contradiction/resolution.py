"""The status of a conflict: settled by a person, by a pinned fact, by a model's reading, by the number of
independent sources, or open.

A person's settlement stands above all and holds when the conflict is found again: under its id, or by the
facts that both have in common; and when the chosen value is written differently by then. A model's reading
holds as long as no further value joins."""

from __future__ import annotations

from collections.abc import Mapping

from agent.types import Conflict, Fact
from agent.types.facts import ModelRuling

MIN_SOURCE_LEAD = 2
"""Independent sources more than any other value that one needs to be settled by evidence alone."""
PINNED_REASON = "a person pinned this value"
"""The reason while the pin is there."""
FACTS_GONE_REASON = "its facts do not stand any more"
"""The reason when it was not found again."""
MERGED_REASON = "it is told with the other answers to the question"
"""The reason when the conflict about the question has all its facts."""
CLOSED_REASONS = (FACTS_GONE_REASON, MERGED_REASON)
"""The reasons of conflicts that are shown nowhere."""
EVIDENCE_REASON_PREFIX = "settled by evidence: "
"""How the reason begins when the number of sources settled it."""


def restore_settlement(conflict: Conflict, before: dict[str, Conflict], facts: list[Fact]) -> Conflict:
    """The conflict with the id and settlement it had before; the chosen value as it is written now."""
    old = before.get(conflict.id) or next(
        (known for known in before.values() if _is_same_conflict(known, conflict)), None
    )
    if old is not None:
        conflict = conflict.replace(id=old.id, step=old.step, found_by=old.found_by)
        read = {"model_ruling": old.model_ruling, "model_reason": old.model_reason}
        if old.ruling == "open":
            return conflict.replace(ruling="open", reason=old.reason, **read)
        chosen = _find_chosen_value(old, conflict)
        if is_settled_by_person(old) and old.reason != PINNED_REASON and chosen is not None:
            kept = {"status": "settled", "chosen": chosen, "reason": old.reason, "settled_by": "person"}
            return conflict.replace(**kept, ruling=old.ruling, **read)
    return _settle_by_evidence(conflict, {f.id for f in facts if f.decision == "pinned"}, old)


def apply_model_ruling(
    conflict: Conflict, ruling: ModelRuling, reason: str, facts: Mapping[str, Fact]
) -> Conflict:
    """The conflict with a model's reading of it; unchanged where a person ruled.

    `contradict` leaves it open, and so does `agree` where code finds two dates, figures or a denial: no model
    calls these the same. Of `later_replaces` the value published last is chosen, where dates tell it."""
    if is_settled_by_person(conflict) or conflict.ruling:
        return conflict
    read = conflict.replace(model_ruling=ruling, model_reason=reason)
    if ruling == "contradict" or (ruling == "agree" and conflict.kind != "name"):
        return read
    chosen = _find_latest_value(conflict, facts) if ruling == "later_replaces" else ""
    return read.replace(status="settled", settled_by="model", chosen=chosen, reason=reason)


def _find_latest_value(conflict: Conflict, facts: Mapping[str, Fact]) -> str:
    """The value that was published last; "" when a value has no date, or two have the same."""
    days = [
        (max((facts[i].published_at[:10] for i in value.fact_ids if i in facts), default=""), value.text)
        for value in conflict.values
    ]
    days.sort()
    return days[-1][1] if days[0][0] and days[-1][0] > days[-2][0] else ""


def is_settled_by_person(conflict: Conflict) -> bool:
    """Did a person settle it?"""
    return conflict.status == "settled" and conflict.settled_by == "person"


def _is_same_conflict(known: Conflict, conflict: Conflict) -> bool:
    """Is it the same one though its earliest fact is gone: of one kind, with facts in common on two sides?"""
    if known.kind != conflict.kind or known.found_by != "code":
        return False
    return (
        sum(
            any(set(mine.fact_ids) & set(value.fact_ids) for mine in known.values)
            for value in conflict.values
        )
        > 1
    )


def _find_chosen_value(old: Conflict, conflict: Conflict) -> str | None:
    """The chosen value as it is written now, "" when both hold; None when the conflict has it no more."""
    if not old.chosen:
        return ""
    stood = {i for value in old.values if value.text == old.chosen for i in value.fact_ids}
    texts = [value.text for value in conflict.values]
    same = [value.text for value in conflict.values if stood.intersection(value.fact_ids)]
    return old.chosen if old.chosen in texts else next(iter(same), None)


def _settle_by_evidence(conflict: Conflict, pinned: set[str], old: Conflict | None) -> Conflict:
    kept = [value for value in conflict.values if pinned.intersection(value.fact_ids)]
    if len(kept) == 1:
        return conflict.replace(
            status="settled", chosen=kept[0].text, reason=PINNED_REASON, settled_by="person"
        )
    texts = {value.text for value in conflict.values}
    if old is not None and old.model_ruling and texts <= {value.text for value in old.values}:
        read = {"model_ruling": old.model_ruling, "model_reason": old.model_reason}
        if old.settled_by == "model":
            chosen = old.chosen if old.chosen in texts else ""
            read |= {"status": "settled", "settled_by": "model", "chosen": chosen, "reason": old.reason}
            return conflict.replace(**read)
        conflict = conflict.replace(**read)
    ranked = sorted(conflict.values, key=lambda value: -len(value.sites))
    most, next_most = len(ranked[0].sites), len(ranked[1].sites)
    if most - next_most < MIN_SOURCE_LEAD:
        return conflict
    reason = f"{EVIDENCE_REASON_PREFIX}{most} independent sites against {next_most}"
    return conflict.replace(status="settled", chosen=ranked[0].text, reason=reason, settled_by="evidence")
