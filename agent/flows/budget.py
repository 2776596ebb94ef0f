"""How much of each budget a round has used: pure, from what the run did and spent since the round began."""

from __future__ import annotations

from agent.flows.state import Research
from agent.types import CAPS, Action, Cap, Noun, Settings, Usage


class Meter(Noun):
    """One budget: how much of it is used in this round, in the unit of its setting. `used` is None when nobody knows (a price)."""

    name: Cap
    used: float | None
    cap: float

    @property
    def share(self) -> float:
        """How full it is, 0 to 1."""
        return 1.0 if self.cap <= 0 else min(1.0, (self.used or 0.0) / self.cap)


def meters(state: Research, settings: Settings, spent: Usage, *, over: bool = False) -> list[Meter]:
    """The six budgets. `spent` is what calls and working time cost in this round; it is `over` when its answer is written."""
    doing = _last_round(state) if over else state.fresh_actions
    used: dict[Cap, float | None] = {
        "steps": len(doing), "pages": sum(1 for action in doing if action.page_id), "calls": spent.llm_calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens, "cost": spent.cost_usd if spent.llm_calls else 0.0, "seconds": spent.seconds,
    }  # fmt: skip
    caps = {name: float(getattr(settings, setting)) for name, setting in CAPS.items()}
    if settings.flow == "collect":
        caps |= {"steps": float(settings.collect.max_pages), "pages": float(settings.collect.max_pages)}
    return [Meter(name=name, used=value, cap=caps[name]) for name, value in used.items()]


def _last_round(state: Research) -> list[Action]:
    """The actions of the round that led to the newest answer."""
    since = state.answers[-2].step if len(state.answers) > 1 else -1
    if state.answers and state.forked_at < state.answers[-1].step:
        since = max(since, state.forked_at)
    return [action for action in state.actions if action.step > since]
