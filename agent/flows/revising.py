"""What a person's word does to what a run knows: the one recount after facts or conflicts were changed by hand. Pure, no model.

    revised(state, step, facts=[...], why="struck 1 fact of example.org")

Every door for persons uses it, so that a pin, a struck source, a settled conflict and a pasted page lead to marks, conflicts and a
confidence of one kind; `heeded` does the same for a worker's step that a person's word overtook.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import TypeAdapter

from agent.evidence import confidence
from agent.evidence.conflicts import dispute, find
from agent.evidence.pairing import Scope
from agent.evidence.settlement import CLOSED, FELL, PINNED
from agent.flows import moves
from agent.flows import site_reading as reading
from agent.flows.site_state import Site
from agent.flows.state import Research
from agent.roles.footing import footing
from agent.state import OUT, Change, jsonable
from agent.text.coverage import cover
from agent.types import Confidence, Conflict, Edit, Fact, Step
from agent.urls import site

MANY = 200
"""Facts that are all compared with one another. Of more, those that changed are compared with all, and those a judgement looks at or
that stand in a conflict with one another: what the others say was compared as it was read, and an edit changes nothing between them."""
_FACTS, _CONFLICTS = TypeAdapter(list[Fact]), TypeAdapter(list[Conflict])


def revised(state: Research, step: int, *, facts: Iterable[Fact] = (), conflicts: Iterable[Conflict] = (), why: str = "") -> Change:
    """The change a person's word makes: these facts and conflicts stand instead of the old.

    The marks `disputed`, the conflicts found by code and the confidence are worked out anew over what the run knows then. `why` says
    in a few words what was done; it is told in the confidence's move when that moved, and kept as an edit of the run.
    """
    new, said = {fact.id: fact for fact in facts}, {clash.id: clash for clash in conflicts}
    known = {**state.facts, **new}
    clashes = _clashes(state, state.model_copy(update={"facts": known}), new, said)
    marked = {fact.id: fact for fact in dispute(known.values(), clashes)}
    now = state.model_copy(update={"facts": {**known, **marked}, "conflicts": {clash.id: clash for clash in clashes}})
    level = assessed(now, step, why)
    change: Change = {
        "facts": [now.facts[name] for name in {**new, **marked} if now.facts[name] != state.facts.get(name)],
        "conflicts": [clash for clash in clashes if clash != state.conflicts.get(clash.id)],
        **({"confidence": [level]} if level else {}),
    }
    return {**change, **({"edits": [Edit(step=step, text=why)]} if why else {})}


def assessed(now: Research, step: int, why: str = "") -> Confidence | None:
    """The confidence of what the run knows now; None when it is what it was. The model's own figure goes on holding it down."""
    previous = now.confidence[-1] if now.confidence else None
    known = moves.memory(now)
    calm = [fact.model_copy(update={"disputed": False}) for fact in known]
    level = confidence.assess(
        step=step, facts=known, conflicts=now.conflicts.values(), coverage=cover(asked(now), calm).share,
        previous=previous, model=previous.model if previous else None,
        footing=footing(now.question, known) if now.settings.flow == "research" else None,
    )  # fmt: skip
    if (level.value, level.factors) == ((previous.value, previous.factors) if previous else (0.0, level.factors)):
        return None
    told = [move.model_copy(update={"reason": f"{why}: {move.reason}"}) for move in level.moves] if why else level.moves
    return level.model_copy(update={"moves": told})


def asked(state: Research) -> str:
    """What the facts are weighed by: the question; of a conversation with a site, as it stands alone, with the person's notes."""
    return reading.wanted(state) if isinstance(state, Site) else state.question


def heeded(state: Research, change: Change, spoken: Sequence[Step]) -> Change:
    """A worker's (JSON) change as it may be recorded after what a person said meanwhile; `state` is the one with their word.

    What they changed stays as they left it, what was found counts as they said of its source, and the rest is counted anew.
    """
    touched = {part: _touched(part, spoken) for part in ("facts", "conflicts")}
    if not any(touched.values()) and not any(part in step.change for step in spoken for part in ("struck_sources", "trusts")):
        return change
    found = [fact for fact in _FACTS.validate_python(change.get("facts", [])) if fact.id not in touched["facts"]]
    clashes = [clash for clash in _CONFLICTS.validate_python(change.get("conflicts", [])) if clash.id not in touched["conflicts"]]
    step = change["confidence"][-1]["step"] if change.get("confidence") else spoken[-1].n
    recounted = revised(state, step, facts=moves.heeding(state, found), conflicts=clashes)
    kept = {name: value for name, value in change.items() if name not in ("facts", "conflicts", "confidence")}
    return {**kept, **jsonable(recounted)}


def _touched(part: str, spoken: Sequence[Step]) -> set[str]:
    """The ids of what a person's words changed or took away."""
    return {name for step in spoken for name in [*(value["id"] for value in step.change.get(part, [])), *step.change.get(f"{OUT}{part}", [])]}


def _clashes(state: Research, now: Research, new: Mapping[str, Fact], said: Mapping[str, Conflict]) -> list[Conflict]:
    """The conflicts as they stand: found anew, or closed when what they rested on fell."""
    before = {**{name: _reopened(clash) for name, clash in now.conflicts.items()}, **said}
    scope = _scope(state, now, new, before)
    found = find(moves.standing(now).values(), before.values(), moves.at_issue(now), scope) if _several(now) else []
    known = {clash.id for clash in found}
    left = [
        clash.model_copy(update={"status": "settled", "reason": FELL}) if clash.status == "open" and clash.found_by == "code" else clash
        for name, clash in before.items()
        if name not in known
    ]
    return [*found, *left]


def _several(now: Research) -> bool:
    """Are there several voices? A `site` run reads one site as one voice."""
    return not isinstance(now, Site) or len({site(fact.url) for fact in now.facts.values()}) > 1


def _reopened(clash: Conflict) -> Conflict:
    """As it was before a pin settled it, or before its facts fell: whether that holds is looked at anew."""
    gone = clash.status == "settled" and clash.reason in (PINNED, *CLOSED)
    return clash.model_copy(update={"status": "open", "chosen": "", "reason": "", "settled_by": ""}) if gone else clash


def _scope(state: Research, now: Research, new: Mapping[str, Fact], before: Mapping[str, Conflict]) -> Scope | None:
    """Which facts are compared anew; None for all."""
    if len(now.facts) <= MANY:
        return None
    clashing = {i for clash in before.values() for value in clash.values for i in value.fact_ids}
    fresh = {name for name, fact in new.items() if _compared(fact) != _compared(state.facts.get(name))}
    return Scope(fresh, near={*clashing, *(fact.id for fact in moves.memory(now))})


def _compared(fact: Fact | None) -> tuple[str, ...]:
    """What of a fact decides what it contradicts; nothing when it does not count."""
    return (fact.statement, fact.subject, fact.attribute, fact.title, fact.url) if fact and fact.counts else ()
