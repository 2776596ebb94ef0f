"""How sure the evidence makes us: one formula, every move told in words. Knows facts and conflicts, not the
pages behind them.

    value = coverage × support × trust × agreement − conflicts      (between 0 and 1; a model's own figure can only lower it)

* coverage   the share of the question that usable facts cover, given by the caller; of a plain question with a footing COVERED is enough.
* support    1 − (1 − alone) × REST ** (n − 1), n being the independent voices that say what the best fact says; all other
             relevant voices together count ASIDE of one; 0 with none. Parts of a question are averaged.
* alone      how surely one voice alone answers. Without a footing 1 − ALONE. With one, calibrated: odds / (1 + odds), at most HIGHEST, with
                 odds = ODDS × SHARP ** sharp × MISSING ** missing × OPENS ** opens × ((1 + told) / (1 + bearing)) ** POINT
             for a plain question, and for one whose parts stand on several pages
                 odds = CHAIN × SHARP ** sharp × MISSING ** missing × JOINED ** joined × LINKED ** linked × CLOSED ** closed
             `told` (at most TOLD): facts an answer would tell that hold a value of the kind asked for; `bearing`: all that bear on the
             question; `missing`: its words that nothing told holds; `opens`: the best fact opens its page, as what a page is about does;
             `joined`: the share of the question that they hold together beyond the best of them; `linked`: of what no told page's title
             says, the share that the quotes do; `sharp`: a date or a figure is asked for; `closed`: a yes or no is, which no quote says.
             Who counts them: `agent.flows.shared.answer_features`. HIGHEST where a person pinned the best fact.
* trust      FLOOR + SLOPE × the trust of the best voices (mean over parts), at most 1; what a person pinned is trusted fully. A fully
             trusted source (1: only a person says so) leaves SURE of what a single voice lacks.
* agreement  1 − DISPUTE × the disputed share of the relevant facts.
* conflicts  OPEN for each open conflict that touches a relevant fact, at most MOST.

With a footing the value is a frequency: of the answers given with 0.8, about 80 % were right on three public
question sets. How the constants of `alone` were fitted and checked stands in DECISIONS.md; those sets have
one voice a question, so REST, trust, agreement and conflicts are our own judgement. One voice never reaches
the usual threshold (0.90): HIGHEST stays below it, a second voice passes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log

from agent.evidence import confidence_explanations
from agent.evidence.contradiction.statements import dice_similarity, find_contradiction
from agent.evidence.source_independence import find_independent_sources
from agent.evidence.statement_features import extract_features
from agent.types import Confidence, ConfidenceChange, Conflict, Fact
from agent.types.facts import ANSWER_INPUTS

SINGLE_SOURCE_GAP = 0.20
"""What a single voice lacks where nothing is known of what the answer would stand on."""
BASE_ODDS, MULTI_HOP_BASE_ODDS = 33.0, 1.25
"""The odds of an answer to a plain question, and to one whose parts stand on several pages, before anything
is counted."""
SHARP_ODDS, MISSING_ODDS, OPENS_PAGE_ODDS, ANSWERING_SHARE_EXPONENT = 2.7, 0.82, 1.8, 1.8
JOINED_ODDS, LINKED_ODDS, YES_NO_ODDS = 11.0, 2.7, 0.37
"""What each multiplies the odds by, once or as often as it counts; POINT is the exponent of the share that is
told."""
MAX_ANSWERING_FACTS = 4
"""More facts told with a value are no surer sign."""
MAX_SINGLE_SOURCE_VALUE = 0.89
"""One voice alone never makes surer than this: just below the usual threshold."""
FULL_COVERAGE = 0.8
"""The share of the question's words that is as good as all: the rest is how it was phrased."""
GAP_FACTOR_PER_SOURCE = 0.25
"""What of a single voice's lack each further voice leaves."""
OTHER_SOURCES_COUNT = 0.05
"""What the voices together count that bear on the question but do not say the same: never enough for the
threshold."""
TRUST_FLOOR, TRUST_SLOPE = 0.70, 0.50
"""Trust 0.6 or better leaves the value as it is, trust 0.1 takes a quarter."""
FULL_TRUST_GAP_FACTOR = 0.5
"""What a fully trusted source leaves of a single voice's lack: then one voice can be enough."""
DISPUTE_WEIGHT = 0.5
OPEN_CONFLICT_PENALTY, MAX_CONFLICT_PENALTY = 0.10, 0.30
MIN_RELATIVE_RELEVANCE = 0.5
"""A fact counts when it is at least this relevant, measured by the most relevant one."""
MIN_SAME_SIMILARITY = 0.5
"""Least likeness (Dice of content words) of two statements that say the same."""
LEVELS = (("High", 0.85), ("Moderate", 0.6), ("Low", 0.0))
"""The names of confidence levels, each with its least value."""
MIN_VISIBLE_CHANGE = 0.005
"""Smaller moves are not told on their own."""
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
"""In which order what changed is brought from the old figure to the new; each turn is a move of its own."""


@dataclass(frozen=True)
class AnswerFeatures:
    """What an answer would stand on, counted by someone who knows the question; what each means stands
    above."""

    answering_facts: int
    relevant_facts: int
    missing_words: int
    joined_share: float
    is_multi_hop: bool
    answer_type: str
    """What is asked for: "date", "person", … ("thing" when no rule says more)."""
    opens_page: bool = False
    linked_share: float = 0.0
    is_yes_no: bool = False

    @property
    def has_sharp_value(self) -> bool:
        """Is a value asked for that can't be taken for another?"""
        return self.answer_type in ("date", "number")


@dataclass(frozen=True)
class _PartSupport:
    """How many voices one part's best fact has (others counting a little), the best trust among them, and who
    they are."""

    source_count: float
    trust: float
    best_fact: Fact
    agreeing_facts: list[Fact]


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
    """The confidence after a step, with the moves that led to it from the previous one (their deltas add up).

    What rests on a person's word alone is left out: the figure says how sure the pages make us.
    """
    basis, told = _collect_basis(
        [fact for fact in facts if not fact.rests_on_person],
        list(conflicts),
        min(1.0, max(0.0, coverage)),
        footing,
    )
    own = compute_value(basis)
    value = own if model is None else min(own, max(0.0, model))
    before = previous.value if previous else 0.0
    moves = _list_changes(previous.basis if previous else {}, basis, told)
    held_before = compute_value(previous.basis) - before if previous and previous.basis else 0.0
    if abs((value - own) + held_before) >= MIN_VISIBLE_CHANGE:
        moves.append(
            ConfidenceChange(
                delta=round(value - own + held_before, 4),
                reason=confidence_explanations.explain_model_limit(value, own, model),
            )
        )
    rest = round(value - before - sum(move.delta for move in moves), 4)
    if moves and rest:
        moves[-1] = moves[-1].model_copy(update={"delta": round(moves[-1].delta + rest, 4)})
    elif abs(rest) >= MIN_VISIBLE_CHANGE:
        moves = [ConfidenceChange(delta=rest, reason="several small changes together")]
    return Confidence(
        step=step, value=round(value, 4), moves=moves, model=model, factors=_factors(basis), basis=basis
    )


def describe_level(value: float) -> str:
    """The level of a confidence in words and percent: "High (87%)"."""
    level = next(name for name, least in LEVELS if value >= least)
    return f"{level} ({value:.0%})"


def compute_value(basis: Mapping[str, float]) -> float:
    """The formula, from what was counted; 0 without a fact."""
    if not basis.get("facts"):
        return 0.0
    product = _coverage_factor(basis) * _support_factor(basis) * basis["trust"] * basis["agreement"]
    return min(1.0, max(0.0, product - basis["conflicts"]))


def evidence_level(point: Confidence) -> float:
    """What a point of the curve amounts to apart from how clearly it answers: it rises with what is covered
    and by how many."""
    return (
        compute_value({name: figure for name, figure in point.basis.items() if name not in ANSWER_INPUTS})
        if point.basis
        else point.value
    )


def single_source_value(basis: Mapping[str, float]) -> float:
    """How surely one voice alone answers."""
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
    return (
        min(1.0, basis["coverage"] / FULL_COVERAGE)
        if "told" in basis and not basis["chain"]
        else basis["coverage"]
    )


def _support_factor(basis: Mapping[str, float]) -> float:
    return 1.0 - (1.0 - single_source_value(basis)) * basis["left"]


def _factors(basis: Mapping[str, float]) -> dict[str, float]:
    """The formula's factors, to be shown: coverage, alone, support, trust, agreement (shares), conflicts
    (taken off)."""
    told = {
        "coverage": _coverage_factor(basis),
        "alone": single_source_value(basis),
        "support": _support_factor(basis) if basis["facts"] else 0.0,
    }
    return {
        name: round(v, 4)
        for name, v in {**told, **{n: basis[n] for n in ("trust", "agreement", "conflicts")}}.items()
    }


def _collect_basis(
    facts: list[Fact], conflicts: list[Conflict], coverage: float, footing: AnswerFeatures | None
) -> tuple[dict[str, float], confidence_explanations.ReasonContext]:
    """What is counted, and what the reasons speak of."""
    told = [f for f in facts if f.is_active]
    best = max((f.relevance for f in told if f.can_support), default=0.0)
    relevant = [f for f in told if f.decision == "pinned" or f.relevance >= MIN_RELATIVE_RELEVANCE * best]
    usable = [f for f in relevant if f.can_support]
    parts = [
        _measure_part([f for f in usable if f.part == part]) for part in sorted({f.part for f in usable})
    ]
    touched = {f.id for f in relevant}
    clashes = [
        c for c in conflicts if c.status == "open" and any(touched.intersection(v.fact_ids) for v in c.values)
    ]
    basis = {
        "coverage": coverage,
        "left": _mean(
            [
                GAP_FACTOR_PER_SOURCE ** (part.source_count - 1)
                * (FULL_TRUST_GAP_FACTOR if part.trust >= 1.0 else 1.0)
                for part in parts
            ]
        ),
        "trust": _mean([min(1.0, TRUST_FLOOR + TRUST_SLOPE * part.trust) for part in parts]),
        "agreement": 1 - DISPUTE_WEIGHT * sum(f.disputed for f in relevant) / len(relevant)
        if relevant
        else 1.0,
        "conflicts": min(MAX_CONFLICT_PENALTY, OPEN_CONFLICT_PENALTY * len(clashes)),
        "facts": float(len(usable)),
        "voices": float(len(find_independent_sources(usable))),
        "agreeing": max((part.source_count for part in parts), default=0.0),
    }
    if footing:
        basis |= {
            "told": float(footing.answering_facts),
            "bearing": float(footing.relevant_facts),
            "missing": float(footing.missing_words),
            "joined": footing.joined_share,
            "chain": float(footing.is_multi_hop),
            "sharp": float(footing.has_sharp_value),
            "opens": float(footing.opens_page),
            "linked": footing.linked_share,
            "closed": float(footing.is_yes_no),
            "pinned": float(bool(parts) and all(part.best_fact.decision == "pinned" for part in parts)),
        }
    strongest = max(parts, key=lambda part: part.source_count, default=None)
    said = (
        confidence_explanations.build_reason_context(
            strongest.best_fact, strongest.agreeing_facts, clashes, footing.answer_type if footing else ""
        )
        if strongest
        else confidence_explanations.ReasonContext(open_conflicts=clashes)
    )
    return {name: round(v, 4) for name, v in basis.items()}, said


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 1.0


def _measure_part(facts: list[Fact]) -> _PartSupport:
    lead = max(facts, key=lambda f: (f.decision == "pinned", f.relevance, f.trust, f.id))
    same = [f for f in facts if f is lead or _is_same_statement(lead, f)]
    agreeing = len(find_independent_sources(same))
    aside = OTHER_SOURCES_COUNT if len(find_independent_sources(facts)) > agreeing else 0.0
    return _PartSupport(
        agreeing + aside,
        max(1.0 if f.decision == "pinned" else f.trust for f in same),
        lead,
        [f for f in same if f is not lead],
    )


def _is_same_statement(a: Fact, b: Fact) -> bool:
    left, right = extract_features(a.statement), extract_features(b.statement)
    return (
        dice_similarity(left.words, right.words) >= MIN_SAME_SIMILARITY
        and find_contradiction(left, right, keyed=False, strict=False) is None
    )


def _list_changes(
    before: Mapping[str, float], basis: Mapping[str, float], told: confidence_explanations.ReasonContext
) -> list[ConfidenceChange]:
    """One figure after the other is brought from the old to the new; what each changes is its move."""
    if compute_value(before) == 0.0 or set(before) != set(basis):
        return _list_first_changes(basis, told) if compute_value(before) == 0.0 else []
    moves, at = [], {**before, **{name: basis[name] for name in ("facts", "voices", "agreeing")}}
    for names in CHANGE_ORDER:
        was = compute_value(at)
        at |= {name: basis[name] for name in names if name in basis}
        if abs(delta := compute_value(at) - was) >= MIN_VISIBLE_CHANGE:
            moves.append(
                ConfidenceChange(
                    delta=round(delta, 4),
                    reason=confidence_explanations.explain_change(names[0], before, basis, told),
                )
            )
    return moves


def _list_first_changes(
    basis: Mapping[str, float], told: confidence_explanations.ReasonContext
) -> list[ConfidenceChange]:
    calm = compute_value({**basis, "conflicts": 0.0})
    if calm < MIN_VISIBLE_CHANGE:
        return []
    moves = [
        ConfidenceChange(
            delta=round(calm, 4), reason=confidence_explanations.explain_first_evidence(basis, told)
        )
    ]
    taken = compute_value(basis) - calm
    return (
        [
            *moves,
            ConfidenceChange(
                delta=round(taken, 4),
                reason=confidence_explanations.explain_change("conflicts", {}, basis, told),
            ),
        ]
        if taken <= -MIN_VISIBLE_CHANGE
        else moves
    )
