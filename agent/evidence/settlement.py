"""How a conflict stands: settled by a person, by a pinned fact, by the count of independent voices, or open. Pure; knows no run.

A person's word stands above the count, and holds when the conflict is found again: under its id, or, when its earliest fact is not
looked at any more, by what the two have in common; and when the chosen value is written otherwise by then.
"""

from __future__ import annotations

from agent.types import Conflict, Fact

LEAD = 2
"""How many independent voices more than any other a value needs to be settled by evidence alone."""
PINNED = "a person pinned this value"
"""Why a conflict is settled as long as the pin stands."""
FELL = "its facts do not stand any more"
"""Why a conflict is closed that was not found again."""
MERGED = "it is told with the other answers to the question"
"""Why a conflict is closed whose facts all stand in the one about the question itself."""
CLOSED = (FELL, MERGED)
"""The reasons of conflicts that stand no more: they are shown nowhere."""
BY_EVIDENCE = "settled by evidence: "
"""How the reason of a conflict begins that the count of independent voices settled."""


def kept(conflict: Conflict, before: dict[str, Conflict], facts: list[Fact]) -> Conflict:
    """The conflict as it was known: under its old id, with its settlement, and the value that was chosen as it is written now."""
    old = before.get(conflict.id) or next((known for known in before.values() if _same(known, conflict)), None)
    if old is not None:
        conflict = conflict.model_copy(update={"id": old.id, "step": old.step, "found_by": old.found_by})
        if old.ruling == "open":
            return conflict.model_copy(update={"ruling": "open", "reason": old.reason})
        chosen = _still(old, conflict)
        if by_person(old) and old.reason != PINNED and chosen is not None:
            kept = {"status": "settled", "chosen": chosen, "reason": old.reason, "ruling": old.ruling, "settled_by": "person"}
            return conflict.model_copy(update=kept)
    return _counted(conflict, {f.id for f in facts if f.decision == "pinned"})


def by_person(conflict: Conflict) -> bool:
    """Did a person settle it? Before that was written down, it was so when no reason of code's stood there."""
    of_code = conflict.reason in CLOSED or conflict.reason.startswith(BY_EVIDENCE)
    return conflict.status == "settled" and (conflict.settled_by == "person" or (not conflict.settled_by and not of_code))


def _same(known: Conflict, conflict: Conflict) -> bool:
    """Is it the same one, whose earliest fact is not looked at any more: of one kind, with facts in common on two sides?"""
    if known.kind != conflict.kind or known.asks != conflict.asks or known.found_by != "code":
        return False
    return sum(any(set(mine.fact_ids) & set(value.fact_ids) for mine in known.values) for value in conflict.values) > 1


def _still(old: Conflict, conflict: Conflict) -> str | None:
    """The chosen value as it is written now, "" when both hold; None when it is no value of the conflict any more."""
    if not old.chosen:
        return ""
    stood = {i for value in old.values if value.text == old.chosen for i in value.fact_ids}
    texts = [value.text for value in conflict.values]
    same = [value.text for value in conflict.values if stood.intersection(value.fact_ids)]
    return old.chosen if old.chosen in texts else next(iter(same), None)


def _counted(conflict: Conflict, pinned: set[str]) -> Conflict:
    kept = [value for value in conflict.values if pinned.intersection(value.fact_ids)]
    if len(kept) == 1:
        return conflict.model_copy(update={"status": "settled", "chosen": kept[0].text, "reason": PINNED, "settled_by": "person"})
    ranked = sorted(conflict.values, key=lambda value: -len(value.sites))
    most, next_most = len(ranked[0].sites), len(ranked[1].sites)
    if most - next_most < LEAD:
        return conflict
    reason = f"{BY_EVIDENCE}{most} independent sites against {next_most}"
    return conflict.model_copy(update={"status": "settled", "chosen": ranked[0].text, "reason": reason, "settled_by": "evidence"})
