"""The budgets of a run: what it is likely to need before it starts, how much of each is used, and what a
person does when one is used up.

A round begins with the question, after an answer that was sent back, or with a fork.

describe_budgets(bench, settings)               # "About 24 s, ... Stops after 12 steps ... at most"
bench.act(run_id, "raise", caps={"steps": 18})   # the run goes on where it paused"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from statistics import median
from typing import Annotated, Any

from pydantic import Field, FiniteFloat

from agent.actions.commit import ANSWERED_STATUSES, RECOVER, ActionContext, PersonStep, commit
from agent.engine.context import RESERVED_SHARE
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.llm.recorded import RECORDED
from agent.store.model_calls import list_finished_runs
from agent.text.plurals import format_count
from agent.types import CAP_SETTINGS, Action, Cap, PauseRequest, Settings, Status, StopPoint
from agent.types.batches import BudgetMeter, meter_usage

MAX_CAPS: dict[Cap, float] = {
    "steps": 200,
    "pages": 500,
    "calls": 2000,
    "tokens": 10_000_000,
    "cost": 100.0,
    "seconds": 24 * 3600.0,
}
"""The most a person may set."""
MODEL_BUDGETS: tuple[Cap, ...] = ("calls", "tokens", "cost")
"""Budgets that only a model uses; a share of each is reserved for the answer."""
PAGE_LIMITED_FLOWS = ("site", "collect", "check_text")
"""Flows that count pages, by a limit of their own, instead of steps."""
MIN_RUNS = 3
"""Runs of the same kind that an estimate needs."""
CAP_STEPS = {"cost": 0.01, "seconds": 60.0, "tokens": 1000.0}
"""What a cap is rounded up to; others to a whole number."""
UNITS: dict[Cap, str] = {
    "steps": "step",
    "pages": "page",
    "calls": "model call",
    "tokens": "token",
    "cost": "$",
    "seconds": "s",
}


def format_amount(name: Cap, value: float | None) -> str:
    """An amount of a budget: "3 pages", "12,000 tokens", "$0.20", "0.4 s", "4 min"."""
    if value is None:
        return "cost unknown"
    if name == "cost":
        return f"${value:.2f}" if value >= 0.095 or not value else f"${value:.3f}"
    if name == "seconds":
        if value >= 120:
            return f"{value / 60:.0f} min"
        return f"{value:.0f} s" if value >= 10 else f"{max(value, 0.1):.1g} s"
    number = round(value)
    return format_count(round(number, -3) if name == "tokens" and number >= 10_000 else number, UNITS[name])


def describe_budgets(bench: ActionContext, settings: Settings) -> str:
    """The caps of a run with these settings, after what earlier runs of its kind needed, in a sentence."""
    is_known = bench.worker.model_search.peek()  # a screen does not wait for the model's server
    has_model = is_known and bool(bench.worker.model_client(settings.model, settings.fast_model)[0])
    caps = {name: cap for name, cap in list_caps(settings).items() if has_model or name not in MODEL_BUDGETS}
    most = f"Stops after {', '.join(format_amount(name, cap) for name, cap in caps.items())} at most"
    similar = [
        run
        for run in list_finished_runs(bench.store.engine)
        if run.settings.flow == settings.flow
        and (run.settings.world == "live") == (settings.world == "live")
        and bool(run.usage.llm_calls) == bool(has_model)
        and run.steps > 0
    ]
    if len(similar) < MIN_RUNS or settings.stop_point == "budget":
        return most
    costs = [run.usage.cost_usd for run in similar if run.usage.cost_usd is not None]
    likely = [format_amount("seconds", median(run.usage.seconds for run in similar))]
    if has_model and any(costs) and len(costs) == len(similar):
        likely.append(format_amount("cost", median(costs)))
    return f"About {', '.join(likely)}, like the last {len(similar)} of this kind. {most}"


def list_caps(settings: Settings) -> dict[Cap, float]:
    """The budgets of a run with these settings, each with its cap."""
    caps = {name: float(getattr(settings, setting)) for name, setting in CAP_SETTINGS.items()}
    if settings.flow in PAGE_LIMITED_FLOWS:
        del caps["steps"]
        caps["pages"] = float(getattr(settings, settings.flow).max_pages)
    return caps


def read_meters(bench: ActionContext, view: RunSnapshot) -> list[BudgetMeter]:
    """How much of each budget the run's round has used, the rewriting of its answer counted in."""
    run, state, steps = view.run, view.state, view.steps
    ended = run.status in ANSWERED_STATUSES and bool(state.answers)
    led = state.answers[find_led_answer(state)].step if ended else len(steps)
    round_start = FLOWS[run.settings.flow].find_round_start(steps[:led])
    actions = find_last_round_actions(state) if ended else state.actions_this_round
    usage = bench.store.calls.sum_usage(run.id, round_start)
    used: dict[Cap, float | None] = {meter.name: meter.used for meter in meter_usage(usage, run.settings)} | {
        "steps": len(actions),
        "pages": state.own.count_pages(actions),
        "seconds": round(sum(step.seconds for step in steps if step.n > round_start), 2),
    }
    return [BudgetMeter(name=name, used=used[name], cap=cap) for name, cap in list_caps(run.settings).items()]


def find_last_round_actions(state: RunState) -> list[Action]:
    """The actions of the round that led to the newest answer."""
    led = find_led_answer(state)
    since = state.answers[led - 1].step if led else -1
    if state.forked_at < state.answers[-1].step:
        since = max(since, state.forked_at)
    return [action for action in state.actions if action.step > since]


def find_led_answer(state: RunState) -> int:
    """The index of the newest answer that a round led to: one that was only rewritten after an edit, without
    an action, belongs to the round before."""
    for n in range(len(state.answers) - 1, 0, -1):
        since, answer = state.answers[n - 1].step, state.answers[n]
        if not answer.because or any(since < action.step < answer.step for action in state.actions):
            return n
    return 0


def suggest_cap(halt: PauseRequest) -> float:
    """A cap that lets the run go on for about half as long again."""
    return _round_cap(halt, max(halt.cap * 1.5, find_minimum_cap(halt)))


def find_minimum_cap(halt: PauseRequest) -> float:
    """The least cap that is not reached at once, with the share reserved for the answer."""
    needed = halt.used / (1 - RESERVED_SHARE) if halt.kind in MODEL_BUDGETS else halt.used
    needed = max(needed, halt.used + 1) if halt.kind == "calls" else needed
    return _round_cap(halt, needed + CAP_STEPS.get(halt.kind, 1))


def _round_cap(halt: PauseRequest, value: float) -> float:
    step = CAP_STEPS.get(halt.kind, 1)
    return round(ceil(round(value / step, 6)) * step, 2)


def raise_caps(
    view: RunSnapshot,
    caps: Annotated[
        Mapping[Cap, FiniteFloat],
        Field(
            description='the new budgets as JSON: {"steps": 20}; steps, pages, calls, tokens, cost, seconds'
        ),
    ],
) -> PersonStep:
    """Set budgets. A run that is paused at one of them goes on."""
    halt = view.state.halt if view.run.status is Status.PAUSED else None
    settings, has_cap = view.run.settings, list_caps(view.run.settings)
    for name, cap in caps.items():
        most = format_amount(name, MAX_CAPS[name])
        if name not in has_cap:
            raise UsageError(f"a {settings.flow} run has no budget of {name}")
        if not 0 <= cap <= MAX_CAPS[name]:
            raise UsageError(f"{format_amount(name, cap)} cannot be set: a budget is from 0 to {most}")
        if halt and halt.kind == name and cap < (least := find_minimum_cap(halt)):
            raise UsageError(
                f"{format_amount(name, halt.used)} are used already: set at least "
                f"{format_amount(name, least)}"
            )
        limited, setting = settings, CAP_SETTINGS[name]
        if name == "pages" and settings.flow in PAGE_LIMITED_FLOWS:
            limited = getattr(settings, settings.flow)
        lifted = limited.replace(**{setting: type(getattr(limited, setting))(cap)})
        settings = lifted if limited is settings else settings.replace(**{settings.flow: lifted})
    if halt and halt.kind in MAX_CAPS and halt.kind not in caps:
        raise UsageError(f"the run is paused at its budget of {halt.kind}: raise that one to go on")
    goes_on = halt is not None and halt.kind in caps
    return _build_settings_step(settings, {"halt": None} if goes_on else {}, RECOVER if goes_on else {})


def set_stop_point(view: RunSnapshot, until: StopPoint) -> PersonStep | None:
    """Set where the run comes to its person, from its next decision on."""
    if view.run.settings.stop_point == until:
        return None
    mode = {"until": until, "mode": "step" if until == "step" else "auto"}
    conflicts = view.state.conflicts.items()
    known = [name for name, one in conflicts if one.status == "open" and name not in view.state.met]
    extra = {"met": known} if until == "conflict" and known else {}
    return _build_settings_step(view.run.settings.model_copy(update=mode), extra)


def set_review_threshold(
    view: RunSnapshot, threshold: Annotated[float, Field(ge=0, le=1, description="from 0 to 1")]
) -> PersonStep | None:
    """Set the confidence from which an answer goes to review, from the run's next decision on."""
    wanted = round(threshold, 4)
    if view.run.settings.threshold == wanted:
        return None
    return _build_settings_step(view.run.settings.replace(threshold=wanted))


def keep_model(
    bench: ActionContext,
    run_id: str,
    head: int | None,
    served_by: Annotated[str, Field(description="refuse unless this is its mark")] = "",
) -> int:
    """Go on with the model and server that are set up now, where the run had others."""

    def build(view: RunSnapshot) -> PersonStep | None:
        own = view.run.settings
        wanted = own.replace(model="auto" if own.model == RECORDED else own.model)
        mark = bench.worker.mark_model(wanted)
        if not mark or served_by not in ("", mark):
            is_set_up = "another model or server is" if mark else "no model is"
            raise ConcurrentChange(f"{is_set_up} set up now: look at the run again")
        if (wanted.model, mark) == (own.model, own.served_by) and view.run.status is not Status.PAUSED:
            return None
        return _choose_model(view, served_by=mark, model=wanted.model)

    return commit(bench, run_id, "keep_model", build, head=head)


def drop_model(view: RunSnapshot) -> PersonStep:
    """Go on without a model."""
    return _choose_model(view, model="keyless", served_by="")


def _choose_model(view: RunSnapshot, **chosen: str) -> PersonStep:
    """A run that rests for this choice works again."""
    asks = (
        view.run.status is Status.PAUSED and view.state.halt and view.state.halt.kind in ("model", "recorded")
    )
    settings = view.run.settings.replace(**chosen)
    return _build_settings_step(settings, {"halt": None} if asks else {}, RECOVER if asks else {})


def _build_settings_step(
    settings: Settings, extra: Change | None = None, columns: Mapping[str, Any] | None = None
) -> PersonStep:
    """A step that sets the settings in the state and in the run's row together."""
    row = {"settings": settings.model_dump_json(), **(columns or {})}
    return PersonStep({"settings": settings, **(extra or {})}, columns=row)
