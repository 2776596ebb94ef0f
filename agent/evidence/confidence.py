"""Confidence: what the evidence for each part of the question allows, and where in that range a judgement
puts it.

    part  = (low + (high − low) × judgement) × DISPUTE_FACTOR where it is disputed,
            at most LOW_LIMIT while the model does not call it answered
    low   = LOW_LIMIT × (1 − LOW_DOUBT ** n)          n = 1: .16   2: .26   3: .31   at most .40
    high  = 1 − HIGH_DOUBT ** n                       n = 1: .84   2: .97   3: 1.0
    whole = the mean of the parts, at most MAX_PARTIAL while a part is open or disputed

* n: the independent sources that say what the part's claim says, each with the weight of its trust, from 0
  to 1 (full from FULL_WEIGHT_TRUST on). A source counts SURE_WEIGHT where a person pinned its fact or
  stated it, where it is the publisher that the question is about, and in the flows that ask one publisher
  (`site`, `collect`, `reply`, `chat`). 0 sources: the part is open and counts 0.
* judgement: from 0 to 1, the model's own estimate, or without a model a modest constant by the flow. It moves
  the value both ways, and only within the range.
* disputed: an open conflict contradicts the claim.

Until there is an answer, the claim of a part is the best supported of its facts. From then on it is the first
sentence of the answer on that part, and it counts only when its quotes support it.

With the judgement held fixed, a further independent source never lowers the value; striking or falsely
correcting a supporting fact never raises it, and neither does an open conflict: sources are told apart, and
like statements are found, among all facts, also those that do not count. Words of the question count for
nothing here. The constants are our own judgement, so that one right source with a judgement of .7 gives .6,
two agreeing ones with .9 give .9, and a wrong answer that the judge doubts (.2) stays below .4;
DECISIONS.md has the figures on public sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from agent.evidence.contradiction.asked_values import asked_kind, states_same_answer
from agent.evidence.contradiction.statements import dice_similarity, find_contradiction
from agent.evidence.sources import PERSON_SOURCE, map_sites_to_sources
from agent.evidence.statement_features import extract_features
from agent.text.date_intervals import is_compatible
from agent.text.quantities import is_same_quantity
from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import fold
from agent.text.urls import site
from agent.types import Confidence, Conflict, Fact, PartConfidence

T = TypeVar("T")
LOW_LIMIT, LOW_DOUBT = 0.40, 0.60
"""The most that agreeing sources give against the judgement, and the part of it that each leaves open."""
HIGH_DOUBT = 0.16
"""The doubt that each source leaves at best."""
DISPUTE_FACTOR = 0.5
"""The part of its value that a disputed claim keeps."""
MAX_PARTIAL = 0.59
"""The most while a part is open or disputed."""
FULL_WEIGHT_TRUST = 0.6
"""Trust of a page that nothing speaks for or against: from here on its source counts in full."""
SURE_WEIGHT = 2.0
"""What a source counts that is enough alone."""
MIN_SAME_SIMILARITY = 0.5
"""Least similarity (Dice of content words) of two statements that say the same."""
LEVELS = (("High", 0.85), ("Moderate", 0.5), ("Low", 0.0))
"""The names of confidence levels, each with its least value: "Low" is less likely right than not."""
UNJUDGED_LEVEL = "Not judged"
"""In place of the level where no model judged: the figure is how many of such answers were right."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for one part: its independent sources with their weight, the open conflicts that
    contradict it, and the facts that say it, the claim first. Without facts the part is open."""

    part: str
    weight: float = 0.0
    sources: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    facts: tuple[Fact, ...] = ()


class EvidencePool:
    """All facts of a run with the conflicts; facts that do not count only tell sources apart, and facts on
    two sides of a conflict never agree, whoever settled it.

    `is_enough` says whether a fact's source is enough alone. Facts that give the same answer to one of the
    `questions` agree in whatever words."""

    def __init__(
        self,
        facts: Iterable[Fact],
        conflicts: Iterable[Conflict],
        is_enough: Callable[[Fact], bool],
        questions: Sequence[ParsedQuestion] = (),
    ) -> None:
        self._questions = [question for question in questions if asked_kind(question)]
        self._facts = {fact.id: fact for fact in facts}
        self._all_conflicts = list(conflicts)
        self._conflicts = [conflict for conflict in self._all_conflicts if conflict.status == "open"]
        self._topics = {name: _find_topic(fact) for name, fact in self._facts.items()}
        self._is_enough = is_enough
        self._agreements: dict[tuple[str, str], bool] = {}
        self._sources: dict[frozenset[str], dict[str, str]] = {}

    def measure(
        self, part: str, claims: Collection[str], judgement: float, *, is_answered: bool = True
    ) -> Evidence:
        """The evidence for a part whose claim is one of these facts: of the one that gives the most. Before
        it is answered, a conflict about what is asked touches whatever would be claimed."""
        known = [self._facts[name] for name in claims if name in self._facts]
        asked = [c for c in self._conflicts if c.asks and not is_answered and _has_side(c, claims)]
        found = [self._measure_claim(part, fact, asked) for fact in known if not fact.rests_on_person]

        def rank(evidence: Evidence) -> tuple[float, float]:
            value = _compute(evidence.weight, _limit(judgement), disputed=bool(evidence.conflicts))
            return value, max((fact.relevance for fact in evidence.facts), default=0.0)

        return max(found, key=rank, default=Evidence(part))

    def _measure_claim(self, part: str, claim: Fact, asked: Collection[Conflict]) -> Evidence:
        same = [fact for fact in self._facts.values() if fact is claim or self._agrees(claim, fact)]
        counting = [fact for fact in same if fact.is_active and not fact.rests_on_person]
        if not counting:
            return Evidence(part)
        ids = frozenset(fact.id for fact in same)
        if ids not in self._sources:
            self._sources[ids] = map_sites_to_sources(same)
        names = self._sources[ids]
        weights: dict[str, float] = defaultdict(float)
        for fact in counting:
            source = names[site(fact.url) or PERSON_SOURCE]
            weights[source] = max(weights[source], self._weigh(fact))
        against = [c for c in self._conflicts if c in asked or _has_side(c, ids)]
        counting.sort(key=lambda fact: (fact.id != claim.id, fact.decision != "pinned", -fact.relevance))
        return Evidence(part, sum(weights.values()), tuple(sorted(weights)), tuple(against), tuple(counting))

    def _agrees(self, claim: Fact, fact: Fact) -> bool:
        """Whether two facts say the same: about one attribute of one subject, or in like words."""
        pair = (min(claim.id, fact.id), max(claim.id, fact.id))
        if pair not in self._agreements:
            self._agreements[pair] = self._compare(claim, fact)
        return self._agreements[pair]

    def _compare(self, claim: Fact, fact: Fact) -> bool:
        is_keyed = bool(self._topics[claim.id]) and self._topics[claim.id] == self._topics[fact.id]
        if any(_is_between(conflict, claim.id, fact.id) for conflict in self._all_conflicts):
            return False
        if _says_same(*sorted((_page_statement(claim), _page_statement(fact))), is_keyed=is_keyed):
            return True
        return any(
            states_same_answer(
                claim.replace(statement=_page_statement(claim)),
                fact.replace(statement=_page_statement(fact)),
                question,
            )
            for question in self._questions
        )

    def _weigh(self, fact: Fact) -> float:
        if fact.decision == "pinned" or fact.trust >= 1.0:
            return SURE_WEIGHT
        weight = min(1.0, fact.trust / FULL_WEIGHT_TRUST)
        return weight * SURE_WEIGHT if self._is_enough(fact) else weight


@lru_cache(maxsize=65_536)
def _says_same(one: str, other: str, *, is_keyed: bool) -> bool:
    """Whether two statements say the same: about one attribute of one subject (`is_keyed`), or in like words
    that are more than a name, with a date and a figure in common where both have one. Cached: each step of a
    run compares its facts."""
    left, right = extract_features(one), extract_features(other)
    names = frozenset[str]().union(*(name.words for name in (*left.names, *right.names)))
    is_alike = dice_similarity(left.words, right.words) >= MIN_SAME_SIMILARITY
    if not is_keyed and not (is_alike and left.words & right.words - names):
        return False
    shares_values = _share_one(left.dates, right.dates, is_compatible) and _share_one(
        left.quantities, right.quantities, is_same_quantity
    )
    return shares_values and find_contradiction(left, right, keyed=is_keyed, strict=False) is None


def assess_confidence(
    step: int,
    evidence: Sequence[Evidence],
    judgement: float,
    *,
    model: float | None = None,
    unanswered: Collection[str] = (),
) -> Confidence:
    """The confidence after a step, from the evidence for each part and the judgement, without the reasons of
    its change. `unanswered`: the parts that the model does not call answered."""
    parts = [
        PartConfidence(
            part=found.part,
            sources=list(found.sources),
            weight=round(found.weight, 4),
            judgement=round(_limit(judgement), 4),
            disputed=bool(found.conflicts),
            unanswered=found.part in unanswered,
        )
        for found in evidence
    ]
    return Confidence(step=step, value=compute_value(parts), model=model, parts=parts)


def compute_value(parts: Sequence[PartConfidence]) -> float:
    """The confidence of the whole: the mean of its parts, limited while one is open or disputed."""
    if not parts:
        return 0.0
    mean = sum(map(compute_part, parts)) / len(parts)
    is_partial = any(part.disputed or part.unanswered or not part.weight for part in parts)
    return round(min(mean, MAX_PARTIAL) if is_partial else mean, 4)


def compute_part(part: PartConfidence) -> float:
    """The confidence of one part, 0 while it is open."""
    value = _compute(part.weight, part.judgement, disputed=part.disputed)
    return min(value, LOW_LIMIT) if part.unanswered else value


def evidence_range(weight: float) -> tuple[float, float]:
    """The least and the most that sources of this weight allow."""
    return LOW_LIMIT * (1.0 - LOW_DOUBT**weight), 1.0 - HIGH_DOUBT**weight


def evidence_level(point: Confidence) -> float:
    """A confidence without its judgement: it rises with the parts covered and by how many sources."""
    if not point.parts:
        return point.value
    return sum(evidence_range(part.weight)[1] for part in point.parts) / len(point.parts)


def describe_level(value: float, *, is_judged: bool) -> str:
    """The level of a confidence in words and percent: "High (87%)", "Not judged (45%)"."""
    level = next(name for name, least in LEVELS if value >= least) if is_judged else UNJUDGED_LEVEL
    return f"{level} ({value:.0%})"


def _share_one(left: Sequence[T], right: Sequence[T], is_same: Callable[[T, T], bool]) -> bool:
    """Whether two statements that both hold such values have one in common."""
    return not (left and right) or any(is_same(a, b) for a in left for b in right)


def _is_between(conflict: Conflict, one: str, two: str) -> bool:
    """Whether two facts stand on different sides of a conflict, open or settled."""
    sides = [{one, two}.intersection(side.fact_ids) for side in conflict.values]
    return {one} in sides and {two} in sides


def _has_side(conflict: Conflict, ids: Collection[str]) -> bool:
    return any(name in ids for side in conflict.values for name in side.fact_ids)


def _page_statement(fact: Fact) -> str:
    """What the page says: the statement before a correction that the quote does not support."""
    return fact.former if fact.former and not fact.verified else fact.statement


def _find_topic(fact: Fact) -> tuple[str, ...]:
    """The subject and attribute that a fact's reader named; empty unless both are named."""
    topic = fold(fact.subject), fold(fact.attribute)
    return topic if all(topic) else ()


def _compute(weight: float, judgement: float, *, disputed: bool) -> float:
    low, high = evidence_range(weight)
    return (low + (high - low) * judgement) * (DISPUTE_FACTOR if disputed else 1.0)


def _limit(judgement: float) -> float:
    return min(1.0, max(0.0, judgement))
