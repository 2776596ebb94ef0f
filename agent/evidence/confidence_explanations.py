"""Why a confidence moved, in words a person can check: who says the same, and what; what is missing; what is
in dispute.

Knows the figures the formula counts (see `confidence`) and the facts behind the strongest part; decides
nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.evidence.statement_features import StatementFeatures, extract_features
from agent.text import date_intervals, quantities
from agent.text.plurals import format_count
from agent.text.urls import site
from agent.types import Confidence, Conflict, Fact

ANSWER_TYPE_NAMES = {
    "date": "a date",
    "number": "a figure",
    "person": "a person's name",
    "place": "a place",
    "reason": "a reason",
    "definition": "a definition",
}
"""What is asked for, for a sentence."""
ORDINALS = {2: "a second", 3: "a third", 4: "a fourth"}
MAX_VALUE_CHARS = 60
"""Characters of a value or subject in a reason."""


@dataclass(frozen=True)
class ReasonContext:
    """What the reasons speak of: who agrees with the best fact and on what, its source, what is asked for,
    the open conflicts."""

    agreement: str = ""
    source: str = ""
    source_trust: float = 0.0
    is_pinned: bool = False
    answer_type: str = ""
    open_conflicts: Sequence[Conflict] = field(default_factory=tuple)


def build_reason_context(
    lead: Fact, same: Sequence[Fact], clashes: Sequence[Conflict], kind: str
) -> ReasonContext:
    """What is to be told of the best fact, those that say the same, and the open conflicts."""
    *_, latest = sorted([lead, *same], key=lambda fact: (fact.step, fact.id))
    former = next((fact for fact in (lead, *same) if site(fact.url) != site(latest.url)), None)
    best = max([lead, *same], key=lambda fact: (fact.decision == "pinned", fact.trust))
    source = site(best.url) or "what a person said"
    return ReasonContext(
        describe_agreement(former, latest) if former else "",
        source,
        best.trust,
        best.decision == "pinned",
        kind,
        clashes,
    )


def describe_agreement(former: Fact, latest: Fact) -> str:
    """What the latest site gives that was known before: "(b.example) gives the same date: 1921"."""
    mine, theirs = extract_features(former.statement), extract_features(latest.statement)
    who = f"({site(latest.url)}) " if site(latest.url) else ""
    for what, value in _shared_values(mine, theirs):
        return f"{who}gives the same {what}: {value[:MAX_VALUE_CHARS]}"
    return f"{who}says the same"


def _shared_values(mine: StatementFeatures, theirs: StatementFeatures) -> list[tuple[str, str]]:
    days = [
        ("date", d.text) for d in mine.dates if any(date_intervals.is_compatible(d, t) for t in theirs.dates)
    ]
    figures = [
        ("figure", q.text)
        for q in mine.quantities
        if any(quantities.is_same_quantity(q, t) for t in theirs.quantities)
    ]
    named = [("name", n.text) for n in mine.names if any(n.words == t.words for t in theirs.names)]
    return [*days, *figures, *named[-1:]]


def explain_first_evidence(basis: Mapping[str, float], said: ReasonContext) -> str:
    """What the first evidence is."""
    found = f"{format_count(basis['facts'], 'fact')} from {format_count(basis['voices'], 'independent site')}"
    covered = f"{found} cover {basis['coverage']:.0%} of the question"
    return f"the first evidence: {covered}{_describe_answering_facts(basis, said)}"


def explain_change(
    name: str, before: Mapping[str, float], basis: Mapping[str, float], said: ReasonContext
) -> str:
    """Why a figure moved the confidence."""
    rising = basis[name] > before.get(name, 0.0)
    if name == "coverage":
        told = f"{basis['coverage']:.0%} of the question's words"
        return f"the facts now cover {told}" if rising else f"only {told} are covered by facts that may count"
    if name in ("told", "bearing"):
        return _explain_answering_facts(before, basis, said)
    if name == "missing":
        lacking = (
            f"{'' if rising else 'only '}{format_count(basis['missing'], 'word')} of the question"
            if basis["missing"]
            else "no word of the question"
        )
        return f"{lacking} {'are' if basis['missing'] > 1 else 'is'} left open {'' if basis['missing'] else 'any more '}by what would be told"
    if name == "joined":
        return f"the facts together cover {basis['joined']:.0%} more of the question than the best fact alone: its links meet"
    if name == "pinned":
        return (
            "a person confirmed the best fact"
            if rising
            else "the best fact is no longer one a person confirmed"
        )
    if name == "opens":
        return f"the best fact {'opens its page' if rising else 'no longer opens its page, as what a page is about does'}"
    if name == "linked":
        return f"of what no title says, {basis['linked']:.0%} now stands in the quotes that would be told"
    if name in ("chain", "sharp"):
        return "the question is read in another way"
    return {
        "left": _explain_support,
        "trust": _explain_trust,
        "agreement": _explain_agreement,
        "conflicts": _explain_conflicts,
    }[name](before, basis, said)


def _describe_answering_facts(basis: Mapping[str, float], said: ReasonContext) -> str:
    """What would be told of what bears on the question."""
    if "told" not in basis:
        return ""
    if basis["chain"]:
        return f"; it takes several links, and the facts together cover {basis['joined']:.0%} of the question"
    return f"; {_count_answering_facts(basis, said)}"


def _explain_answering_facts(
    before: Mapping[str, float], basis: Mapping[str, float], said: ReasonContext
) -> str:
    if basis["told"] > before["told"]:
        return f"what answers stands out more clearly: {_count_answering_facts(basis, said)}"
    if basis["bearing"] > before["bearing"]:
        return (
            f"more sentences bear on the question without settling it: {_count_answering_facts(basis, said)}"
        )
    return f"what bears on the question changed: {_count_answering_facts(basis, said)}"


def _count_answering_facts(basis: Mapping[str, float], said: ReasonContext) -> str:
    holds = (
        f" that holds {ANSWER_TYPE_NAMES[said.answer_type]}"
        if said.answer_type in ANSWER_TYPE_NAMES and basis["told"] == 1
        else f" that hold {ANSWER_TYPE_NAMES.get(said.answer_type, '')}"
    )
    what = holds if said.answer_type in ANSWER_TYPE_NAMES else ""
    return (
        f"of {format_count(basis['bearing'], 'fact')} that may count, {basis['told']:.0f}{what} would be told"
    )


def _explain_support(before: Mapping[str, float], basis: Mapping[str, float], said: ReasonContext) -> str:
    now, was = basis["agreeing"], before["agreeing"]
    if basis["left"] > before["left"]:
        fewer = f"fewer independent sites say the same as the best fact ({format_count(basis['voices'], 'site')} in all)"
        return (
            fewer
            if now < was
            else "neither the source of the best fact nor a person's pin makes it sure any more"
        )
    if int(now) > int(was) and now >= 2:
        return f"{ORDINALS.get(int(now), 'one more')}, independent site {said.agreement or 'says the same'}"
    if now > was:
        return "another site speaks of it too, though it does not say the same"
    return (
        "a person confirmed the best fact"
        if said.is_pinned
        else f"the source of the best fact is trusted fully: {said.source}"
    )


def _explain_trust(before: Mapping[str, float], basis: Mapping[str, float], said: ReasonContext) -> str:
    if said.is_pinned and basis["trust"] > before["trust"]:
        return "a person confirmed the best fact, so its source is trusted fully"
    told = f"{said.source} (trust {said.source_trust:.2f})"
    return (
        f"a more trusted source says it: {told}"
        if basis["trust"] > before["trust"]
        else f"the best fact comes from a less trusted source: {told}"
    )


def _explain_agreement(before: Mapping[str, float], basis: Mapping[str, float], said: ReasonContext) -> str:
    about = (
        f" ({_describe_conflict(said.open_conflicts[0])})"
        if said.open_conflicts and basis["agreement"] < before["agreement"]
        else ""
    )
    return f"{'fewer' if basis['agreement'] > before['agreement'] else 'more'} of the relevant facts are disputed{about}"


def _explain_conflicts(before: Mapping[str, float], basis: Mapping[str, float], said: ReasonContext) -> str:
    still = len(said.open_conflicts)
    if basis["conflicts"] < before.get("conflicts", 0.0):
        return "a conflict was settled" if not still else f"fewer conflicts: {still} still open"
    if still == 1:
        return f"1 conflict on this question is open: {_describe_conflict(said.open_conflicts[0])}"
    return f"{still} conflicts on this question are open; the first: {_describe_conflict(said.open_conflicts[0])}"


def _describe_conflict(conflict: Conflict) -> str:
    what = conflict.subject if not conflict.attribute else f"{conflict.subject}, {conflict.attribute}"
    sides = " or ".join(value.text[:MAX_VALUE_CHARS] for value in conflict.values[:3])
    return f"{what[:MAX_VALUE_CHARS].strip(' ,')}: {sides}" if sides else what[:MAX_VALUE_CHARS]


def describe_factors(point: Confidence) -> list[tuple[str, float, str]]:
    """What a confidence was made of: each factor with its figure and what it was counted from. Multiplied,
    but conflicts are taken off."""
    basis, factors = point.basis, point.factors
    said = {
        "coverage": f"{basis.get('coverage', factors.get('coverage', 0.0)):.0%} of the question's words are covered by facts that may count",
        "support": _describe_support(basis, factors),
        "trust": "how far the best of these sites are trusted",
        "agreement": "share of the evidence that is undisputed",
        "conflicts": "open conflicts on this question; taken off",
    }
    if "told" in basis:
        said["coverage"] += "" if basis["chain"] else "; four fifths are as good as all"
    return [(name, factors[name], why) for name, why in said.items() if name in factors]


def _describe_support(basis: Mapping[str, float], factors: Mapping[str, float]) -> str:
    if not basis:
        return "how many independent sites say what the best fact says"
    sites = f"{format_count(int(basis['agreeing']), 'independent site')} {'says' if int(basis['agreeing']) == 1 else 'say'} what the best fact says"
    sites += " (what is disputed supports nothing)" if basis["agreement"] < 1 else ""
    if "told" not in basis:
        return sites
    held = f"{basis['told']:.0f} of {format_count(basis['bearing'], 'fact')} that may count hold what is asked for and would be told"
    if basis["chain"]:
        held = f"it takes several links; the facts together cover {basis['joined']:.0%} of the question"
        held += ", and a yes or no stands in no quote" if basis.get("closed") else ""
    elif basis.get("opens"):
        held += ", the best at the beginning of its page"
    lacking = (
        f", {format_count(basis['missing'], 'word')} of the question left open" if basis["missing"] else ""
    )
    return f"{sites}; one alone would give {factors.get('alone', 0.0):.2f}: {held}{lacking}"


def explain_model_limit(value: float, own: float, model: float | None) -> str:
    """Why the model's own figure moved it."""
    if model is not None and value < own:
        return f"the model itself is less sure ({model:.2f}) than the evidence ({own:.2f})"
    return "the model no longer holds it down"
