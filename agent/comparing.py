"""Two runs side by side: what differs in question and settings, answers, facts, sources, conflicts, and what each took and cost.

    found = compare(bench, "1f…", "9c…")
    found.shared, found.answer, found.facts.one       # steps in common; the answers' difference; facts that only the first has

Nothing is judged: code counts and matches. A fact is the same when its quote stands in the same text, a page by its address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field

from agent.evidence import answers
from agent.flows import settling
from agent.forking import spent_up_to
from agent.types import Answer, Conflict, Fact, Note, Noun, PageRef, Sentence, Source, Step, Usage
from agent.urls import canonical
from agent.workbench import View, Workbench

N = TypeVar("N", bound=Noun)
UNTOLD = ("thread_id",)
"""Settings that say nothing of how a run works."""


class Side(Noun):
    """One of the two runs."""

    run: str
    question: str
    status: str
    flow: str
    world: str
    verdict: str
    answer: str
    created_at: str
    forked_from: str = ""
    forked_at: int = -1
    notes: list[str] = Field(default_factory=list)
    """What a person told it after the steps both share."""


class Figure(Noun):
    """One figure of both runs, and what of each is of the steps they share. None: nobody knows (a price)."""

    name: Literal["confidence", "steps", "pages", "facts", "conflicts", "calls", "tokens", "cost", "seconds"]
    one: float | None
    two: float | None
    shared: float | None = 0.0


class Said(Noun):
    """One line of the two answers laid over each other, each sentence with the addresses it stands on."""

    kind: Literal["added", "removed", "reworded", "same", "resourced"]
    one: str = ""
    two: str = ""
    sources_one: list[str] = Field(default_factory=list)
    sources_two: list[str] = Field(default_factory=list)


class Lists(Noun):
    """What only the first has, what only the second has, and what both have, as (of the first, of the second)."""

    one: list[Any] = Field(default_factory=list)
    two: list[Any] = Field(default_factory=list)
    both: list[tuple[Any, Any]] = Field(default_factory=list)


class Comparison(Noun):
    """Both sides; `shared` is how many steps they have in common (0: they began apart)."""

    one: Side
    two: Side
    shared: int
    settings: dict[str, tuple[Any, Any]]
    """The settings that differ, by name; those of a part as "site.max_pages"."""
    figures: list[Figure]
    answer: list[Said]
    facts: Lists
    sources: Lists
    """The pages that were read (`PageRef`)."""
    cited: tuple[list[str], list[str]]
    """The addresses each answer stands on."""
    conflicts: Lists

    @property
    def decided(self) -> list[tuple[Fact, Fact]]:
        """The facts both have, of which a person or the evidence thinks otherwise in one of them."""
        return [pair for pair in self.facts.both if _marks(pair[0]) != _marks(pair[1])]


def compare(bench: Workbench, one: str, two: str) -> Comparison:
    """The two runs side by side. Raises NotFound."""
    first, second = bench.view(one), bench.view(two)
    shared = in_common(first.steps, second.steps)
    own = second if first.run.forked_from == second.run.id else first
    spent = spent_up_to(bench, own, shared - 1) if shared else Usage()
    texts = _addresses(first.state.answer), _addresses(second.state.answer)
    return Comparison(
        one=_side(first, shared), two=_side(second, shared), shared=shared,
        settings=differing(first.run.settings.model_dump(mode="json"), second.run.settings.model_dump(mode="json")),
        figures=_figures(first, second, spent, shared), answer=_said(first.state.answer, second.state.answer), cited=texts,
        facts=_matched(first.state.facts.values(), second.state.facts.values(), lambda fact: fact.id, _place),
        sources=_matched(_read(first), _read(second), lambda page: canonical(page.url) or page.url),
        conflicts=_matched(settling.shown(first.state), settling.shown(second.state), lambda clash: clash.id, _about),
    )  # fmt: skip


def record(found: Comparison) -> dict[str, Any]:
    """The comparison as one JSON object; facts and pages shortened to what tells them apart."""
    told = found.model_dump(mode="json", exclude={"facts", "sources", "conflicts"})
    kinds: tuple[tuple[str, Lists, set[str]], ...] = (
        ("facts", found.facts, {"id", "statement", "quote", "url", "decision", "verified", "disputed"}),
        ("sources", found.sources, {"url", "title", "page_id"}),
        ("conflicts", found.conflicts, {"id", "subject", "attribute", "status", "chosen"}),
    )
    for name, lists, wanted in kinds:
        told[name] = {
            "only_one": [row.model_dump(mode="json", include=wanted) for row in lists.one],
            "only_two": [row.model_dump(mode="json", include=wanted) for row in lists.two],
            "both": len(lists.both),
            "both_but_different": [
                [row.model_dump(mode="json", include=wanted) for row in pair] for pair in lists.both if name != "sources" and _told(*pair)
            ],
        }
    return told


def in_common(one: Sequence[Step], two: Sequence[Step]) -> int:
    """How many first steps are the very same: told by what they did and when. 0 for two runs of one question that began apart."""
    for n, (a, b) in enumerate(zip(one, two, strict=False)):
        if (a.name, a.at, a.change, a.next) != (b.name, b.at, b.change, b.next):
            return n
    return min(len(one), len(two))


def differing(one: Mapping[str, Any], two: Mapping[str, Any], within: str = "") -> dict[str, tuple[Any, Any]]:
    """The entries of two records that are not the same, those of a part under "part.name"."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in [*one, *(name for name in two if name not in one)]:
        a, b = one.get(name), two.get(name)
        if a == b or name in UNTOLD:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            found |= differing(a, b, f"{within}{name}.")
        else:
            found[within + name] = (a, b)
    return found


def _side(view: View, shared: int) -> Side:
    run, answer = view.run, view.state.answer
    notes = [note for step in view.steps[shared:] for note in step.change.get("notes") or []]
    return Side(
        run=run.id, question=run.question, status=run.status.value, flow=run.settings.flow, world=run.settings.world,
        verdict=answer.verdict if answer else "", answer=(answer.text or answer.certainty) if answer else "", created_at=run.created_at,
        forked_from=run.forked_from, forked_at=run.forked_at, notes=[Note.model_validate(note).text for note in notes],
    )  # fmt: skip


def _figures(first: View, second: View, spent: Usage, shared: int) -> list[Figure]:
    common = sum(action.step < shared for action in first.state.actions)
    counted: tuple[tuple[Any, Callable[[View], float | None], float | None], ...] = (
        ("confidence", lambda view: view.state.answer.confidence if view.state.answer else view.state.level, 0.0),
        ("steps", lambda view: len(view.state.actions), common),
        ("pages", lambda view: view.state.pages_read, 0.0),
        ("facts", lambda view: sum(fact.verified for fact in view.state.facts.values()), 0.0),
        ("conflicts", lambda view: len(settling.shown(view.state)), 0.0),
        ("calls", lambda view: view.usage.llm_calls, spent.llm_calls),
        ("tokens", lambda view: view.usage.prompt_tokens + view.usage.completion_tokens, spent.prompt_tokens + spent.completion_tokens),
        ("cost", lambda view: view.usage.cost_usd if view.usage.llm_calls else 0.0, spent.cost_usd),
        ("seconds", lambda view: view.usage.seconds, spent.seconds),
    )
    return [Figure(name=name, one=figure(first), two=figure(second), shared=of_both) for name, figure, of_both in counted]


def _said(one: Answer | None, two: Answer | None) -> list[Said]:
    empty = Answer(n=0, verdict="no_evidence")
    old, new = one or empty, two or empty
    return [
        Said(
            kind=change.kind, one=change.old.text if change.old else "", two=change.new.text if change.new else "",
            sources_one=_sources(change.old, old), sources_two=_sources(change.new, new),
        )
        for change in answers.difference(old, new)
    ]  # fmt: skip


def _sources(sentence: Sentence | None, answer: Answer) -> list[str]:
    wanted = set(sentence.fact_ids) if sentence else set()
    return [_name(source) for source in answer.sources if wanted.intersection(source.fact_ids)]


def _addresses(answer: Answer | None) -> list[str]:
    return [_name(source) for source in answer.sources] if answer else []


def _name(source: Source) -> str:
    return source.url or source.title


def _read(view: View) -> list[PageRef]:
    return [page for page in view.state.pages.values() if page.page_id]


def _matched(one: Any, two: Any, *keys: Callable[[Any], Any]) -> Lists:
    """Each of the first with its partner in the second: by the first key that finds one."""
    left, right = list(one), list(two)
    both: list[tuple[Any, Any]] = []
    for key in keys:
        known = {key(row): row for row in reversed(right)}
        pairs = [(row, known.pop(key(row))) for row in left if key(row) in known]
        both += pairs
        taken = {id(row) for pair in pairs for row in pair}
        left, right = ([row for row in rows if id(row) not in taken] for rows in (left, right))
    return Lists(one=left, two=right, both=both)


def _place(fact: Fact) -> tuple[str, str]:
    return canonical(fact.url) or fact.url, " ".join(fact.quote.split())


def _about(clash: Conflict) -> tuple[str, str]:
    return clash.subject.casefold(), clash.attribute.casefold()


def _marks(fact: Fact) -> tuple[Any, ...]:
    return fact.decision, fact.disputed, fact.verified, fact.statement


def _told(one: Any, two: Any) -> bool:
    if isinstance(one, Fact):
        return _marks(one) != _marks(two)
    return (one.status, one.chosen) != (two.status, two.chosen)
