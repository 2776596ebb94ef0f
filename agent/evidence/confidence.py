"""Confidence: what the evidence for each part of the question allows, and where in that range a judgement
puts it.

    part  = (low + (high − low) × judgement) × DISPUTE_FACTOR where it is disputed,
            at most MAX_PARTIAL while the model does not call it answered
    low   = LOW_LIMIT × (1 − LOW_DOUBT ** n)          n = 1: .16   2: .26   3: .31   at most .40
    high  = 1 − HIGH_DOUBT ** n                       n = 1: .84   2: .97   3: 1.0
    whole = the mean of the parts, at most MAX_PARTIAL while a part is open or disputed

* n: the independent sources that say what the part's claim says, each with the weight of its trust, from 0
  to 1 (full from FULL_WEIGHT_TRUST on). A source counts SURE_WEIGHT where a person pinned its fact or
  stated it, where it is the publisher that the question is about, and in the flows that ask one publisher
  (`site`, `collect`, `reply`, `chat`). 0 sources: the part is open and counts 0.
* judgement: from 0 to 1, the model's own estimate. It moves the value both ways, and only within the range.
* disputed: an open conflict contradicts the claim.

Until there is an answer, the claim of a part is the best supported of its facts. From then on it is the first
supported sentence of the answer on that part, as sure as the least supported fact that it cites for it.
Without a model there is no confidence.

With the judgement held fixed, a further independent source never lowers the value; striking or falsely
correcting a supporting fact never raises it, and neither does an open conflict: sources are told apart, and
like statements are found, among all facts, also those that do not count. The constants are our own judgement:
one right source with a judgement of .7 gives .6, two agreeing ones with .9 give .9, and a wrong answer that
the model doubts (.2) stays below .4."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from operator import itemgetter

from agent.evidence.conflicts import topic_key
from agent.evidence.contradiction import dice_similarity, extract_features, find_contradiction
from agent.evidence.sources import PERSON_SOURCE, map_sites_to_sources
from agent.text.dates import is_compatible
from agent.text.plurals import format_changes, format_count, format_percent
from agent.text.quantities import is_same_quantity
from agent.text.short_cache import CACHE_SIZE
from agent.text.urls import site
from agent.types import Confidence, ConfidenceChange, Conflict, Fact, PartConfidence, PlanPart

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
UNSURE = 0.5
"""A judgement below it is told as the reason of a level."""
MAX_NAMED_SOURCES = 3
PRECISION = 4
"""Digits behind the point of a figure that is kept."""
MIN_VISIBLE_CHANGE = 0.005
"""Smaller changes get no reason of their own."""
MAX_VALUE_CHARS = 60
"""Characters of a value, subject or part in a reason."""


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
    two sides of a conflict never agree, whoever settled it. `is_enough` says whether a fact's source is
    enough alone."""

    def __init__(
        self, facts: Iterable[Fact], conflicts: Iterable[Conflict], is_enough: Callable[[Fact], bool]
    ) -> None:
        self._facts = {fact.id: fact for fact in facts}
        self._enough = {name for name, fact in self._facts.items() if is_enough(fact)}
        self._said = dict[str, tuple[str, tuple[str, str]]]()
        """What each says (of an unsupported correction: what its page says), and its topic."""
        for name, fact in self._facts.items():
            said = fact.former if fact.former and not fact.verified else fact.statement
            self._said[name] = said, topic_key(fact)
        self._sides: dict[str, set[str]] = defaultdict(set)
        """By fact the others on another side of a conflict, whether that is settled or not."""
        self._open = list[tuple[Conflict, set[str]]]()
        self._sources: dict[frozenset[str], dict[str, str]] = {}
        for conflict in conflicts:
            for one, other in permutations(conflict.values, 2):
                for name in one.fact_ids:
                    self._sides[name].update(other.fact_ids)
            if conflict.status == "open":
                self._open.append((conflict, {name for value in conflict.values for name in value.fact_ids}))

    def measure(
        self, part: str, claims: Collection[str], judgement: float, *, is_answered: bool = True
    ) -> Evidence:
        """The evidence for a part: before it is answered of that of these facts that gives the most, and a
        conflict about what is asked touches whatever would be claimed; of an answer, which rests on all that
        it cites, of the one that gives the least."""
        ranked = list[tuple[tuple[float, float], Evidence]]()
        for claim in (self._facts[name] for name in claims if name in self._facts):
            if claim.rests_on_person:
                continue
            found = self._measure_claim(part, claim, () if is_answered else claims)
            disputed = bool(found.conflicts)
            figures = PartConfidence(part=part, weight=found.weight, judgement=judgement, disputed=disputed)
            relevance = max((fact.relevance for fact in found.facts), default=0.0)
            ranked.append(((compute_part(figures), relevance), found))
        choose = min if is_answered else max
        return choose(ranked, key=itemgetter(0))[1] if ranked else Evidence(part)

    def _measure_claim(self, part: str, claim: Fact, asked: Collection[str]) -> Evidence:
        same, opposed, (text, topic) = list[Fact](), self._sides[claim.id], self._said[claim.id]
        for fact in self._facts.values():
            said, about = self._said[fact.id]
            if fact is claim or (
                fact.id not in opposed
                and _says_same(*sorted((text, said)), is_keyed=topic == about != ("", ""))
            ):
                same.append(fact)
        counting = [fact for fact in same if fact.is_active and not fact.rests_on_person]
        if not counting:
            return Evidence(part)
        ids = frozenset(fact.id for fact in same)
        if ids not in self._sources:
            self._sources[ids] = map_sites_to_sources(same)
        weights: dict[str, float] = defaultdict(float)
        for fact in counting:
            source = self._sources[ids][site(fact.url) or PERSON_SOURCE]
            weight = min(1.0, fact.trust / FULL_WEIGHT_TRUST)
            if fact.decision == "pinned" or fact.trust >= 1.0:
                weight = SURE_WEIGHT
            elif fact.id in self._enough:
                weight *= SURE_WEIGHT
            weights[source] = max(weights[source], weight)
        against = list[Conflict]()
        for conflict, sides in self._open:
            if not sides.isdisjoint(ids) or (conflict.asks and not sides.isdisjoint(asked)):
                against.append(conflict)
        counting.sort(key=lambda fact: (fact.id != claim.id, fact.decision != "pinned", -fact.relevance))
        return Evidence(part, sum(weights.values()), tuple(sorted(weights)), tuple(against), tuple(counting))


@lru_cache(CACHE_SIZE)
def _says_same(one: str, other: str, *, is_keyed: bool) -> bool:
    """Whether two statements say the same: about one attribute of one subject (`is_keyed`), or in like words
    that are more than a name, with a date and a figure in common where both have one. Cached: each step of a
    run compares its facts."""
    left, right = extract_features(one), extract_features(other)
    names = frozenset[str]().union(*(name.words for name in (*left.names, *right.names)))
    is_alike = dice_similarity(left.words, right.words) >= MIN_SAME_SIMILARITY
    if not is_keyed and not (is_alike and left.words & right.words - names):
        return False
    days, amounts = (left.dates, right.dates), (left.quantities, right.quantities)
    if all(days) and not any(is_compatible(a, b) for a, b in product(*days)):
        return False
    if all(amounts) and not any(is_same_quantity(a, b) for a, b in product(*amounts)):
        return False
    return find_contradiction(left, right, keyed=is_keyed) is None


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
    judgement = round(min(1.0, max(0.0, judgement)), PRECISION)
    parts = [
        PartConfidence(
            part=found.part,
            sources=list(found.sources),
            weight=round(found.weight, PRECISION),
            judgement=judgement,
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
    return round(min(mean, MAX_PARTIAL) if is_partial else mean, PRECISION)


def compute_part(part: PartConfidence) -> float:
    """The confidence of one part, 0 while it is open."""
    low, high = evidence_range(part.weight)
    value = (low + (high - low) * part.judgement) * (DISPUTE_FACTOR if part.disputed else 1.0)
    return min(value, MAX_PARTIAL) if part.unanswered else value


def evidence_range(weight: float) -> tuple[float, float]:
    """The least and the most that sources of this weight allow."""
    return LOW_LIMIT * (1.0 - LOW_DOUBT**weight), 1.0 - HIGH_DOUBT**weight


def quote_parts(plan: Sequence[PlanPart]) -> dict[str, str]:
    """By its id what a sentence calls each part of a question: its first words; the whole has no name."""
    first = {part.id: textwrap.shorten(part.question, MAX_VALUE_CHARS, placeholder="…") for part in plan}
    return {name: f"“{words}”" for name, words in first.items()} if len(plan) > 1 else {}


def describe_certainty(point: Confidence, plan: Sequence[PlanPart]) -> str:
    """The level with its reason, that of its weakest part: "High confidence (97 %): 2 independent …"."""
    weakest = min(point.parts, key=compute_part, default=PartConfidence(part=""))
    about = quote_parts(plan).get(weakest.part, "it")
    count, named = len(weakest.sources), ", ".join(weakest.sources[:MAX_NAMED_SOURCES])
    reason = f"{about} rests on {count} independent sources ({named})"
    if not count:
        reason = f"no source supports {about}"
    elif weakest.disputed:
        reason = f"the sources differ on {about}"
    elif weakest.judgement < UNSURE:
        reason = f"the model is not sure of {about}"
    elif count == 1:
        is_enough = ", which is enough here" if weakest.weight >= SURE_WEIGHT else ""
        reason = f"{about} rests on one source{is_enough} ({named})"
    level = next(name for name, least in LEVELS if point.value >= least)
    return f"{level} confidence ({format_percent(point.value)}): {reason}."


def explain_changes(
    previous: Confidence | None, now: Confidence, evidence: Sequence[Evidence], plan: Sequence[PlanPart] = ()
) -> Confidence:
    """The confidence with the reasons of its change since the previous one; their deltas add up.

    The figures of each part are replaced one after the other; what each changes is one entry."""
    before, old = (previous.value, {p.part: p for p in previous.parts}) if previous else (0.0, {})
    is_comparable = old.keys() <= {part.part for part in now.parts}
    parts = [  # of one that was open with the new judgement, so that its first source tells all
        was
        if (was := old.get(new.part)) and was.weight
        else PartConfidence(part=new.part, judgement=new.judgement, unanswered=new.unanswered)
        for new in now.parts
    ]
    names, changes = quote_parts(plan), []
    for name in ("weight", "disputed", "unanswered", "judgement") if is_comparable else ():
        for n, (new, found) in enumerate(zip(now.parts, evidence, strict=True)):
            was, value = parts[n], compute_value(parts)
            more = {"sources": new.sources} if name == "weight" else {}
            parts[n] = was.replace(**{name: getattr(new, name)}, **more)
            delta = compute_value(parts) - value
            if abs(delta) >= MIN_VISIBLE_CHANGE:
                about = f"{names[new.part]}: " if new.part in names else ""
                reason = _explain(name, was, new, found)
                changes.append(ConfidenceChange(delta=round(delta, PRECISION), reason=about + reason))
    rest = round(now.value - before - sum(change.delta for change in changes), PRECISION)
    if changes and rest:
        changes[-1] = changes[-1].replace(delta=round(changes[-1].delta + rest, PRECISION))
    elif abs(rest) >= MIN_VISIBLE_CHANGE:
        changes = [ConfidenceChange(delta=rest, reason="the evidence was counted anew")]
    return now.replace(moves=changes)


def _explain(name: str, was: PartConfidence, new: PartConfidence, found: Evidence) -> str:
    """Why a figure of a part changed."""
    if name == "disputed":
        if not new.disputed:
            return "no open conflict contradicts it any more"
        return f"the sources differ: {describe_conflict(found.conflicts[0])}"
    if name == "unanswered":
        verb = "does not answer it yet" if new.unanswered else "answers it"
        return f"the model says that what was found {verb}"
    if name == "judgement":
        surer, figures = new.judgement > was.judgement, f"{new.judgement:.2f}, before {was.judgement:.2f}"
        return f"the model is {'surer' if surer else 'less sure'} of the answer ({figures})"
    if not new.weight:
        return "no source supports its claim any more"
    if not was.weight:
        count = format_count(len(new.sources), "independent source")
        return f"the first evidence, from {count}: {', '.join(new.sources[:MAX_NAMED_SOURCES])}"
    if new.weight < was.weight:
        fewer = len(new.sources) < len(was.sources)
        return "fewer independent sources say it" if fewer else "its sources are trusted less"
    if len(new.sources) > len(was.sources):
        more = [source for source in new.sources if source not in was.sources]
        return f"a further independent source says the same: {', '.join(more)}"
    if any(fact.decision == "pinned" for fact in found.facts):
        return "a person confirmed it"
    return f"a more trusted source says it: {', '.join(new.sources[:MAX_NAMED_SOURCES])}"


def describe_conflict(conflict: Conflict) -> str:
    """A conflict's subject and values: "Lantern House, opening: 1921 or 1923"."""
    topic = ", ".join(filter(None, (conflict.subject, conflict.attribute)))[:MAX_VALUE_CHARS].strip(" ,")
    sides = " or ".join(value.text[:MAX_VALUE_CHARS] for value in conflict.values[:3])
    return f"{topic}: {sides}" if sides else topic


def describe_parts(point: Confidence, plan: Sequence[PlanPart] = ()) -> list[tuple[str, str, str]]:
    """What a confidence is made of, as rows: name, figure, and what it was counted from."""
    questions: Mapping[str, str] = {part.id: part.question for part in plan}
    rows: list[tuple[str, str, str]] = []
    for part in point.parts:
        if len(point.parts) > 1:
            rows.append((f"part {part.part}", "", questions.get(part.part, "")))
        if not part.weight:
            rows.append(("evidence", "0.00", "no source supports a claim: open"))
            continue
        low, high = evidence_range(part.weight)
        sources = f"{format_count(len(part.sources), 'independent source')}: {', '.join(part.sources[:4])}"
        weighed = f"; counted as {part.weight:g} by trust" if part.weight != len(part.sources) else ""
        rows.append(("evidence", f"{low:.2f} to {high:.2f}", f"{sources}{weighed}"))
        rows.append(
            (
                "judgement",
                f"{part.judgement:.2f}",
                "the model’s own estimate; it places the value in that range",
            )
        )
        if part.unanswered:
            rows.append(("unanswered", f"≤ {MAX_PARTIAL:.2f}", "the model does not call it answered"))
        if part.disputed:
            rows.append(("disputed", f"× {DISPUTE_FACTOR:.2f}", "an open conflict contradicts it"))
    return rows


def list_changes(level: Confidence) -> list[str]:
    """The changes that led to a confidence, each with its reason: "+5 points: a second site agrees"."""
    changes = format_changes(level.value, [move.delta for move in level.moves])
    return [f"{change}: {move.reason}" for change, move in zip(changes, level.moves, strict=True)]
