"""The state of a run as the fold of its steps' changes, with one reducer a field.

A change is JSON: `{field: value}`. A plain field is replaced. `Annotated[list[X], append]` is appended to;
`Annotated[list[X], upsert_by_step]` too, but replaces a value of the same step, action and address.
`Annotated[dict[K, V], merge_dict]` takes entries; `Annotated[dict[str, X], upsert]` takes a list of X, each
under its own key (`id`, or else `url`). A dict's name after a minus takes a list of keys to remove."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from types import GenericAlias
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic_core import to_jsonable_python

from agent.types import Edit, Step
from agent.types.record import FORMER_FIELDS

Change = dict[str, Any]
REMOVAL_PREFIX = "-"
"""Precedes the name of a field whose entries a change removes."""
PERSONS_FIELDS = frozenset("facts rulings notes pages strikes".split())
"""The fields that a person's step no longer changes once it is undone."""
S = TypeVar("S", bound="State")
to_jsonable: Callable[[Change], Change] = to_jsonable_python
"""A change as it is stored: records become JSON, so that merging it now equals folding it later."""
append, merge_dict = operator.iadd, operator.ior
"""The old values, then the new ones; the old entries with the new ones."""


class State(BaseModel):
    """A record of fields that changes are merged into."""

    model_config = ConfigDict(extra="forbid", defer_build=True)  # built when used: an eighth of the start
    no_step_changes: ClassVar[frozenset[str]] = frozenset()
    """Fields that are derived."""

    def derive(self, change: Change, step: int | None = None) -> None:
        """Work out what follows from the state and is not stored, after a change, of a recorded step where
        that is given. A record that derives nothing does nothing."""


def upsert(old: dict[str, Any], new: list[Any]) -> dict[str, Any]:
    """The old values, with each new one under its key."""
    key = "id" if new and "id" in type(new[0]).model_fields else "url"
    for value in new:
        old[getattr(value, key)] = value
    return old


def upsert_by_step(old: list[Any], new: list[Any]) -> list[Any]:
    """The old values, each new one in place of the one with the same `step`, `action` and `query_or_url`, or
    appended. The values are in the order of their steps."""
    for value in new:
        at = len(old)
        for i in range(len(old) - 1, -1, -1):
            if old[i].step < value.step:
                break
            names = ("step", "action", "query_or_url")
            if all(getattr(old[i], name, "") == getattr(value, name, "") for name in names):
                at = i
                break
        old[at : at + 1] = [value]
    return old


def merge(state: S, change: Change) -> S:
    """The state after a (JSON) change: the same object, changed. An unknown field raises KeyError."""
    own: State = getattr(state, "own", state)  # the flow's own record stands in that of the run
    for key, value in change.items():
        name = key.removeprefix(REMOVAL_PREFIX)
        if name in FORMER_FIELDS.get(type(own).__name__, ()):
            continue
        record: State = own if name in type(own).model_fields else state
        if name in record.no_step_changes or name not in type(record).model_fields:
            raise KeyError(name)
        if key != name:
            for gone in value:
                getattr(record, name).pop(gone, None)
            continue
        adapter, reducer = _merge_plans(type(record))[name]
        new = adapter.validate_python(value)
        setattr(record, name, reducer(getattr(record, name), new) if reducer else new)
    return state


def state_after(state: S, change: Change) -> S:
    """A copy of the state with a change that is not recorded yet."""
    change = to_jsonable(change)
    now = merge(shallow_copy(state), change)
    now.derive(change)
    return now


def fold(state: S, steps: Iterable[Step]) -> S:
    """The state after these steps, those that one of them undoes without what they changed by a person's
    word."""
    steps = list(steps)
    undone = find_undone(steps, getattr(state, "edits", ()))
    for step in steps:
        change = step.change
        if step.n in undone:
            change = {
                name: value
                for name, value in change.items()
                if name.removeprefix(REMOVAL_PREFIX) not in PERSONS_FIELDS
            }
            private = [note["text"] for note in step.change.get("notes", ()) if note.get("private")]
            if private:  # what was made from it is still there
                change["earlier_private_notes"] = [*getattr(state, "earlier_private_notes", ()), *private]
        if undone and "readings" in change:
            change = {**change, "readings": [r for r in change["readings"] if r["note"] not in undone]}
        merge(state, change).derive(change, step.n)
    return state


def find_undone(steps: Sequence[Step], before: Iterable[Edit] = ()) -> set[int]:
    """The numbers of the steps that a later one undoes and that is not undone itself; `before` are the edits
    of the steps before these."""
    told = [(edit.step, edit.undoes) for edit in before]
    told += [(step.n, edit.get("undoes", -1)) for step in steps for edit in step.change.get("edits", ())]
    undone: set[int] = set()
    for n, undoes in reversed(told):
        if n not in undone and 0 <= undoes < n:
            undone.add(undoes)
    return undone


def is_persons_change(change: Change) -> bool:
    """Does it change what an undo takes out?"""
    return any(name.removeprefix(REMOVAL_PREFIX) in PERSONS_FIELDS for name in change)


def shallow_copy(state: S) -> S:
    """A copy that can be merged into while others read the first: containers are copied, values shared."""
    copies = {
        name: shallow_copy(value) if isinstance(value, State) else value.copy()
        for name, value in state.__dict__.items()
        if isinstance(value, dict | list | State)
    }
    return state.model_copy(update=copies)


@lru_cache(maxsize=16)
def _merge_plans(kind: type[State]) -> dict[str, tuple[TypeAdapter[Any], Any]]:
    plans: dict[str, tuple[TypeAdapter[Any], Any]] = {}
    for name, field in kind.model_fields.items():
        reducer = next((mark for mark in field.metadata if callable(mark)), None)
        shape: Any = field.annotation
        stored: Any = GenericAlias(list, (get_args(shape)[1],)) if reducer is upsert else shape
        plans[name] = (TypeAdapter(stored), reducer)
    return plans
