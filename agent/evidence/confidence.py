"""How sure the evidence makes us: one formula, every move told in words. Knows facts and conflicts, not the pages behind them.

    value = coverage × support × trust × agreement − conflicts      (between 0 and 1; a model's own figure can only lower it)

* coverage   the share of the question that usable facts cover; given by the caller.
* support    1 − ALONE × REST ** (n − 1), n being the independent voices that say what the best fact says; all other
             relevant voices together count ASIDE of one; 0 with none. One voice gives 0.80, two 0.95, three 0.99. Parts of a question are averaged.
* trust      FLOOR + SLOPE × the trust of the best voices (mean over parts), at most 1; what a person pinned is trusted fully.
* agreement  1 − DISPUTE × the disputed share of the relevant facts.
* conflicts  OPEN for each open conflict that touches a relevant fact, at most MOST.

The shape is our own; the constants stand here to be calibrated on held-out questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.evidence.compare import clash, likeness
from agent.evidence.conflicts import voices
from agent.evidence.values import read
from agent.types import Confidence, Conflict, Fact, Move

ALONE = 0.20
"""What a single voice lacks."""
REST = 0.25
"""What of that lack each further voice leaves."""
ASIDE = 0.2
"""What the voices together count that bear on the question but do not say the same: never enough for the threshold."""
FLOOR, SLOPE = 0.70, 0.50
"""Trust 0.6 or better leaves the value as it is, trust 0.1 takes a quarter."""
DISPUTE = 0.5
OPEN, MOST = 0.10, 0.30
RELEVANT = 0.5
"""A fact counts when it is at least this relevant, measured by the most relevant one."""
SAME = 0.5
"""Least likeness (Dice of content words) of two statements that say the same."""
VISIBLE = 0.005
"""Smaller moves are not told on their own."""


@dataclass(frozen=True)
class _Ground:
    """What the evidence amounts to: the five factors, and the counts the reasons speak of."""

    factors: dict[str, float]
    voices: int
    facts: int
    open: int


def assess(
    *, step: int, facts: Iterable[Fact], conflicts: Iterable[Conflict], coverage: float,
    previous: Confidence | None = None, model: float | None = None,
) -> Confidence:  # fmt: skip
    """The confidence after a step, with the moves that led to it from the previous one (their deltas add up)."""
    ground = _ground(list(facts), list(conflicts), min(1.0, max(0.0, coverage)))
    own = _value(ground.factors)
    value = own if model is None else min(own, max(0.0, model))
    before = previous.value if previous else 0.0
    moves = _moves(previous.factors if previous else {}, ground)
    held_before = _value(previous.factors) - before if previous and previous.factors else 0.0
    if abs((value - own) + held_before) >= VISIBLE:
        moves.append(Move(delta=round(value - own + held_before, 4), reason=_model_reason(value, own, model)))
    rest = round(value - before - sum(move.delta for move in moves), 4)
    if moves and rest:
        moves[-1] = moves[-1].model_copy(update={"delta": round(moves[-1].delta + rest, 4)})
    elif abs(rest) >= VISIBLE:
        moves = [Move(delta=rest, reason="several small changes together")]
    return Confidence(step=step, value=round(value, 4), moves=moves, model=model, factors=ground.factors)


def _ground(facts: list[Fact], conflicts: list[Conflict], coverage: float) -> _Ground:
    told = [f for f in facts if f.decision != "struck" and (f.usable or f.verified)]
    best = max((f.relevance for f in told if f.usable), default=0.0)
    relevant = [f for f in told if f.decision == "pinned" or f.relevance >= RELEVANT * best]
    usable = [f for f in relevant if f.usable]
    parts = {f.part for f in usable}
    strengths = [_strength([f for f in usable if f.part == part]) for part in sorted(parts)]
    touched = {f.id for f in relevant}
    clashes = [c for c in conflicts if c.status == "open" and any(touched.intersection(v.fact_ids) for v in c.values)]
    factors = {
        "coverage": coverage,
        "support": sum(1 - ALONE * REST ** (n - 1) for n, _ in strengths) / len(strengths) if strengths else 0.0,
        "trust": sum(min(1.0, FLOOR + SLOPE * trust) for _, trust in strengths) / len(strengths) if strengths else 1.0,
        "agreement": 1 - DISPUTE * sum(f.disputed for f in relevant) / len(relevant) if relevant else 1.0,
        "conflicts": min(MOST, OPEN * len(clashes)),
    }
    return _Ground({name: round(v, 4) for name, v in factors.items()}, len(voices(usable)), len(usable), len(clashes))


def _strength(facts: list[Fact]) -> tuple[float, float]:
    """How many voices one part's best fact has (others counting a little), and the best trust among them."""
    lead = max(facts, key=lambda f: (f.decision == "pinned", f.relevance, f.trust, f.id))
    same = [f for f in facts if f is lead or _same(lead, f)]
    agreeing = len(voices(same))
    aside = ASIDE if len(voices(facts)) > agreeing else 0.0
    return agreeing + aside, max(1.0 if f.decision == "pinned" else f.trust for f in same)


def _same(a: Fact, b: Fact) -> bool:
    left, right = read(a.statement), read(b.statement)
    return likeness(left.words, right.words) >= SAME and clash(left, right, keyed=False, strict=False) is None


def _value(factors: dict[str, float]) -> float:
    if not factors:
        return 0.0
    product = factors["coverage"] * factors["support"] * factors["trust"] * factors["agreement"]
    return min(1.0, max(0.0, product - factors["conflicts"]))


def _moves(before: dict[str, float], ground: _Ground) -> list[Move]:
    """One factor after the other is brought from its old figure to the new; what each changes is its move."""
    if _value(before) == 0.0:
        return _first(ground)
    moves, at = [], dict(before)
    for name, figure in ground.factors.items():
        was = _value(at)
        rising = figure > at[name]
        at[name] = figure
        delta = _value(at) - was
        if abs(delta) >= VISIBLE:
            moves.append(Move(delta=round(delta, 4), reason=_reason(name, rising, ground)))
    return moves


def _first(ground: _Ground) -> list[Move]:
    calm = _value({**ground.factors, "conflicts": 0.0})
    if calm < VISIBLE:
        return []
    share = f"{ground.factors['coverage']:.0%} of the question"
    told = f"the first evidence: {_count(ground.facts, 'fact')} from {_count(ground.voices, 'independent site')} cover {share}"
    moves = [Move(delta=round(calm, 4), reason=told)]
    taken = _value(ground.factors) - calm
    return [*moves, Move(delta=round(taken, 4), reason=_reason("conflicts", True, ground))] if taken <= -VISIBLE else moves


def _reason(name: str, rising: bool, ground: _Ground) -> str:
    sites = _count(ground.voices, "independent site")
    return {
        ("coverage", True): f"the facts now cover {ground.factors['coverage']:.0%} of the question",
        ("coverage", False): f"only {ground.factors['coverage']:.0%} of the question is covered by facts that may count",
        ("support", True): f"another, independent site says the same ({sites} in all)" if ground.voices > 1 else "a site says it",
        ("support", False): f"fewer sites say the same as the best fact ({sites} in all)",
        ("trust", True): "a more trusted source says it, or a person confirmed it",
        ("trust", False): "the best fact comes from a less trusted source",
        ("agreement", True): "fewer of the relevant facts are disputed",
        ("agreement", False): "more of the relevant facts are disputed",
        ("conflicts", True): f"{_count(ground.open, 'conflict')} on this question {'is' if ground.open == 1 else 'are'} open",
        ("conflicts", False): "a conflict was settled" if not ground.open else f"fewer conflicts: {ground.open} still open",
    }[(name, rising)]


def _model_reason(value: float, own: float, model: float | None) -> str:
    if model is not None and value < own:
        return f"the model itself is less sure ({model:.2f}) than the evidence ({own:.2f})"
    return "the model no longer holds it down"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
