"""Taking back a person's last edits, newest first, and doing them again: each is an edit of its own. Pure; no
step is deleted."""

from __future__ import annotations

from collections.abc import Mapping

from agent.engine.run_state import RunState
from agent.engine.state import REMOVAL_PREFIX, Change
from agent.flows.shared import fact_view
from agent.flows.shared.recompute import recompute_after_edit
from agent.flows.shared.trust_changes import trust_from_signals
from agent.text.urls import site
from agent.types import Confidence, ConfidenceChange, Conflict, Edit, Fact

UNDOABLE_STEPS = (
    "pin",
    "unpin",
    "strike",
    "restore",
    "correct",
    "revise",
    "add",
    "strike_source",
    "restore_source",
    "settle",
    "reopen",
    "trust",
    "undo",
    "redo",
)
"""The steps that can be taken back."""
_EDITED_FIELDS = (
    "decision",
    "trust",
    "struck_with",
    "statement",
    "quote",
    "former",
    "verified",
    "start",
    "end",
    "sha256",
    "relevance",
)
"""What an edit changes of a fact."""


def find_undoable(edits: list[Edit], names: Mapping[int, str]) -> Edit | None:
    """The edit that an undo takes back; `names` are those of the steps, by number. None when there is
    none."""
    return next(iter(_undo_stacks(edits, names)[0][::-1]), None)


def find_redoable(edits: list[Edit], names: Mapping[int, str]) -> Edit | None:
    """The undoing that a redo takes back; None when nothing was taken back since the last edit."""
    return next(iter(_undo_stacks(edits, names)[1][::-1]), None)


def describe_original_edit(edits: list[Edit], edit: Edit) -> str:
    """What an edit did at first, in words, however often it was taken back and done again."""
    by_step = {other.step: other for other in edits}
    while edit.undoes in by_step:
        edit = by_step[edit.undoes]
    return edit.text


def undo_edit(state: RunState, step: int, edit: Edit, before: RunState, after: RunState) -> Change:
    """The change that takes an edit back: `before` and `after` are the states around it.

    When nothing else was learnt since, facts and conflicts are exactly what they were; else the edited facts
    are, and the rest follows."""
    again = edit.undoes >= 0
    why = f"{'did again' if again else 'took back'}: {describe_original_edit(state.edits, edit)}"
    sources = _restore_sources(state, before, after)
    told = {
        "edits": [Edit(step=step, text=why, undoes=edit.step)],
        **sources,
        **_restore_trusts(before, after),
    }
    if (state.facts, state.conflicts) == (after.facts, after.conflicts):
        return {**_restore_exactly(state, step, before, why), **told}
    gone = [name for name in after.facts if name not in before.facts]
    facts = [
        _restore_fact(state.facts[name], fact, after.facts.get(name))
        for name, fact in before.facts.items()
        if fact != after.facts.get(name) and name in state.facts
    ] + [fact for name, fact in before.facts.items() if name not in state.facts]
    facts += _rerate_new_facts(state, {fact.id for fact in facts}, before, after)
    facts += _restrike_new_facts(
        state, {fact.id for fact in facts}, sources.get("struck_sources", state.struck_sources)
    )
    left = state.model_copy(
        update={"facts": {name: fact for name, fact in state.facts.items() if name not in gone}}
    )
    rulings = [
        _restore_ruling(state.conflicts[name], clash)
        for name, clash in before.conflicts.items()
        if _ruling_key(clash) != _ruling_key(after.conflicts.get(name)) and name in state.conflicts
    ]
    return {
        **recompute_after_edit(left, step, facts=facts, conflicts=rulings),
        **({f"{REMOVAL_PREFIX}facts": gone} if gone else {}),
        **told,
    }


def _ruling_key(clash: Conflict | None) -> tuple[str, ...]:
    return (clash.ruling, clash.chosen, clash.reason) if clash and clash.ruling else ()


def _restore_ruling(now: Conflict, then: Conflict) -> Conflict:
    """A conflict with the ruling it had; without one it is open, until the count is made."""
    parts = ("status", "chosen", "reason", "ruling", "settled_by") if then.ruling else ()
    bare = now.model_copy(
        update={"status": "open", "chosen": "", "reason": "", "ruling": "", "settled_by": ""}
    )
    return bare.model_copy(update={part: getattr(then, part) for part in parts})


def _restore_exactly(state: RunState, step: int, before: RunState, why: str) -> Change:
    change: Change = {}
    for part in ("facts", "conflicts"):
        old: Mapping[str, Fact | Conflict] = getattr(before, part)
        now: Mapping[str, Fact | Conflict] = getattr(state, part)
        change[part] = [value for name, value in old.items() if value != now.get(name)]
        if gone := [name for name in now if name not in old]:
            change[f"{REMOVAL_PREFIX}{part}"] = gone
    then = before.confidence[-1] if before.confidence else Confidence(step=step, value=0.0)
    if state.confidence and (then.value, then.factors) != (
        state.confidence[-1].value,
        state.confidence[-1].factors,
    ):
        moved = round(then.value - state.current_confidence, 4)
        change["confidence"] = [
            then.model_copy(
                update={"step": step, "moves": [ConfidenceChange(delta=moved, reason=why)] if moved else []}
            )
        ]
    return change


def _restore_sources(state: RunState, before: RunState, after: RunState) -> Change:
    """The struck sources as they are without the edit."""
    put, taken = (
        set(after.struck_sources) - set(before.struck_sources),
        set(before.struck_sources) - set(after.struck_sources),
    )
    if not put and not taken:
        return {}
    return {
        "struck_sources": [
            *(source for source in state.struck_sources if source not in put),
            *sorted(taken - set(state.struck_sources)),
        ]
    }


def _changed_domains(before: RunState, after: RunState) -> list[str]:
    """The domains of which the edit told how far they are trusted."""
    return [
        domain
        for domain in {**before.trusts, **after.trusts}
        if before.trusts.get(domain) != after.trusts.get(domain)
    ]


def _restore_trusts(before: RunState, after: RunState) -> Change:
    """A person's words on trust as they are without the edit."""
    changed = _changed_domains(before, after)
    back, gone = (
        {name: before.trusts[name] for name in changed if name in before.trusts},
        [name for name in changed if name not in before.trusts],
    )
    return {**({"trusts": back} if back else {}), **({f"{REMOVAL_PREFIX}trusts": gone} if gone else {})}


def _rerate_new_facts(state: RunState, known: set[str], before: RunState, after: RunState) -> list[Fact]:
    """The facts found since the edit on domains that it told of, with the trust they have without it."""
    changed = _changed_domains(before, after)
    found = [
        fact
        for fact in state.facts.values()
        if fact.id not in known and fact.id not in before.facts and fact.url and site(fact.url) in changed
    ]
    words = [before.trusts.get(site(fact.url)) for fact in found]
    return [
        fact.model_copy(
            update={"trust": word.value if word and word.value >= 0 else trust_from_signals(state, fact)}
        )
        for fact, word in zip(found, words, strict=True)
    ]


def _restrike_new_facts(state: RunState, known: set[str], sources: list[str]) -> list[Fact]:
    """The facts found since the edit, as they stand when these sources are struck: they come and go with
    their source, too."""
    freed, more = (
        set(state.struck_sources) - set(sources),
        [source for source in sources if source not in state.struck_sources],
    )
    back = [
        fact.model_copy(update={"decision": "none", "struck_with": ""})
        for fact in state.facts.values()
        if fact.struck_with in freed and fact.id not in known
    ]
    others = [fact for fact in state.facts.values() if fact.id not in known and fact.struck_with not in freed]
    taken = fact_view.apply_person_marks(state.model_copy(update={"struck_sources": more}), others)
    return [
        *fact_view.apply_person_marks(state.model_copy(update={"struck_sources": sources}), back),
        *(fact for fact in taken if fact != state.facts[fact.id]),
    ]


def _restore_fact(fact: Fact, then: Fact, edited: Fact | None) -> Fact:
    """The fact with what an edit changed of it as it was `then`."""
    return fact.model_copy(
        update={
            part: getattr(then, part)
            for part in _EDITED_FIELDS
            if edited is None or getattr(then, part) != getattr(edited, part)
        }
    )


def _undo_stacks(edits: list[Edit], names: Mapping[int, str]) -> tuple[list[Edit], list[Edit]]:
    """The edits that stand, and the undoings that can be taken back, oldest first."""
    done: list[Edit] = []
    undone: list[Edit] = []
    for edit in edits:
        if names.get(edit.step) not in UNDOABLE_STEPS:
            continue
        if edit.undoes < 0:
            done, undone = [*done, edit], []
        elif undone and undone[-1].step == edit.undoes:
            done, undone = [*done, edit], undone[:-1]
        else:
            # not always the newest: an undo used to pass over words on trust
            done, undone = [other for other in done if other.step != edit.undoes], [*undone, edit]
    return done, undone
