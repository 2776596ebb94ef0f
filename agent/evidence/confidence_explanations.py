"""Why a confidence changed, in sentences a person can check.

Input: the figures of the formula (`basis`, see `confidence`) before and after, and the facts behind the best
supported part. It decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent.evidence.statement_features import extract_features
from agent.text import date_intervals, quantities
from agent.text.plurals import format_changes, format_count
from agent.text.urls import site
from agent.types import Confidence, Conflict, Fact

Basis = Mapping[str, float]
ANSWER_TYPE_NAMES = {
    "date": "a date",
    "number": "a figure",
    "person": "a person's name",
    "place": "a place",
    "reason": "a reason",
    "definition": "a definition",
}
ORDINALS = {2: "a second", 3: "a third", 4: "a fourth"}
MAX_VALUE_CHARS = 60
"""Characters of a value or subject in a reason."""


@dataclass(frozen=True)
class ReasonContext:
    """What the reasons name: how a source agrees with the best fact, the source of that, the type of answer,
    and the open conflicts."""

    agreement: str = ""
    source: str = ""
    source_trust: float = 0.0
    is_pinned: bool = False
    answer_type: str = ""
    open_conflicts: Sequence[Conflict] = field(default_factory=tuple)

    @property
    def first_conflict(self) -> str:
        """The first open conflict: its subject and values."""
        conflict = self.open_conflicts[0]
        topic = ", ".join(filter(None, (conflict.subject, conflict.attribute)))[:MAX_VALUE_CHARS].strip(" ,")
        sides = " or ".join(value.text[:MAX_VALUE_CHARS] for value in conflict.values[:3])
        return f"{topic}: {sides}" if sides else topic


def build_reason_context(
    lead: Fact, same: Sequence[Fact], conflicts: Sequence[Conflict], answer_type: str
) -> ReasonContext:
    """The context for the best fact `lead`, the facts that say the same, and the open conflicts."""
    facts = [lead, *same]
    latest = max(facts, key=lambda fact: (fact.step, fact.id))
    former = next((fact for fact in facts if site(fact.url) != site(latest.url)), None)
    best = max(facts, key=lambda fact: (fact.decision == "pinned", fact.trust))
    agreement = describe_agreement(former, latest) if former else ""
    source = site(best.url) or "what a person said"
    return ReasonContext(agreement, source, best.trust, best.decision == "pinned", answer_type, conflicts)


def describe_agreement(former: Fact, latest: Fact) -> str:
    """How the latest fact agrees with an earlier one: "(b.example) gives the same date: 1921"."""
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
    who = f"({site(latest.url)}) " if site(latest.url) else ""
    if not shared:
        return f"{who}says the same"
    what, value = shared[0]
    return f"{who}gives the same {what}: {value[:MAX_VALUE_CHARS]}"


def explain_first_evidence(basis: Basis, context: ReasonContext) -> str:
    """The reason of the first change: what was found and how much of the question it covers."""
    found = f"{format_count(basis['facts'], 'fact')} from {format_count(basis['voices'], 'independent site')}"
    covered = f"the first evidence: {found} cover {basis['coverage']:.0%} of the question"
    if "told" not in basis:
        return covered
    if basis["chain"]:
        joined = f"{basis['joined']:.0%} of the question"
        return f"{covered}; it takes several links, and the facts together cover {joined}"
    return f"{covered}; {_count_answering_facts(basis, context)}"


def explain_change(name: str, before: Basis, basis: Basis, context: ReasonContext) -> str:
    """Why the figure `name` changed the confidence."""
    if name in _CHANGES:
        rose, fell = _CHANGES[name]
        return (rose if basis[name] > before.get(name, 0.0) else fell).format(basis=basis, context=context)
    return _DETAILED_CHANGES[name](before, basis, context)


_CHANGES = {
    "coverage": (
        "the facts now cover {basis[coverage]:.0%} of the question's words",
        "only {basis[coverage]:.0%} of the question's words are covered by facts that may count",
    ),
    "joined": ("together the facts hold {basis[joined]:.0%} more of the question than the best fact alone",)
    * 2,
    "linked": ("of what no title says, the quotes now hold {basis[linked]:.0%}",) * 2,
    "opens": ("the best fact opens its page", "the best fact no longer opens its page"),
    "pinned": ("a person confirmed the best fact", "the best fact is no longer one a person confirmed"),
    "chain": ("the question is read in another way",) * 2,
}
"""The sentences for a figure that rose and for one that fell."""


def _explain_answering_facts(before: Basis, basis: Basis, context: ReasonContext) -> str:
    change = "the facts on the question changed"
    if basis["told"] > before["told"]:
        change = "the answer is clearer"
    elif basis["bearing"] > before["bearing"]:
        change = "more facts are on the question without answering it"
    return f"{change}: {_count_answering_facts(basis, context)}"


def _count_answering_facts(basis: Basis, context: ReasonContext) -> str:
    value = ANSWER_TYPE_NAMES.get(context.answer_type, "")
    holding = f" with {value}" if value else ""
    verb = "answers" if basis["told"] == 1 else "answer"
    return (
        f"of {format_count(basis['bearing'], 'fact')} that may count, {basis['told']:.0f}{holding} {verb} it"
    )


def _explain_missing_words(before: Basis, basis: Basis, context: ReasonContext) -> str:
    if not basis["missing"]:
        return "the answer leaves no word of the question open any more"
    only = "" if basis["missing"] > before["missing"] else "only "
    return f"the answer leaves {only}{format_count(basis['missing'], 'word')} of the question open"


def _explain_support(before: Basis, basis: Basis, context: ReasonContext) -> str:
    now, was = basis["agreeing"], before["agreeing"]
    if basis["left"] > before["left"]:
        if now >= was:
            return "neither the source of the best fact nor a person's pin makes it sure any more"
        sites = format_count(basis["voices"], "site")
        return f"fewer independent sites say the same as the best fact ({sites} in all)"
    if int(now) > int(was) and now >= 2:
        return (
            f"{ORDINALS.get(int(now), 'one more')}, independent site {context.agreement or 'says the same'}"
        )
    if now > was:
        return "another site writes about it too, though it does not say the same"
    if context.is_pinned:
        return "a person confirmed the best fact"
    return f"the source of the best fact is trusted fully: {context.source}"


def _explain_trust(before: Basis, basis: Basis, context: ReasonContext) -> str:
    source = f"{context.source} (trust {context.source_trust:.2f})"
    if basis["trust"] <= before["trust"]:
        return f"the best fact comes from a less trusted source: {source}"
    if context.is_pinned:
        return "a person confirmed the best fact, so its source is trusted fully"
    return f"a more trusted source says it: {source}"


def _explain_agreement(before: Basis, basis: Basis, context: ReasonContext) -> str:
    if basis["agreement"] > before["agreement"]:
        return "fewer of the relevant facts are disputed"
    about = f" ({context.first_conflict})" if context.open_conflicts else ""
    return f"more of the relevant facts are disputed{about}"


def _explain_conflicts(before: Basis, basis: Basis, context: ReasonContext) -> str:
    open_count = len(context.open_conflicts)
    if basis["conflicts"] < before.get("conflicts", 0.0):
        return f"fewer conflicts: {open_count} still open" if open_count else "a conflict was settled"
    if open_count == 1:
        return f"1 conflict on this question is open: {context.first_conflict}"
    return f"{open_count} conflicts on this question are open; the first: {context.first_conflict}"


_DETAILED_CHANGES: dict[str, Callable[[Basis, Basis, ReasonContext], str]] = {
    "told": _explain_answering_facts,
    "missing": _explain_missing_words,
    "left": _explain_support,
    "trust": _explain_trust,
    "agreement": _explain_agreement,
    "conflicts": _explain_conflicts,
}


def describe_factors(point: Confidence) -> list[tuple[str, float, str]]:
    """The factors of a confidence: name, figure, and what it was counted from. They are multiplied; conflicts
    are subtracted."""
    basis, factors = point.basis, point.factors
    covered = basis.get("coverage", factors.get("coverage", 0.0))
    enough = "; 80% count as all" if "told" in basis and not basis["chain"] else ""
    explanations = {
        "coverage": f"facts that may count cover {covered:.0%} of the question's words{enough}",
        "support": _describe_support(basis, factors),
        "trust": "how far the best of these sites are trusted",
        "agreement": "share of the evidence that is undisputed",
        "conflicts": "open conflicts on this question; subtracted",
    }
    return [(name, factors[name], text) for name, text in explanations.items() if name in factors]


def _describe_support(basis: Basis, factors: Basis) -> str:
    if not basis:
        return "how many independent sites say what the best fact says"
    agreeing = int(basis["agreeing"])
    verb = "says" if agreeing == 1 else "say"
    sites = f"{format_count(agreeing, 'independent site')} {verb} what the best fact says"
    sites += " (a disputed fact supports nothing)" if basis["agreement"] < 1 else ""
    if "told" not in basis:
        return sites
    if basis["chain"]:
        held = f"it takes several links; the facts together cover {basis['joined']:.0%} of the question"
        held += ", and no quote says yes or no" if basis.get("closed") else ""
    else:
        facts = format_count(basis["bearing"], "fact")
        held = f"{basis['told']:.0f} of {facts} that may count answer the question"
        held += ", the best at the beginning of its page" if basis.get("opens") else ""
    missing = f", {format_count(basis['missing'], 'word')} of the question open" if basis["missing"] else ""
    return f"{sites}; one alone gives {factors.get('alone', 0.0):.2f}: {held}{missing}"


def explain_model_limit(value: float, own: float, model: float | None) -> str:
    """Why the model's own figure changed the confidence."""
    if model is not None and value < own:
        return f"the model itself is less sure ({model:.2f}) than the evidence ({own:.2f})"
    return "the model's own figure is no longer lower than the evidence"


def list_changes(level: Confidence) -> list[str]:
    """The changes that led to a confidence, each with its reason: "+5 points: a second site agrees"."""
    changes = format_changes(level.value, [move.delta for move in level.moves])
    return [f"{change}: {move.reason}" for change, move in zip(changes, level.moves, strict=True)]
