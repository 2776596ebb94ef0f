"""The table of acts: all that a person, or a program for them, does to a run.

    acts.perform(bench, run_id, "send_back", head, {"note": "Which year?"})
    [act.name for act in acts.list_possible(view)]

The screens, the command line and the facade are made from it. The parameters of an act are those of its
function, read by a pydantic model, whose JSON schema describes them; a result is the number of the recorded
step, or the id of a new run. Whoever owns the run may do all of them; a guest only reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from agent.actions.commit import (
    ACCEPTING_FLOWS,
    ANSWERED_STATUSES,
    EDITABLE_FLOWS,
    UNANSWERED_STATUSES,
    ActionContext,
    commit,
)
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.errors import ConcurrentChange, UsageError, describe_faults
from agent.flows import FLOWS
from agent.flows.chat import dialogue
from agent.llm.recorded import RECORDED, list_examples
from agent.store.ledger import ANSWERED_FIRST
from agent.text.plurals import clip
from agent.types import STATUS_PHRASES, Status


@dataclass(frozen=True)
class Act:
    """One act. Its function, of its name in the module `source` unless that names another, works out a step
    from the run as it is (its first parameter is the `view`), or does all of it (the `bench`, the `run_id`,
    perhaps the `head`). Possible it is for runs of these `flows` (none: of all) in these `statuses` when
    `fits` says so. `starts`: the flow of the run that it starts, "" for none or the same."""

    name: str
    label: str
    source: str
    flows: Collection[str] = ()
    statuses: Collection[Status] = tuple(Status)
    fits: Callable[[RunSnapshot], object] | str = lambda _: True
    starts: str = field(default="")

    @cached_property
    def function(self) -> Callable[..., Any]:
        """What does it."""
        return load(self.source if "." in self.source else f"{self.source}.{self.name}")

    @property
    def help(self) -> str:
        """What it does, in a sentence or two."""
        return " ".join((inspect.getdoc(self.function) or "").split())

    @cached_property
    def parameters(self) -> type[BaseModel]:
        """The model of its parameters."""
        hints = get_type_hints(self.function, include_extras=True)
        fields: dict[str, Any] = {
            name: (hints[name], ... if known.default is known.empty else known.default)
            for name, known in inspect.signature(self.function).parameters.items()
            if name not in ("bench", "run_id", "view", "head")
        }
        config = ConfigDict(extra="forbid")
        return create_model(self.name, __config__=config, __doc__=self.help, **fields)

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as the function takes them. Raises UsageError."""
        try:
            read = self.parameters.model_validate(dict(given))
        except ValidationError as error:
            known = ", ".join(self.parameters.model_fields) or "no parameters"
            raise UsageError(f"{describe_faults(error)}; {self.name} takes {known}") from error
        return {name: getattr(read, name) for name in read.model_fields_set}

    def check(self, view: RunSnapshot) -> None:
        """Raise UsageError for a run that it is not for, ConcurrentChange when it is not possible now."""
        flow = view.run.settings.flow
        if self.flows and flow not in self.flows:
            raise UsageError(
                f"to {self.label.lower()} is for {', '.join(self.flows)} runs, and this is a {flow} "
                "run: ask a new question instead"
            )
        if view.run.status not in self.statuses:
            raise ConcurrentChange(
                f"to {self.label.lower()} is not possible now: the run is {STATUS_PHRASES[view.run.status]}"
            )
        fits = load(self.fits) if isinstance(self.fits, str) else self.fits
        if not fits(view):
            raise ConcurrentChange(
                f"to {self.label.lower()} is not possible now: there is nothing that it could change"
            )


def load(source: str) -> Callable[..., Any]:
    """A function of this package by its module and name, imported when it is first needed."""
    module, _, name = source.partition(".")
    function: Callable[..., Any] = getattr(import_module(f"agent.actions.{module}"), name)
    return function


def perform(
    bench: ActionContext, run_id: str, name: str, head: int | None, given: Mapping[str, Any]
) -> int | str:
    """Do an act, on the run as it was at step `head` if that is given. Raises NotFound, UsageError and
    ConcurrentChange."""
    act = find_act(name)
    values = act.read(given)
    takes = inspect.signature(act.function).parameters

    def make(view: RunSnapshot) -> Any:
        act.check(view)
        return act.function(view, **values)

    if "view" in takes:
        return commit(bench, run_id, name, make, head=head)
    view = bench.snapshot(run_id)
    if head not in (None, view.head):
        raise ConcurrentChange(ANSWERED_FIRST)
    act.check(view)
    more = {"head": head} if "head" in takes else {}
    done: int | str | None = act.function(bench, run_id, **more, **values)
    return view.head if done is None else done


def find_act(name: str) -> Act:
    """An act by its name. Raises UsageError."""
    if name not in ACTS:
        raise UsageError(f"there is no act {clip(name)}; there are {', '.join(ACTS)}")
    return ACTS[name]


def is_possible(name: str, view: RunSnapshot) -> bool:
    """Whether an act is possible with a run as it is."""
    try:
        ACTS[name].check(view)
    except UsageError:
        return False
    return True


def list_possible(view: RunSnapshot) -> list[Act]:
    """The acts that are possible with a run as it is."""
    return [act for act in ACTS.values() if is_possible(act.name, view)]


WAITING, REVIEW, PAUSED, RESEARCH = (Status.WAITING,), (Status.REVIEW,), (Status.PAUSED,), ("research",)
CHANGEABLE = (*UNANSWERED_STATUSES, *WAITING, *REVIEW)
"""Statuses in which the settings of a run can be changed."""


def _asks_exclusion(view: RunSnapshot) -> bool:
    """Whether the run asks if the sources of a note are to be left out."""
    return bool(view.state.halt and view.state.halt.kind == "exclusion")


_TABLE = (
    Act(
        "approve", "Approve", "run_control", (), WAITING, lambda v: v.state.pending or v.next == "check_plan"
    ),
    Act("approve_path", "Approve the path", "run_control", ("collect",), WAITING),
    Act("edit", "Change the decision", "run_control", (), WAITING, lambda v: v.state.pending),
    Act("skip", "Skip", "run_control", (), WAITING, lambda v: v.state.pending),
    Act("answer", "Answer", "run_control", (), WAITING, lambda v: v.state.pending),
    Act("respond", "Answer", "run_control", (), WAITING, lambda v: dialogue.asks_back(v.state)),
    Act("steer", "Add guidance", "run_control", (), (*UNANSWERED_STATUSES, *WAITING)),
    Act("pause", "Pause", "run_control", (), (Status.RUNNING,)),
    Act("stop", "Stop", "run_control", (), (Status.RUNNING, Status.PAUSED, *WAITING)),
    Act("resume", "Resume", "run_control", (), UNANSWERED_STATUSES),
    Act("finish", "Answer now", "run_control", (), (*UNANSWERED_STATUSES, *WAITING)),
    Act("leave_out", "Leave them out", "run_control", RESEARCH, PAUSED, _asks_exclusion),
    Act("keep_sources", "Keep them", "run_control", RESEARCH, PAUSED, _asks_exclusion),
    Act("accept", "Accept", "run_control", (), REVIEW),
    Act("send_back", "Send back", "run_control", (), REVIEW),
    Act("comment", "Comment", "run_control", RESEARCH, REVIEW),
    Act(
        "reopen",
        "Reopen",
        "run_control",
        (),
        (Status.DONE,),
        lambda v: v.state.answers and "review" in FLOWS[v.run.settings.flow].rest_statuses,
    ),
    Act("rewrite", "Write in another length", "report_form", RESEARCH, ANSWERED_STATUSES),
    Act(
        "use_outline",
        "Use the outline",
        "report_form",
        RESEARCH,
        (*WAITING, *ANSWERED_STATUSES),
        lambda v: v.state.own.outline and (v.run.status is not Status.WAITING or v.next == "check_outline"),
    ),
    Act("replan", "Change the plan", "plan_edits", RESEARCH),
    Act("mark", "Mark facts", "fact_edits", EDITABLE_FLOWS),
    Act("correct", "Correct a fact", "fact_edits", EDITABLE_FLOWS),
    Act("revise", "Edit facts", "fact_edits", EDITABLE_FLOWS),
    Act("add", "Add a fact", "fact_edits", EDITABLE_FLOWS),
    Act("strike_source", "Exclude a source", "sources", EDITABLE_FLOWS),
    Act("restore_source", "Restore a source", "sources", EDITABLE_FLOWS, fits=lambda v: v.state.strikes),
    Act("settle", "Resolve a conflict", "conflict_rulings", EDITABLE_FLOWS, fits=lambda v: v.state.conflicts),
    Act("look", "Search for a conflict", "conflict_rulings", RESEARCH, fits=lambda v: v.state.conflicts),
    Act("undo", "Undo", "undo_edits", EDITABLE_FLOWS, fits="undo_edits.find_undoable"),
    Act("redo", "Redo", "undo_edits", EDITABLE_FLOWS, fits="undo_edits.find_redoable"),
    Act("retry", "Try again", "page_input", ACCEPTING_FLOWS),
    Act("supply", "Supply a page", "page_input", ACCEPTING_FLOWS),
    Act(
        "overrule",
        "Overrule a mark",
        "run_control",
        ("check_text",),
        fits=lambda v: v.state.own.checked_text(v.state),
    ),
    Act("raise", "Raise a budget", "budget.raise_caps", (), CHANGEABLE),
    Act("until", "Change where it stops", "budget.set_stop_point", (), CHANGEABLE),
    Act("threshold", "Change the threshold", "budget.set_review_threshold", (), CHANGEABLE),
    Act("keep_model", "Go on with another model", "budget", (), CHANGEABLE),
    Act(
        "drop_model",
        "Go on without a model",
        "budget",
        (),
        CHANGEABLE,
        lambda v: v.run.settings.model != "keyless",
    ),
    Act("fork", "Branch", "forks", ("research", "site", "collect")),
    Act(
        "verify_again",
        "Verify again",
        "verify_again",
        ("research", "site", "collect", "check_text", "chat"),
        ANSWERED_STATUSES,
        lambda v: v.state.answer and any(source.page_quotes for source in v.state.answer.sources),
        starts="verify_again",
    ),
    Act("erase_note", "Erase a private note", "release", fits="release.list_private"),
)
ACTS = {act.name: act for act in _TABLE}
"""All acts by their names."""


@dataclass(frozen=True)
class RecordedAct:
    """An act of agent.actions.acts with its parameters; `label` tells a person what it does."""

    label: str
    act: str
    given: dict[str, Any]


def find_recorded_act(view: RunSnapshot) -> RecordedAct | None:
    """The act that was recorded after the run's newest answer; None where none was."""
    run, answered = view.run, len(view.state.answers)
    if run.settings.model != RECORDED or run.status not in (Status.REVIEW, Status.WAITING) or not answered:
        return None
    for example in list_examples():
        if (example["flow"], example["question"]) == (run.settings.flow, run.question):
            for told in example.get("next", [])[answered - 1 : answered]:
                return fill_act(view.state, told)
    return None


def fill_act(state: RunState, told: dict[str, Any]) -> RecordedAct | None:
    """An act of an example with what its words mean in the run: of a `conflict` the one that has this value,
    of `facts` those whose statements hold these words."""
    given = dict(told["given"])
    if words := given.get("conflict"):
        sides = [(one.id, side.text) for one in state.conflicts.values() for side in one.values]
        found = next((side for side in sides if words in side[1]), None)
        if found is None:
            return None
        given["conflict"], given["value"] = found
    if wanted := given.get("facts"):
        given["facts"] = [fact.id for fact in state.facts.values() for w in wanted if w in fact.statement]
    return RecordedAct(told["label"], told["act"], given)
