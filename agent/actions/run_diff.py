"""Two runs side by side: what differs in settings, answers, facts, sources, conflicts and usage.

Code counts and matches alone: facts by their quote in the same page, pages by their address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from agent.actions.commit import ActionContext
from agent.actions.conflict_rulings import active_conflicts
from agent.actions.forks import measure_usage_up_to
from agent.engine.snapshots import RunSnapshot
from agent.evidence.citation_check import AnswerChange, diff_answers
from agent.export.hiding import is_withheld
from agent.text.urls import canonicalize
from agent.types import Answer, Conflict, Fact, PageRef, Step, Usage

IGNORED_SETTINGS = ("thread_id", "served_by")
"""Settings that do not change how a run works."""
NO_ANSWER = Answer(n=0, verdict="no_evidence")
T = TypeVar("T")


@dataclass(frozen=True)
class ComparedFigure:
    """One figure of both runs, and the part of it in the shared steps. None: unknown (a price)."""

    name: str
    one: float | None
    two: float | None
    shared: float | None = 0.0


@dataclass(frozen=True)
class ListDiff(Generic[T]):
    """What only the first run has, what only the second has, and pairs of what both have."""

    one: list[T] = field(default_factory=list)
    two: list[T] = field(default_factory=list)
    both: list[tuple[T, T]] = field(default_factory=list)


@dataclass(frozen=True)
class RunComparison:
    """Both runs; `shared` is the number of steps they have in common, `settings` holds those that differ, by
    name ("site.max_pages"), `sources` the pages that were read."""

    one: RunSnapshot
    two: RunSnapshot
    shared: int
    settings: dict[str, tuple[Any, Any]]
    figures: list[ComparedFigure]
    answer: list[AnswerChange]
    facts: ListDiff[Fact]
    sources: ListDiff[PageRef]
    conflicts: ListDiff[Conflict]

    @property
    def differing_facts(self) -> list[tuple[Fact, Fact]]:
        """The facts both have with a different status or text."""
        fields = ("decision", "disputed", "verified", "statement")
        return [
            (one, two)
            for one, two in self.facts.both
            if any(getattr(one, name) != getattr(two, name) for name in fields)
        ]

    def list_notes(self, view: RunSnapshot) -> list[str]:
        """A person's notes in one of the runs, after the shared steps."""
        notes = [note for step in view.steps[self.shared :] for note in step.change.get("notes") or []]
        return [note["text"] for note in notes if not is_withheld(note["text"])]


def compare_runs(bench: ActionContext, one: str, two: str) -> RunComparison:
    """The two runs side by side, for their owner. Raises NotFound."""
    first, second = bench.snapshot(one), bench.snapshot(two)
    shared = count_shared_steps(first.steps, second.steps)
    own = second if first.run.forked_from == second.run.id else first
    spent = measure_usage_up_to(bench, own, shared - 1) if shared else Usage()
    settings = [view.run.settings.model_dump(mode="json") for view in (first, second)]
    pages = [[page for page in view.state.pages.values() if page.page_id] for view in (first, second)]
    return RunComparison(
        one=first,
        two=second,
        shared=shared,
        settings=diff_mappings(settings[0], settings[1]),
        figures=_compare_figures(first, second, spent, shared),
        answer=diff_answers(first.state.answer or NO_ANSWER, second.state.answer or NO_ANSWER),
        facts=_match_rows(
            first.state.facts.values(),
            second.state.facts.values(),
            lambda fact: fact.id,
            lambda fact: (canonicalize(fact.url) or fact.url, " ".join(fact.quote.split())),
        ),
        sources=_match_rows(pages[0], pages[1], lambda page: canonicalize(page.url) or page.url),
        conflicts=_match_rows(
            active_conflicts(first.state),
            active_conflicts(second.state),
            lambda clash: clash.id,
            lambda clash: (clash.subject.casefold(), clash.attribute.casefold()),
        ),
    )


def count_shared_steps(one: Sequence[Step], two: Sequence[Step]) -> int:
    """How many first steps are the same, by what they did and when; 0 for two runs that started apart."""
    for n, (a, b) in enumerate(zip(one, two, strict=False)):
        if (a.name, a.at, a.change, a.next) != (b.name, b.at, b.change, b.next):
            return n
    return min(len(one), len(two))


def diff_mappings(
    one: Mapping[str, Any], two: Mapping[str, Any], within: str = ""
) -> dict[str, tuple[Any, Any]]:
    """The entries of two records of one kind that are not the same, those of a part under "part.name"."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, a in one.items():
        b = two[name]
        if isinstance(a, dict):
            found |= diff_mappings(a, b, f"{within}{name}.")
        elif a != b and name not in IGNORED_SETTINGS:
            found[within + name] = (a, b)
    return found


def _compare_figures(
    first: RunSnapshot, second: RunSnapshot, spent: Usage, shared: int
) -> list[ComparedFigure]:
    def measure(view: RunSnapshot) -> dict[str, float | None]:
        """The figures of one run."""
        state, usage = view.state, view.usage
        return {
            "confidence": state.answer.confidence if state.answer else state.shown_confidence,
            "steps": len(state.actions),
            "pages": state.pages_read_count,
            "facts": sum(fact.verified for fact in state.facts.values()),
            "conflicts": len(active_conflicts(state)),
            "calls": usage.llm_calls,
            "tokens": usage.prompt_tokens + usage.completion_tokens,
            "cost": usage.cost_usd if usage.llm_calls else 0.0,
            "seconds": usage.seconds,
        }

    common: dict[str, float | None] = {
        "steps": sum(action.step < shared for action in first.state.actions),
        "calls": spent.llm_calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens,
        "cost": spent.cost_usd,
        "seconds": spent.seconds,
    }
    one, two = measure(first), measure(second)
    return [ComparedFigure(name, one[name], two[name], common.get(name, 0.0)) for name in one]


def _match_rows(one: Iterable[T], two: Iterable[T], *keys: Callable[[T], Any]) -> ListDiff[T]:
    """Pair the rows of two lists, by the first key that finds a partner."""
    left, right = list(one), list(two)
    both: list[tuple[T, T]] = []
    for key in keys:
        known = {key(row): row for row in reversed(right)}
        pairs = [(row, known.pop(key(row))) for row in left if key(row) in known]
        both += pairs
        taken = {id(row) for pair in pairs for row in pair}
        left, right = ([row for row in rows if id(row) not in taken] for rows in (left, right))
    return ListDiff(left, right, both)
