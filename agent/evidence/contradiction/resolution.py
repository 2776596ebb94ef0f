"""The status of a conflict: settled by a person, by a pinned fact, by a model's reading, by the number of
independent sources, or open.

A ruling is about a conflict with its id, or with facts in common on two sides: it holds when the earliest
fact is gone, and when a value is written differently by then. A person's stands above all; a model's reading
holds as long as no further value joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.types import Conflict, Fact, Ruling

MIN_SOURCE_LEAD = 2
"""Independent sources more than any other value that one needs to be settled by evidence alone."""
PINNED_REASON = "a person pinned this value"
"""The reason while the pin is there."""
EVIDENCE_REASON_PREFIX = "settled by evidence: "
"""How the reason begins when the number of sources settled it."""


def settle_conflict(conflict: Conflict, rulings: Sequence[Ruling], facts: Mapping[str, Fact]) -> Conflict:
    """The conflict with its status, by the newest rulings on it (oldest first) and the active facts."""
    newest = {ruling.by: ruling for ruling in rulings if _is_about(ruling, conflict)}
    texts = {value.text for value in conflict.values}
    reading, word = newest.get("model"), newest.get("person")
    if reading and texts <= {value.text for value in reading.values}:
        conflict = conflict.replace(model_ruling=reading.ruling, model_reason=reading.reason)
    if word and word.ruling == "open":
        return conflict.replace(ruling="open", reason=word.reason)
    chosen = _find_chosen_value(word, conflict) if word else None
    if word and chosen is not None:
        return _settle(conflict, chosen, word.reason, "person").replace(ruling=word.ruling)
    pinned = [v.text for v in conflict.values if any(facts[i].decision == "pinned" for i in v.fact_ids)]
    if len(pinned) == 1:
        return _settle(conflict, pinned[0], PINNED_REASON, "person")
    if conflict.model_ruling in ("different_things", "later_replaces") or (
        conflict.model_ruling == "agree" and conflict.kind == "name"
    ):  # of two dates, figures or a denial no model says that they agree
        latest = _find_latest_value(conflict, facts) if conflict.model_ruling == "later_replaces" else ""
        return _settle(conflict, latest, conflict.model_reason, "model")
    ranked = sorted(conflict.values, key=lambda value: -len(value.sites))
    most, next_most = len(ranked[0].sites), len(ranked[1].sites)
    if most - next_most < MIN_SOURCE_LEAD:
        return conflict
    reason = f"{EVIDENCE_REASON_PREFIX}{most} independent sites against {next_most}"
    return _settle(conflict, ranked[0].text, reason, "evidence")


def _settle(conflict: Conflict, chosen: str, reason: str, by: str) -> Conflict:
    return conflict.replace(status="settled", chosen=chosen, reason=reason, settled_by=by)


def _is_about(ruling: Ruling, conflict: Conflict) -> bool:
    if ruling.conflict == conflict.id or ruling.kind != conflict.kind:
        return ruling.conflict == conflict.id
    ruled = [set(value.fact_ids) for value in ruling.values]
    return sum(any(ids.intersection(value.fact_ids) for ids in ruled) for value in conflict.values) > 1


def _find_chosen_value(ruling: Ruling, conflict: Conflict) -> str | None:
    """The chosen value as it is written now, "" when none was chosen; None when the conflict has it no
    more."""
    texts = [value.text for value in conflict.values]
    if not ruling.chosen or ruling.chosen in texts:
        return ruling.chosen
    stood = {i for value in ruling.values if value.text == ruling.chosen for i in value.fact_ids}
    return next((value.text for value in conflict.values if stood.intersection(value.fact_ids)), None)


def _find_latest_value(conflict: Conflict, facts: Mapping[str, Fact]) -> str:
    """The value that was published last; "" when a value has no date, or two have the same."""
    days = sorted(
        (max(facts[i].published_at[:10] for i in value.fact_ids), value.text) for value in conflict.values
    )
    return days[-1][1] if days[0][0] and days[-1][0] > days[-2][0] else ""
