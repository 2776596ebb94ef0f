"""Two runs side by side: what differs in question, settings, answers, facts, sources, conflicts and usage.

Code counts and matches alone: facts by their quote in the same page, pages by their address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from agent.actions.conflict_rulings import active_conflicts
from agent.actions.context import ActionContext
from agent.actions.forks import measure_usage_up_to
from agent.engine.snapshots import RunSnapshot
from agent.evidence import citation_check
from agent.export.hiding import is_withheld
from agent.text.urls import canonicalize
from agent.types import Answer, Fact, PageRef, Record, Sentence, Source, Step, Usage

IGNORED_SETTINGS = ("thread_id",)
"""Settings that do not change how a run works."""


class ComparedRun(Record):
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
    """A person's notes after the shared steps."""


class ComparedFigure(Record):
    """One figure of both runs, and the part of it in the shared steps. None: unknown (a price)."""

    name: Literal["confidence", "steps", "pages", "facts", "conflicts", "calls", "tokens", "cost", "seconds"]
    one: float | None
    two: float | None
    shared: float | None = 0.0


class ComparedSentence(Record):
    """One line of the diff of the answers, with the addresses each sentence cites."""

    kind: Literal["added", "removed", "reworded", "same", "resourced"]
    one: str = ""
    two: str = ""
    sources_one: list[str] = Field(default_factory=list)
    sources_two: list[str] = Field(default_factory=list)


class ListDiff(Record):
    """What only the first run has, what only the second has, and pairs of what both have."""

    one: list[Any] = Field(default_factory=list)
    two: list[Any] = Field(default_factory=list)
    both: list[tuple[Any, Any]] = Field(default_factory=list)


class RunComparison(Record):
    """Both runs; `shared` is the number of steps they have in common."""

    one: ComparedRun
    two: ComparedRun
    shared: int
    settings: dict[str, tuple[Any, Any]]
    """The settings that differ, by name; those of a part like "site.max_pages"."""
    figures: list[ComparedFigure]
    answer: list[ComparedSentence]
    facts: ListDiff
    sources: ListDiff
    """The pages that were read (`PageRef`)."""
    cited: tuple[list[str], list[str]]
    """The addresses each answer cites."""
    conflicts: ListDiff

    @property
    def differing_facts(self) -> list[tuple[Fact, Fact]]:
        """The facts both have with a different status or text."""
        return [pair for pair in self.facts.both if _fact_status(pair[0]) != _fact_status(pair[1])]


def compare_runs(bench: ActionContext, one: str, two: str) -> RunComparison:
    """The two runs side by side, for their owner. Raises NotFound."""
    first, second = bench.snapshot(one), bench.snapshot(two)
    shared = count_shared_steps(first.steps, second.steps)
    own = second if first.run.forked_from == second.run.id else first
    spent = measure_usage_up_to(bench, own, shared - 1) if shared else Usage()
    texts = _list_answer_sources(first.state.answer), _list_answer_sources(second.state.answer)
    return RunComparison(
        one=_describe_run(first, shared),
        two=_describe_run(second, shared),
        shared=shared,
        settings=diff_mappings(
            first.run.settings.model_dump(mode="json", exclude={"served_by"}),
            second.run.settings.model_dump(mode="json", exclude={"served_by"}),
        ),
        figures=_compare_figures(first, second, spent, shared),
        answer=_diff_answers(first.state.answer, second.state.answer),
        cited=texts,
        facts=_match_rows(
            first.state.facts.values(), second.state.facts.values(), lambda fact: fact.id, _fact_key
        ),
        sources=_match_rows(
            _list_read_pages(first), _list_read_pages(second), lambda page: canonicalize(page.url) or page.url
        ),
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
    """The entries of two records that are not the same, those of a part under "part.name"."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in [*one, *(name for name in two if name not in one)]:
        a, b = one.get(name), two.get(name)
        if a == b or name in IGNORED_SETTINGS:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            found |= diff_mappings(a, b, f"{within}{name}.")
        else:
            found[within + name] = (a, b)
    return found


def _describe_run(view: RunSnapshot, shared: int) -> ComparedRun:
    run, answer = view.run, view.state.answer
    notes = [note for step in view.steps[shared:] for note in step.change.get("notes") or []]
    return ComparedRun(
        run=run.id,
        question=run.question,
        status=run.status.value,
        flow=run.settings.flow,
        world=run.settings.world,
        verdict=answer.verdict if answer else "",
        answer=(answer.text or answer.certainty) if answer else "",
        created_at=run.created_at,
        forked_from=run.forked_from,
        forked_at=run.forked_at,
        notes=[note["text"] for note in notes if not is_withheld(note["text"])],
    )


def _compare_figures(
    first: RunSnapshot, second: RunSnapshot, spent: Usage, shared: int
) -> list[ComparedFigure]:
    one, two = _list_figures(first), _list_figures(second)
    common: dict[str, float | None] = {
        "steps": sum(action.step < shared for action in first.state.actions),
        "calls": spent.llm_calls,
        "tokens": spent.prompt_tokens + spent.completion_tokens,
        "cost": spent.cost_usd,
        "seconds": spent.seconds,
    }
    return [
        ComparedFigure(name=name, one=one[name], two=two[name], shared=common.get(name, 0.0))  # type: ignore[arg-type]
        for name in one
    ]


def _list_figures(view: RunSnapshot) -> dict[str, float | None]:
    state, usage = view.state, view.usage
    return {
        "confidence": state.answer.confidence if state.answer else state.current_confidence,
        "steps": len(state.actions),
        "pages": state.pages_read_count,
        "facts": sum(fact.verified for fact in state.facts.values()),
        "conflicts": len(active_conflicts(state)),
        "calls": usage.llm_calls,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "cost": usage.cost_usd if usage.llm_calls else 0.0,
        "seconds": usage.seconds,
    }


def _diff_answers(one: Answer | None, two: Answer | None) -> list[ComparedSentence]:
    empty = Answer(n=0, verdict="no_evidence")
    old, new = one or empty, two or empty
    return [
        ComparedSentence(
            kind=change.kind,
            one=change.old.text if change.old else "",
            two=change.new.text if change.new else "",
            sources_one=_list_sentence_sources(change.old, old),
            sources_two=_list_sentence_sources(change.new, new),
        )
        for change in citation_check.diff_answers(old, new)
    ]


def _list_sentence_sources(sentence: Sentence | None, answer: Answer) -> list[str]:
    wanted = set(sentence.fact_ids) if sentence else set()
    return [_name_source(source) for source in answer.sources if wanted.intersection(source.fact_ids)]


def _list_answer_sources(answer: Answer | None) -> list[str]:
    return [_name_source(source) for source in answer.sources] if answer else []


def _name_source(source: Source) -> str:
    return source.url or source.title


def _list_read_pages(view: RunSnapshot) -> list[PageRef]:
    return [page for page in view.state.pages.values() if page.page_id]


def _match_rows(one: Any, two: Any, *keys: Callable[[Any], Any]) -> ListDiff:
    """Pair the rows of two lists, by the first key that finds a partner."""
    left, right = list(one), list(two)
    both: list[tuple[Any, Any]] = []
    for key in keys:
        known = {key(row): row for row in reversed(right)}
        pairs = [(row, known.pop(key(row))) for row in left if key(row) in known]
        both += pairs
        taken = {id(row) for pair in pairs for row in pair}
        left, right = ([row for row in rows if id(row) not in taken] for rows in (left, right))
    return ListDiff(one=left, two=right, both=both)


def _fact_key(fact: Fact) -> tuple[str, str]:
    return canonicalize(fact.url) or fact.url, " ".join(fact.quote.split())


def _fact_status(fact: Fact) -> tuple[Any, ...]:
    return fact.decision, fact.disputed, fact.verified, fact.statement
