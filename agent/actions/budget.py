"""The budgets of a run: what one is likely to need before it starts, and what a person says when one is used
up.

    estimate(bench, settings).told            # "about 6 steps, 4 pages, 13 model calls, ..."
    raise_caps(bench, run_id, {"steps": 18})   # at a cap: go on where it stood

A word of a person is a step that sets the settings in the state and in the run's row together, so that what
comes next obeys it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, isfinite
from statistics import median
from typing import Any

from agent.engine.context import RESERVED_SHARE
from agent.engine.state import to_jsonable
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.flows.shared.budget_meters import BudgetMeter, list_caps, measure_budgets, with_cap
from agent.llm import prices
from agent.store.run_history import FinishedRun, list_finished_runs
from agent.types import Cap, PauseRequest, Settings, Status, StopPoint
from agent.workbench import RunSnapshot, Workbench

MAX_CAPS: dict[Cap, float] = {
    "steps": 200,
    "pages": 500,
    "calls": 2000,
    "tokens": 10_000_000,
    "cost": 100.0,
    "seconds": 24 * 3600.0,
}
"""What a person may raise each budget to."""
RESERVED_BUDGETS: tuple[Cap, ...] = ("calls", "tokens", "cost")
"""Budgets of which a share is kept back for the answer."""
CHANGEABLE_STATUSES = (
    Status.RUNNING,
    Status.WAITING,
    Status.PAUSED,
    Status.STOPPED,
    Status.FAILED,
    Status.REVIEW,
)
MIN_RUNS = 3
"""Runs of the same kind from which on an estimate is made of them instead of the defaults."""
DEFAULT_STEPS, PAGES_PER_STEP, CALLS_PER_STEP = 8, 0.6, 2.1
TOKENS_PER_CALL, COMPLETION_SHARE = 3000, 0.15
"""Tokens of a model call, and the share of them that the model writes."""
DEFAULT_SECONDS = {"live": 3.0, "folder": 0.1, "call": 5.0}
"""Seconds of a step in the web or a folder, and of a model call."""
UNITS: dict[Cap, str] = {
    "steps": "step",
    "pages": "page",
    "calls": "model call",
    "tokens": "token",
    "cost": "$",
    "seconds": "s",
}


@dataclass(frozen=True)
class BudgetEstimate:
    """What a run is likely to need of each budget (None: nobody knows, a price), and the caps it cannot pass.
    `runs`: made from how many."""

    likely: Mapping[Cap, float | None]
    caps: Mapping[Cap, float]
    sample_size: int = 0

    @property
    def description(self) -> str:
        """As a sentence for a person."""
        shown: list[Cap] = [
            name for name in self.caps if name in ("steps", "pages", "seconds") or self.likely["calls"]
        ]
        about, most = (
            ", ".join(format_amount(name, given[name]) for name in shown)
            for given in (self.likely, self.caps)
        )
        made = (
            f"like the last {self.sample_size} of this kind"
            if self.sample_size
            else f"a guess, until {MIN_RUNS} runs of this kind are done"
        )
        return f"about {about} ({made}); at most {most}"


def format_amount(name: Cap, value: float | None) -> str:
    """So much of a budget, for a sentence: "3 pages", "12,000 tokens", "$0.20", "0.4 s", "4 min"."""
    if value is None:
        return "cost unknown"
    if name == "cost":
        return f"${value:.2f}" if value >= 0.095 or not value else f"${value:.3f}"
    if name == "seconds":
        return (
            f"{value / 60:.0f} min"
            if value >= 120
            else f"{value:.0f} s"
            if value >= 10
            else f"{max(value, 0.1):.1g} s"
        )
    number = round(value)
    shown = f"{round(number, -3):,}" if name == "tokens" and number >= 10_000 else f"{number:,}"
    return f"{shown} {UNITS[name]}{'' if number == 1 else 's'}"


def estimate_budgets(bench: Workbench, settings: Settings) -> BudgetEstimate:
    """What a run of these settings is likely to need: from runs of the same kind on this store, else from
    documented defaults."""
    client, _ = bench.worker.model_client(settings.model, settings.fast_model)
    model = str(getattr(client, "strong", "")) if client else ""
    kin = [run for run in list_finished_runs(bench.store.engine) if _is_similar(run, settings, bool(model))]
    kin = kin if len(kin) >= MIN_RUNS else []
    most = list_caps(settings)
    likely = (
        _estimate_from_runs(kin)
        if kin
        else _estimate_from_defaults(settings, model, local=bool(getattr(client, "local", False)))
    )
    capped_steps = min(1.0, most.get("steps", DEFAULT_STEPS) / max(1.0, likely["steps"] or 1.0))
    scaled: dict[Cap, float | None] = {
        name: None if value is None else value * capped_steps for name, value in likely.items()
    }
    if settings.stop_point == "budget" and scaled["steps"]:
        up = most.get("steps", DEFAULT_STEPS) / scaled["steps"]
        scaled = {name: None if value is None else value * up for name, value in scaled.items()}
    return BudgetEstimate(
        {name: None if (v := scaled[name]) is None else min(v, cap) for name, cap in most.items()},
        most,
        len(kin),
    )


def _is_similar(run: FinishedRun, settings: Settings, model: bool) -> bool:
    live = (run.settings.world == "live") == (settings.world == "live")
    return (
        run.settings.flow == settings.flow and live and bool(run.usage.llm_calls) == model and run.steps > 0
    )


def _estimate_from_runs(kin: list[FinishedRun]) -> dict[Cap, float | None]:
    costs = [run.usage.cost_usd for run in kin if run.usage.cost_usd is not None]
    return {
        "steps": median(run.steps for run in kin),
        "pages": median(run.pages for run in kin),
        "calls": median(run.usage.llm_calls for run in kin),
        "tokens": median(run.usage.prompt_tokens + run.usage.completion_tokens for run in kin),
        "cost": median(costs) if len(costs) == len(kin) else None,
        "seconds": median(run.usage.seconds for run in kin),
    }


def _estimate_from_defaults(settings: Settings, model: str, *, local: bool) -> dict[Cap, float | None]:
    calls = DEFAULT_STEPS * CALLS_PER_STEP if model else 0.0
    tokens = calls * TOKENS_PER_CALL
    cost = (
        0.0
        if local or not model
        else prices.compute_cost(model, int(tokens * (1 - COMPLETION_SHARE)), int(tokens * COMPLETION_SHARE))
    )
    seconds = (
        DEFAULT_STEPS * DEFAULT_SECONDS["live" if settings.world == "live" else "folder"]
        + calls * DEFAULT_SECONDS["call"]
    )
    return {
        "steps": DEFAULT_STEPS,
        "pages": DEFAULT_STEPS * PAGES_PER_STEP,
        "calls": calls,
        "tokens": tokens,
        "cost": cost,
        "seconds": seconds,
    }


def read_meters(bench: Workbench, view: RunSnapshot) -> list[BudgetMeter]:
    """How much of each budget the run's round has used."""
    return measure_budgets(bench.store.calls, FLOWS[view.run.settings.flow], view.run, view.state, view.steps)


def suggest_cap(halt: PauseRequest) -> float:
    """A cap that lets the run go on for about half as long again."""
    return _round_cap(halt.kind, max(halt.cap * 1.5, find_minimum_cap(halt)))  # type: ignore[arg-type]


def find_minimum_cap(halt: PauseRequest) -> float:
    """The least cap that is not reached at once, with the share that is kept back for the answer."""
    needed = halt.used / (1 - RESERVED_SHARE) if halt.kind in RESERVED_BUDGETS else halt.used
    needed = max(needed, halt.used + 1) if halt.kind == "calls" else needed
    return _round_cap(
        halt.kind,  # type: ignore[arg-type]
        needed + {"cost": 0.01, "seconds": 60.0, "tokens": 1000.0}.get(halt.kind, 1.0),  # type: ignore[arg-type]
    )  # type: ignore[arg-type]


def _round_cap(name: Cap, value: float) -> float:
    if name == "cost":
        return ceil(value * 100) / 100
    return float(ceil(value / (grain := {"tokens": 1000, "seconds": 60}.get(name, 1))) * grain)


def raise_caps(bench: Workbench, run_id: str, wanted: Mapping[Cap, float], head: int | None = None) -> None:
    """Set caps anew. A run that rests at a cap goes on where it stood.

    Raises UsageError when a cap would be reached at once, is none, or is not the one the run rests at;
    Overtaken when the run moved since step `head` or has ended."""

    def change(settings: Settings) -> Settings:
        for name, cap in wanted.items():
            settings = with_cap(settings, name, cap)
        return settings

    _change_settings(
        bench, run_id, "raise", change, head=head, lifts=lambda view: _check_caps_end_pause(view, wanted)
    )
    bench.worker.schedule(run_id)


def _check_caps_end_pause(view: RunSnapshot, wanted: Mapping[Cap, float]) -> bool:
    """Do these caps let a run go on that rests at one? Raises UsageError when they may not be set."""
    halt = view.state.halt if view.run.status is Status.PAUSED else None
    for name, cap in wanted.items():
        if name not in list_caps(view.run.settings):
            raise UsageError(f"a {view.run.settings.flow} run has no budget of {name}")
        if not isfinite(cap):
            raise UsageError(
                f"a budget without an end is none: {format_amount(name, MAX_CAPS[name])} is the most"
            )
        if not 0 <= cap <= MAX_CAPS[name]:
            raise UsageError(
                f"{format_amount(name, cap)} cannot be set: {format_amount(name, MAX_CAPS[name])} is the most"
            )
        if halt and halt.kind == name and cap < find_minimum_cap(halt):
            raise UsageError(
                f"{format_amount(name, halt.used)} are used already: set at least {format_amount(name, find_minimum_cap(halt))}"
            )
    if halt and halt.kind in MAX_CAPS and halt.kind not in wanted:
        raise UsageError(
            f"the run rests at its budget of {halt.kind}: without more of that it would not get on"
        )
    return halt is not None and halt.kind in wanted


def write_up(bench: Workbench, run_id: str, head: int | None = None) -> None:
    """At a cap: have the answer written from what was found, with the share that was kept back for it. Raises
    Overtaken."""
    view = bench.snapshot(run_id)
    if view.state.halt is None:
        raise ConcurrentChange("the run asks nothing of you now")
    change = {"why_stopped": view.state.halt.why, "stop_reason": "budget", "pending": None, "halt": None}
    if view.state.halt.kind == "conflict":
        change |= {
            "why_stopped": "a person asked for the answer from what was found so far",
            "stop_reason": "asked",
        }
    closing, values = (
        FLOWS[view.run.settings.flow].write_up_step,
        {"status": Status.RUNNING, "control": "", "error": ""},
    )
    bench.store.ledger.append_person_step(
        run_id, "finish", change, next=closing, head=head, among=(Status.PAUSED,), **values
    )
    bench.worker.schedule(run_id)


def set_stop_point(bench: Workbench, run_id: str, until: StopPoint) -> None:
    """Say where the run comes to its person, from its next decision on. Raises Overtaken when it has
    ended."""

    def change(settings: Settings) -> Settings:
        return settings.model_copy(update={"until": until, "mode": "step" if until == "step" else "auto"})

    view = bench.snapshot(run_id)
    if view.run.settings.stop_point == until:
        return
    known = [
        name
        for name, conflict in view.state.conflicts.items()
        if conflict.status == "open" and name not in view.state.met
    ]
    _change_settings(
        bench, run_id, "until", change, more={"met": known} if until == "conflict" and known else {}
    )


def set_review_threshold(bench: Workbench, run_id: str, threshold: float) -> None:
    """Say from which confidence an answer goes to review, from the run's next decision on. Raises UsageError,
    Overtaken when it has ended."""
    if not 0 <= threshold <= 1:
        raise UsageError("the threshold of the confidence lies between 0 and 1")
    wanted = round(threshold, 4)
    if bench.snapshot(run_id).run.settings.threshold != wanted:
        _change_settings(
            bench, run_id, "threshold", lambda settings: settings.model_copy(update={"threshold": wanted})
        )


def _change_settings(
    bench: Workbench,
    run_id: str,
    name: str,
    change: Callable[[Settings], Settings],
    *,
    head: int | None = None,
    more: Mapping[str, Any] | None = None,
    lifts: Callable[[RunSnapshot], bool] | None = None,
) -> None:
    """Append a step that changes the settings, in the state and in the row. A run at work may move meanwhile:
    then it is tried again.

    `lifts` is asked of the run as it stands each time: is it at rest and goes on with these settings?"""
    for last in (False, False, False, True):
        view = bench.snapshot(run_id)
        goes_on = lifts is not None and lifts(view)
        settings = change(view.run.settings)
        told = {"settings": settings, **(more or {}), **({"halt": None} if goes_on else {})}
        columns = {"status": Status.RUNNING, "control": "", "error": ""} if goes_on else {}
        try:
            bench.store.ledger.append_person_step(
                run_id,
                name,
                to_jsonable(told),
                head=view.head if head is None else head,
                among=CHANGEABLE_STATUSES,
                settings=settings.model_dump_json(),
                **columns,
            )
            return
        except ConcurrentChange:
            if last or head is not None or view.run.status is not Status.RUNNING:
                raise
