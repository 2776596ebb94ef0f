"""Confidence: one formula over facts and conflicts, with every change explained.

    value = coverage × support × trust × agreement − conflicts

It lies between 0 and 1; a model's own figure can only lower it.

* coverage   the share of the question that usable facts cover, given by the caller; of a plain question with
             answer features FULL_COVERAGE counts as all.
* support    1 − (1 − alone) × GAP_FACTOR_PER_SOURCE ** (n − 1); n is the number of independent sources that
             say what the best fact says; all other relevant sources together count OTHER_SOURCES_COUNT; 0
             without facts. Parts of a question are averaged.
* alone      how surely one source alone answers. Without answer features 1 − SINGLE_SOURCE_GAP. With them
             odds / (1 + odds), at most MAX_SINGLE_SOURCE_VALUE, where a plain question has
                 odds = BASE_ODDS × SHARP_ODDS ** sharp × MISSING_ODDS ** missing × OPENS_PAGE_ODDS ** opens
                        × ((1 + told) / (1 + bearing)) ** ANSWERING_SHARE_EXPONENT
             and one that takes several pages has
                 odds = MULTI_HOP_BASE_ODDS × SHARP_ODDS ** sharp × MISSING_ODDS ** missing
                        × JOINED_ODDS ** joined × LINKED_ODDS ** linked × YES_NO_ODDS ** closed
             `told` (at most MAX_ANSWERING_FACTS): facts of an answer with a value of the expected type;
             `bearing`: all usable facts; `missing`: words of the question that no fact of the answer has;
             `opens`: the best fact opens its page; `joined`: the share of the question that these facts hold
             together beyond the best of them; `linked`: of what no title says, the share that the quotes say;
             `sharp`: a date or a figure is asked for; `closed`: a yes or no is asked for. These names are
             stored in `Confidence.basis`. MAX_SINGLE_SOURCE_VALUE where a person pinned the best fact.
* trust      TRUST_FLOOR + TRUST_SLOPE × the trust of the best sources (mean over parts), at most 1; a pinned
             fact is trusted fully. A source with trust 1 (only a person gives it) leaves
             FULL_TRUST_GAP_FACTOR of what a single source lacks.
* agreement  1 − DISPUTE_WEIGHT × the disputed share of the relevant facts.
* conflicts  OPEN_CONFLICT_PENALTY for each open conflict on a relevant fact, at most MAX_CONFLICT_PENALTY.

With answer features the value is a frequency: of the answers given with 0.8, about 80 % were right on three
public question sets. DECISIONS.md says how the constants of `alone` were fitted. Those sets have one source a
question, so the other constants are our own judgement. One source never reaches the usual threshold
(0.90)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log

from agent.evidence import confidence_explanations as explanations
from agent.evidence.confidence_explanations import ReasonContext
from agent.evidence.contradiction.statements import dice_similarity, find_contradiction
from agent.evidence.source_independence import find_independent_sources
from agent.evidence.statement_features import extract_features
from agent.types import Confidence, ConfidenceChange, Conflict, Fact

SINGLE_SOURCE_GAP = 0.20
"""What a single source lacks without answer features."""
BASE_ODDS, MULTI_HOP_BASE_ODDS = 33.0, 1.25
"""The odds of an answer before anything is counted, for a plain question and for one that takes several
pages."""
SHARP_ODDS, MISSING_ODDS, OPENS_PAGE_ODDS, ANSWERING_SHARE_EXPONENT = 2.7, 0.82, 1.8, 1.8
JOINED_ODDS, LINKED_ODDS, YES_NO_ODDS = 11.0, 2.7, 0.37
"""The factors of the odds."""
MAX_ANSWERING_FACTS = 4
"""More answering facts are no surer sign."""
MAX_SINGLE_SOURCE_VALUE = 0.89
"""The most that one source gives: just below the usual threshold."""
FULL_COVERAGE = 0.8
"""The share of the question's words that counts as all: the rest is phrasing."""
GAP_FACTOR_PER_SOURCE = 0.25
"""The part of a single source's gap that each further source leaves."""
OTHER_SOURCES_COUNT = 0.05
"""What all relevant sources that do not say the same count together."""
TRUST_FLOOR, TRUST_SLOPE = 0.70, 0.50
"""Trust 0.6 or better leaves the value unchanged, trust 0.1 takes a quarter."""
FULL_TRUST_GAP_FACTOR = 0.5
"""The part of a single source's gap that full trust leaves."""
DISPUTE_WEIGHT = 0.5
OPEN_CONFLICT_PENALTY, MAX_CONFLICT_PENALTY = 0.10, 0.30
MIN_RELATIVE_RELEVANCE = 0.5
"""A fact counts when it has at least this share of the best fact's relevance."""
MIN_SAME_SIMILARITY = 0.5
"""Least similarity (Dice of content words) of two statements that say the same."""
LEVELS = (("High", 0.85), ("Moderate", 0.6), ("Low", 0.0))
"""The names of confidence levels, each with its least value."""
MIN_VISIBLE_CHANGE = 0.005
"""Smaller changes get no reason of their own."""
CHANGE_ORDER = (
    ("coverage",),
    ("told", "bearing"),
    ("opens",),
    ("missing",),
    ("joined",),
    ("linked",),
    ("chain", "sharp", "closed"),
    ("pinned",),
    ("left",),
    ("trust",),
    ("agreement",),
    ("conflicts",),
)
"""The order in which figures are replaced by the new ones; each group is a change of its own."""

MAX_COUNT = 1e6
BASE_INPUTS = {
    **dict.fromkeys(("coverage", "left", "trust", "agreement", "conflicts"), (0.0, 1.0)),
    **dict.fromkeys(("facts", "voices", "agreeing"), (0.0, MAX_COUNT)),
}
"""The inputs of every confidence, each with its range."""
ANSWER_INPUTS = {
    **dict.fromkeys(("told", "bearing"), (0.0, MAX_COUNT)),
    "missing": (0.0, 2000.0),
    "joined": (-1.0, 1.0),
    **dict.fromkeys(("opens", "linked", "chain", "sharp", "closed", "pinned"), (0.0, 1.0)),
}
"""The inputs taken from the features of an answer: all of them or none."""
DEFAULTED_INPUTS = ("opens", "linked", "closed")
"""Inputs that early versions did not store; they count as 0."""


@dataclass(frozen=True)
class AnswerFeatures:
    """Counts of the facts an answer would use; the module docstring says what each means."""

    answering_facts: int
    relevant_facts: int
    missing_words: int
    joined_share: float
    is_multi_hop: bool
    answer_type: str
    """One of `answer_type.ANSWER_TYPES`."""
    opens_page: bool = False
    linked_share: float = 0.0
    is_yes_no: bool = False

    @property
    def has_sharp_value(self) -> bool:
        """Is a date or a figure asked for?"""
        return self.answer_type in ("date", "number")


@dataclass(frozen=True)
class _PartSupport:
    """The sources of one part's best fact (others count a little), their best trust, and the facts that
    agree."""

    source_count: float
    trust: float
    best_fact: Fact
    agreeing_facts: list[Fact]

    @property
    def remaining_gap(self) -> float:
        """The part of a single source's gap that its sources leave."""
        trust_factor = FULL_TRUST_GAP_FACTOR if self.trust >= 1.0 else 1.0
        return float(GAP_FACTOR_PER_SOURCE ** (self.source_count - 1)) * trust_factor


def assess_confidence(
    *,
    step: int,
    facts: Iterable[Fact],
    conflicts: Iterable[Conflict],
    coverage: float,
    previous: Confidence | None = None,
    model: float | None = None,
    footing: AnswerFeatures | None = None,
) -> Confidence:
    """The confidence after a step, with the changes since the previous one (their deltas add up).

    Facts that rest on a person's word alone are left out: the figure says how sure the pages are."""
    pages_facts = [fact for fact in facts if not fact.rests_on_person]
    basis, context = _collect_basis(pages_facts, list(conflicts), min(1.0, max(0.0, coverage)), footing)
    own = compute_value(basis)
    value = own if model is None else min(own, max(0.0, model))
    before = previous.value if previous else 0.0
    moves = _list_changes(previous.basis if previous else {}, basis, context)
    held_before = compute_value(previous.basis) - before if previous and previous.basis else 0.0
    limit_change = value - own + held_before
    if abs(limit_change) >= MIN_VISIBLE_CHANGE:
        moves.append(_make_change(limit_change, explanations.explain_model_limit(value, own, model)))
    rest = round(value - before - sum(move.delta for move in moves), 4)
    if moves and rest:
        moves[-1] = moves[-1].model_copy(update={"delta": round(moves[-1].delta + rest, 4)})
    elif abs(rest) >= MIN_VISIBLE_CHANGE:
        moves = [_make_change(rest, "several small changes together")]
    return Confidence(
        step=step, value=round(value, 4), moves=moves, model=model, factors=_factors(basis), basis=basis
    )


def _make_change(delta: float, reason: str) -> ConfidenceChange:
    return ConfidenceChange(delta=round(delta, 4), reason=reason)


def describe_level(value: float) -> str:
    """The level of a confidence in words and percent: "High (87%)"."""
    level = next(name for name, least in LEVELS if value >= least)
    return f"{level} ({value:.0%})"


def complete_basis(point: Confidence) -> Confidence:
    """The confidence with all inputs of the formula. Raises ValueError when one is missing, unknown, or out
    of its range; a confidence without any is returned as it is."""
    if not point.basis:
        return point
    has_answer = "told" in point.basis
    basis = {**(dict.fromkeys(DEFAULTED_INPUTS, 0.0) if has_answer else {}), **point.basis}
    ranges = BASE_INPUTS | (ANSWER_INPUTS if has_answer else {})
    if unmatched := set(basis) ^ set(ranges):
        raise ValueError(f"inputs of a confidence are missing or unknown: {', '.join(unmatched)[:200]}")
    if wrong := [name for name, (least, most) in ranges.items() if not least <= basis[name] <= most]:
        raise ValueError(f"an input of a confidence is out of range: {wrong[0]}")
    return point.replace(basis=basis)


def compute_value(basis: Mapping[str, float]) -> float:
    """The formula; 0 without a fact."""
    if not basis.get("facts"):
        return 0.0
    product = _coverage_factor(basis) * _support_factor(basis) * basis["trust"] * basis["agreement"]
    return min(1.0, max(0.0, product - basis["conflicts"]))


def evidence_level(point: Confidence) -> float:
    """A confidence without its answer features: it rises with what is covered and by how many sources."""
    basis = {name: figure for name, figure in point.basis.items() if name not in ANSWER_INPUTS}
    return compute_value(basis) if basis else point.value


def single_source_value(basis: Mapping[str, float]) -> float:
    """How surely one source alone answers, 0 to 1."""
    if "told" not in basis:
        return 1.0 - SINGLE_SOURCE_GAP
    if basis["pinned"]:
        return MAX_SINGLE_SOURCE_VALUE
    logit = basis["missing"] * log(MISSING_ODDS) + basis["sharp"] * log(SHARP_ODDS)
    if basis["chain"]:
        logit += (
            log(MULTI_HOP_BASE_ODDS)
            + basis["joined"] * log(JOINED_ODDS)
            + basis["linked"] * log(LINKED_ODDS)
            + basis["closed"] * log(YES_NO_ODDS)
        )
    else:
        logit += (
            log(BASE_ODDS)
            + basis["opens"] * log(OPENS_PAGE_ODDS)
            + ANSWERING_SHARE_EXPONENT
            * log((1 + min(MAX_ANSWERING_FACTS, basis["told"])) / (1 + basis["bearing"]))
        )
    return min(MAX_SINGLE_SOURCE_VALUE, 1 / (1 + exp(-logit)))


def _coverage_factor(basis: Mapping[str, float]) -> float:
    has_full_coverage = "told" in basis and not basis["chain"]
    return min(1.0, basis["coverage"] / FULL_COVERAGE) if has_full_coverage else basis["coverage"]


def _support_factor(basis: Mapping[str, float]) -> float:
    return 1.0 - (1.0 - single_source_value(basis)) * basis["left"]


def _factors(basis: Mapping[str, float]) -> dict[str, float]:
    """The formula's factors, to be shown; shares, conflicts are subtracted."""
    factors = {
        "coverage": _coverage_factor(basis),
        "alone": single_source_value(basis),
        "support": _support_factor(basis) if basis["facts"] else 0.0,
        **{name: basis[name] for name in ("trust", "agreement", "conflicts")},
    }
    return {name: round(value, 4) for name, value in factors.items()}


def _collect_basis(
    facts: list[Fact], conflicts: list[Conflict], coverage: float, features: AnswerFeatures | None
) -> tuple[dict[str, float], ReasonContext]:
    """The figures of the formula, and what the reasons name."""
    active = [fact for fact in facts if fact.is_active]
    best = max((fact.relevance for fact in active if fact.can_support), default=0.0)
    relevant = [f for f in active if f.decision == "pinned" or f.relevance >= MIN_RELATIVE_RELEVANCE * best]
    usable = [fact for fact in relevant if fact.can_support]
    parts = [
        _measure_part([f for f in usable if f.part == part]) for part in sorted({f.part for f in usable})
    ]
    ids = {fact.id for fact in relevant}
    touching = [
        c
        for c in conflicts
        if c.status == "open" and any(ids.intersection(side.fact_ids) for side in c.values)
    ]
    disputed_share = sum(fact.disputed for fact in relevant) / len(relevant) if relevant else 0.0
    basis = {
        "coverage": coverage,
        "left": _mean([part.remaining_gap for part in parts]),
        "trust": _mean([min(1.0, TRUST_FLOOR + TRUST_SLOPE * part.trust) for part in parts]),
        "agreement": 1 - DISPUTE_WEIGHT * disputed_share,
        "conflicts": min(MAX_CONFLICT_PENALTY, OPEN_CONFLICT_PENALTY * len(touching)),
        "facts": float(len(usable)),
        "voices": float(len(find_independent_sources(usable))),
        "agreeing": max((part.source_count for part in parts), default=0.0),
    }
    if features:
        basis |= _features_basis(features)
        basis["pinned"] = float(bool(parts) and all(p.best_fact.decision == "pinned" for p in parts))
    context = ReasonContext(open_conflicts=touching)
    if parts:
        strongest = max(parts, key=lambda part: part.source_count)
        context = explanations.build_reason_context(
            strongest.best_fact, strongest.agreeing_facts, touching, features.answer_type if features else ""
        )
    return {name: round(value, 4) for name, value in basis.items()}, context


def _features_basis(features: AnswerFeatures) -> dict[str, float]:
    return {
        "told": float(features.answering_facts),
        "bearing": float(features.relevant_facts),
        "missing": float(features.missing_words),
        "joined": features.joined_share,
        "chain": float(features.is_multi_hop),
        "sharp": float(features.has_sharp_value),
        "opens": float(features.opens_page),
        "linked": features.linked_share,
        "closed": float(features.is_yes_no),
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 1.0


def _measure_part(facts: list[Fact]) -> _PartSupport:
    lead = max(facts, key=lambda f: (f.decision == "pinned", f.relevance, f.trust, f.id))
    same = [f for f in facts if f is not lead and _is_same_statement(lead, f)]
    agreeing = len(find_independent_sources([lead, *same]))
    others = OTHER_SOURCES_COUNT if len(find_independent_sources(facts)) > agreeing else 0.0
    trust = max(1.0 if f.decision == "pinned" else f.trust for f in (lead, *same))
    return _PartSupport(agreeing + others, trust, lead, same)


def _is_same_statement(a: Fact, b: Fact) -> bool:
    left, right = extract_features(a.statement), extract_features(b.statement)
    is_similar = dice_similarity(left.words, right.words) >= MIN_SAME_SIMILARITY
    return is_similar and find_contradiction(left, right, keyed=False, strict=False) is None


def _list_changes(
    before: Mapping[str, float], basis: Mapping[str, float], context: ReasonContext
) -> list[ConfidenceChange]:
    """The figures are replaced group by group; what each group changes is one entry."""
    if compute_value(before) == 0.0:
        return _list_first_changes(basis, context)
    if set(before) != set(basis):
        return []
    changes, now = [], {**before, **{name: basis[name] for name in ("facts", "voices", "agreeing")}}
    for names in CHANGE_ORDER:
        old = compute_value(now)
        now |= {name: basis[name] for name in names if name in basis}
        if abs(delta := compute_value(now) - old) >= MIN_VISIBLE_CHANGE:
            changes.append(_make_change(delta, explanations.explain_change(names[0], before, basis, context)))
    return changes


def _list_first_changes(basis: Mapping[str, float], context: ReasonContext) -> list[ConfidenceChange]:
    without_conflicts = compute_value({**basis, "conflicts": 0.0})
    penalty = compute_value(basis) - without_conflicts
    if without_conflicts < MIN_VISIBLE_CHANGE:
        return []
    changes = [_make_change(without_conflicts, explanations.explain_first_evidence(basis, context))]
    if penalty <= -MIN_VISIBLE_CHANGE:
        changes.append(_make_change(penalty, explanations.explain_change("conflicts", {}, basis, context)))
    return changes
