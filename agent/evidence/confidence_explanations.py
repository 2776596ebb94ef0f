"""Why a confidence changed, and what it is made of, in sentences a person can check. It decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.evidence.confidence import DISPUTE_FACTOR, LOW_LIMIT, Evidence, compute_value, evidence_range
from agent.evidence.statement_features import extract_features
from agent.text import date_intervals, quantities
from agent.text.plurals import format_changes, format_count
from agent.text.urls import site
from agent.types import Confidence, ConfidenceChange, Conflict, Fact, PartConfidence, PlanPart

ORDINALS = {2: "a second", 3: "a third", 4: "a fourth"}
MIN_VISIBLE_CHANGE = 0.005
"""Smaller changes get no reason of their own."""
MAX_VALUE_CHARS = 60
"""Characters of a value, subject or part in a reason."""


def explain_changes(
    previous: Confidence | None, now: Confidence, evidence: Sequence[Evidence], plan: Sequence[PlanPart] = ()
) -> Confidence:
    """The confidence with the reasons of its change since the previous one; their deltas add up."""
    before = previous.value if previous else 0.0
    changes = _list_changes(previous, now, evidence, plan)
    rest = round(now.value - before - sum(change.delta for change in changes), 4)
    if changes and rest:
        changes[-1] = changes[-1].replace(delta=round(changes[-1].delta + rest, 4))
    elif abs(rest) >= MIN_VISIBLE_CHANGE:
        changes = [ConfidenceChange(delta=rest, reason="the evidence was counted anew")]
    return now.replace(moves=changes)


def _list_changes(
    previous: Confidence | None, now: Confidence, evidence: Sequence[Evidence], plan: Sequence[PlanPart]
) -> list[ConfidenceChange]:
    """The figures of each part are replaced one after the other; what each changes is one entry."""
    old = {part.part: part for part in previous.parts} if previous else {}
    if previous and ((previous.value and not old) or old.keys() - {part.part for part in now.parts}):
        return []
    parts = [  # of one that was open with the new judgement, so that its first source tells all
        was
        if (was := old.get(new.part)) and was.weight
        else PartConfidence(part=new.part, judgement=new.judgement, unanswered=new.unanswered)
        for new in now.parts
    ]
    questions = {part.id: part.question for part in plan} if len(now.parts) > 1 else {}
    changes = []
    for name in ("weight", "disputed", "unanswered", "judgement"):
        for n, (new, found) in enumerate(zip(now.parts, evidence, strict=True)):
            was, value = parts[n], compute_value(parts)
            more = {"sources": new.sources} if name == "weight" else {}
            parts[n] = was.replace(**{name: getattr(new, name)}, **more)
            delta = compute_value(parts) - value
            if abs(delta) >= MIN_VISIBLE_CHANGE:
                about = f"“{questions[new.part][:MAX_VALUE_CHARS]}”: " if new.part in questions else ""
                reason = _explain(name, was, new, found, is_judged=now.model is not None)
                changes.append(ConfidenceChange(delta=round(delta, 4), reason=about + reason))
    return changes


def _explain(name: str, was: PartConfidence, new: PartConfidence, found: Evidence, *, is_judged: bool) -> str:
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
        if is_judged:
            return f"the model is {'surer' if surer else 'less sure'} of the answer ({figures})"
        return f"{'more' if surer else 'less'} of it was judged ({figures})"
    if not new.weight:
        return "no source supports its claim any more"
    if not was.weight:
        count = format_count(len(new.sources), "independent source")
        return f"the first evidence, from {count}: {', '.join(new.sources[:3])}"
    if new.weight < was.weight:
        fewer = len(new.sources) < len(was.sources)
        return "fewer independent sources say it" if fewer else "its sources are trusted less"
    if len(new.sources) > len(was.sources):
        agreement = describe_agreement(found.facts, set(was.sources))
        return f"{ORDINALS.get(len(new.sources), 'one more')}, independent source {agreement}"
    if any(fact.decision == "pinned" for fact in found.facts):
        return "a person confirmed it"
    return f"a more trusted source says it: {', '.join(new.sources[:3])}"


def describe_conflict(conflict: Conflict) -> str:
    """A conflict's subject and values: "Lantern House, opening: 1921 or 1923"."""
    topic = ", ".join(filter(None, (conflict.subject, conflict.attribute)))[:MAX_VALUE_CHARS].strip(" ,")
    sides = " or ".join(value.text[:MAX_VALUE_CHARS] for value in conflict.values[:3])
    return f"{topic}: {sides}" if sides else topic


def describe_agreement(facts: Sequence[Fact], known: set[str]) -> str:
    """How a source not among the `known` agrees with the others: "(b.example) gives the same date: 1921"."""
    latest = max(facts, key=lambda fact: (site(fact.url) not in known, fact.step, fact.id))
    former = next((fact for fact in facts if site(fact.url) != site(latest.url)), None)
    who = f"({site(latest.url)}) " if site(latest.url) else ""
    if former is None:
        return f"{who}says the same"
    mine, theirs = extract_features(former.statement), extract_features(latest.statement)
    is_same_date, is_same_figure = date_intervals.is_compatible, quantities.is_same_quantity
    shared = [
        *(("date", d.text) for d in mine.dates if any(is_same_date(d, t) for t in theirs.dates)),
        *(
            ("figure", q.text)
            for q in mine.quantities
            if any(is_same_figure(q, t) for t in theirs.quantities)
        ),
        *[("name", n.text) for n in mine.names if any(n.words == t.words for t in theirs.names)][-1:],
    ]
    if not shared:
        return f"{who}says the same"
    what, value = shared[0]
    return f"{who}gives the same {what}: {value[:MAX_VALUE_CHARS]}"


def describe_parts(point: Confidence, plan: Sequence[PlanPart] = ()) -> list[tuple[str, str, str]]:
    """What a confidence is made of, as rows: name, figure, and what it was counted from."""
    questions: Mapping[str, str] = {part.id: part.question for part in plan}
    rows: list[tuple[str, str, str]] = []
    for part in point.parts:
        if len(point.parts) > 1:
            rows.append((f"part {part.part}", "", questions.get(part.part, "")))
        rows += _describe_part(part, is_model=point.model is not None)
    return rows


def _describe_part(part: PartConfidence, *, is_model: bool) -> list[tuple[str, str, str]]:
    if not part.weight:
        return [("evidence", "0.00", "no source supports a claim: open")]
    low, high = evidence_range(part.weight)
    sources = f"{format_count(len(part.sources), 'independent source')}: {', '.join(part.sources[:4])}"
    weighed = f"; counted as {part.weight:g} by trust" if part.weight != len(part.sources) else ""
    whose = "the model’s own estimate" if is_model else "what is known without a model’s estimate"
    rows = [
        ("evidence", f"{low:.2f} to {high:.2f}", f"{sources}{weighed}"),
        ("judgement", f"{part.judgement:.2f}", f"{whose}; it places the value in that range"),
    ]
    if part.unanswered:
        rows.append(("unanswered", f"≤ {LOW_LIMIT:.2f}", "the model does not call it answered yet"))
    if part.disputed:
        rows.append(("disputed", f"× {DISPUTE_FACTOR:.2f}", "an open conflict contradicts it"))
    return rows


def list_changes(level: Confidence) -> list[str]:
    """The changes that led to a confidence, each with its reason: "+5 points: a second site agrees"."""
    changes = format_changes(level.value, [move.delta for move in level.moves])
    return [f"{change}: {move.reason}" for change, move in zip(changes, level.moves, strict=True)]
