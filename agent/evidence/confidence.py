"""How sure the evidence makes us: one formula, every move told in words. Knows facts and conflicts, not the pages behind them.

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
             Who counts them: `agent.roles.footing`. HIGHEST where a person pinned the best fact.
* trust      FLOOR + SLOPE × the trust of the best voices (mean over parts), at most 1; what a person pinned is trusted fully. A fully
             trusted source (1: only a person says so) leaves SURE of what a single voice lacks.
* agreement  1 − DISPUTE × the disputed share of the relevant facts.
* conflicts  OPEN for each open conflict that touches a relevant fact, at most MOST.

With a footing the value is a frequency: of the answers given with 0.8, about 80 % were right on three public question sets. How the
constants of `alone` were fitted and checked stands in DECISIONS.md; those sets have one voice a question, so REST, trust, agreement and
conflicts are our own judgement. One voice never reaches the usual threshold (0.90): HIGHEST stays below it, a second voice passes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log

from agent.evidence import reasons
from agent.evidence.compare import clash, likeness
from agent.evidence.values import read
from agent.evidence.voices import voices
from agent.types import Confidence, Conflict, Fact, Move
from agent.types.knowledge import COUNTED

ALONE = 0.20
"""What a single voice lacks where nothing is known of what the answer would stand on."""
ODDS, CHAIN = 33.0, 1.25
"""The odds of an answer to a plain question, and to one whose parts stand on several pages, before anything is counted."""
SHARP, MISSING, OPENS, POINT = 2.7, 0.82, 1.8, 1.8
JOINED, LINKED, CLOSED = 11.0, 2.7, 0.37
"""What each multiplies the odds by, once or as often as it counts; POINT is the exponent of the share that is told."""
TOLD = 4
"""More facts told with a value are no surer sign."""
HIGHEST = 0.89
"""One voice alone never makes surer than this: just below the usual threshold."""
COVERED = 0.8
"""The share of the question's words that is as good as all: the rest is how it was phrased."""
REST = 0.25
"""What of a single voice's lack each further voice leaves."""
ASIDE = 0.05
"""What the voices together count that bear on the question but do not say the same: never enough for the threshold."""
FLOOR, SLOPE = 0.70, 0.50
"""Trust 0.6 or better leaves the value as it is, trust 0.1 takes a quarter."""
SURE = 0.5
"""What a fully trusted source leaves of a single voice's lack: then one voice can be enough."""
DISPUTE = 0.5
OPEN, MOST = 0.10, 0.30
RELEVANT = 0.5
"""A fact counts when it is at least this relevant, measured by the most relevant one."""
SAME = 0.5
"""Least likeness (Dice of content words) of two statements that say the same."""
VISIBLE = 0.005
"""Smaller moves are not told on their own."""
TURNS = (
    ("coverage",), ("told", "bearing"), ("opens",), ("missing",), ("joined",), ("linked",), ("chain", "sharp", "closed"), ("pinned",),
    ("left",), ("trust",), ("agreement",), ("conflicts",),
)  # fmt: skip
"""In which order what changed is brought from the old figure to the new; each turn is a move of its own."""


@dataclass(frozen=True)
class Footing:
    """What an answer would stand on, counted by someone who knows the question; what each means stands above."""

    told: int
    bearing: int
    missing: int
    joined: float
    chain: bool
    kind: str
    """What is asked for: "date", "person", … ("thing" when no rule says more)."""
    opens: bool = False
    linked: float = 0.0
    closed: bool = False

    @property
    def sharp(self) -> bool:
        """Is a value asked for that can't be taken for another?"""
        return self.kind in ("date", "number")


@dataclass(frozen=True)
class _Part:
    """How many voices one part's best fact has (others counting a little), the best trust among them, and who they are."""

    voices: float
    trust: float
    lead: Fact
    same: list[Fact]


def assess(
    *, step: int, facts: Iterable[Fact], conflicts: Iterable[Conflict], coverage: float,
    previous: Confidence | None = None, model: float | None = None, footing: Footing | None = None,
) -> Confidence:  # fmt: skip
    """The confidence after a step, with the moves that led to it from the previous one (their deltas add up).

    What rests on a person's word alone is left out: the figure says how sure the pages make us.
    """
    basis, told = _ground([fact for fact in facts if not fact.mine], list(conflicts), min(1.0, max(0.0, coverage)), footing)
    own = worth(basis)
    value = own if model is None else min(own, max(0.0, model))
    before = previous.value if previous else 0.0
    moves = _moves(previous.basis if previous else {}, basis, told)
    held_before = worth(previous.basis) - before if previous and previous.basis else 0.0
    if abs((value - own) + held_before) >= VISIBLE:
        moves.append(Move(delta=round(value - own + held_before, 4), reason=reasons.of_model(value, own, model)))
    rest = round(value - before - sum(move.delta for move in moves), 4)
    if moves and rest:
        moves[-1] = moves[-1].model_copy(update={"delta": round(moves[-1].delta + rest, 4)})
    elif abs(rest) >= VISIBLE:
        moves = [Move(delta=rest, reason="several small changes together")]
    return Confidence(step=step, value=round(value, 4), moves=moves, model=model, factors=_factors(basis), basis=basis)


def worth(basis: Mapping[str, float]) -> float:
    """The formula, from what was counted; 0 without a fact."""
    if not basis.get("facts"):
        return 0.0
    product = _covered(basis) * _support(basis) * basis["trust"] * basis["agreement"]
    return min(1.0, max(0.0, product - basis["conflicts"]))


def gathered(point: Confidence) -> float:
    """What a point of the curve amounts to apart from how clearly it answers: it rises with what is covered and by how many."""
    return worth({name: figure for name, figure in point.basis.items() if name not in COUNTED}) if point.basis else point.value


def alone(basis: Mapping[str, float]) -> float:
    """How surely one voice alone answers."""
    if "told" not in basis:
        return 1.0 - ALONE
    if basis["pinned"]:
        return HIGHEST
    logit = basis["missing"] * log(MISSING) + basis["sharp"] * log(SHARP)
    if basis["chain"]:
        logit += log(CHAIN) + basis["joined"] * log(JOINED) + basis["linked"] * log(LINKED) + basis["closed"] * log(CLOSED)
    else:
        logit += log(ODDS) + basis["opens"] * log(OPENS) + POINT * log((1 + min(TOLD, basis["told"])) / (1 + basis["bearing"]))
    return min(HIGHEST, 1 / (1 + exp(-logit)))


def _covered(basis: Mapping[str, float]) -> float:
    return min(1.0, basis["coverage"] / COVERED) if "told" in basis and not basis["chain"] else basis["coverage"]


def _support(basis: Mapping[str, float]) -> float:
    return 1.0 - (1.0 - alone(basis)) * basis["left"]


def _factors(basis: Mapping[str, float]) -> dict[str, float]:
    """The formula's factors, to be shown: coverage, alone, support, trust, agreement (shares), conflicts (taken off)."""
    told = {"coverage": _covered(basis), "alone": alone(basis), "support": _support(basis) if basis["facts"] else 0.0}
    return {name: round(v, 4) for name, v in {**told, **{n: basis[n] for n in ("trust", "agreement", "conflicts")}}.items()}


def _ground(facts: list[Fact], conflicts: list[Conflict], coverage: float, footing: Footing | None) -> tuple[dict[str, float], reasons.Told]:
    """What is counted, and what the reasons speak of."""
    told = [f for f in facts if f.counts]
    best = max((f.relevance for f in told if f.usable), default=0.0)
    relevant = [f for f in told if f.decision == "pinned" or f.relevance >= RELEVANT * best]
    usable = [f for f in relevant if f.usable]
    parts = [_part([f for f in usable if f.part == part]) for part in sorted({f.part for f in usable})]
    touched = {f.id for f in relevant}
    clashes = [c for c in conflicts if c.status == "open" and any(touched.intersection(v.fact_ids) for v in c.values)]
    basis = {
        "coverage": coverage,
        "left": _mean([REST ** (part.voices - 1) * (SURE if part.trust >= 1.0 else 1.0) for part in parts]),
        "trust": _mean([min(1.0, FLOOR + SLOPE * part.trust) for part in parts]),
        "agreement": 1 - DISPUTE * sum(f.disputed for f in relevant) / len(relevant) if relevant else 1.0,
        "conflicts": min(MOST, OPEN * len(clashes)),
        "facts": float(len(usable)), "voices": float(len(voices(usable))), "agreeing": max((part.voices for part in parts), default=0.0),
    }  # fmt: skip
    if footing:
        basis |= {
            "told": float(footing.told), "bearing": float(footing.bearing), "missing": float(footing.missing), "joined": footing.joined,
            "chain": float(footing.chain), "sharp": float(footing.sharp), "opens": float(footing.opens), "linked": footing.linked,
            "closed": float(footing.closed),
            "pinned": float(bool(parts) and all(part.lead.decision == "pinned" for part in parts)),
        }  # fmt: skip
    strongest = max(parts, key=lambda part: part.voices, default=None)
    said = reasons.told(strongest.lead, strongest.same, clashes, footing.kind if footing else "") if strongest else reasons.Told(clashes=clashes)
    return {name: round(v, 4) for name, v in basis.items()}, said


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 1.0


def _part(facts: list[Fact]) -> _Part:
    lead = max(facts, key=lambda f: (f.decision == "pinned", f.relevance, f.trust, f.id))
    same = [f for f in facts if f is lead or _same(lead, f)]
    agreeing = len(voices(same))
    aside = ASIDE if len(voices(facts)) > agreeing else 0.0
    return _Part(agreeing + aside, max(1.0 if f.decision == "pinned" else f.trust for f in same), lead, [f for f in same if f is not lead])


def _same(a: Fact, b: Fact) -> bool:
    left, right = read(a.statement), read(b.statement)
    return likeness(left.words, right.words) >= SAME and clash(left, right, keyed=False, strict=False) is None


def _moves(before: Mapping[str, float], basis: Mapping[str, float], told: reasons.Told) -> list[Move]:
    """One figure after the other is brought from the old to the new; what each changes is its move."""
    if worth(before) == 0.0 or set(before) != set(basis):
        return _first(basis, told) if worth(before) == 0.0 else []
    moves, at = [], {**before, **{name: basis[name] for name in ("facts", "voices", "agreeing")}}
    for names in TURNS:
        was = worth(at)
        at |= {name: basis[name] for name in names if name in basis}
        if abs(delta := worth(at) - was) >= VISIBLE:
            moves.append(Move(delta=round(delta, 4), reason=reasons.of(names[0], before, basis, told)))
    return moves


def _first(basis: Mapping[str, float], told: reasons.Told) -> list[Move]:
    calm = worth({**basis, "conflicts": 0.0})
    if calm < VISIBLE:
        return []
    moves = [Move(delta=round(calm, 4), reason=reasons.first(basis, told))]
    taken = worth(basis) - calm
    return [*moves, Move(delta=round(taken, 4), reason=reasons.of("conflicts", {}, basis, told))] if taken <= -VISIBLE else moves
