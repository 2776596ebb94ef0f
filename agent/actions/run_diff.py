"""Two runs side by side: what differs in question and settings, answers, facts, sources, conflicts, and what
each took and cost.

    found = compare(bench, "1f…", "9c…")
    found.shared, found.answer, found.facts.one       # steps in common; the answers' difference; facts that only the first has

Nothing is judged: code counts and matches. A fact is the same when its quote stands in the same text, a page
by its address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from agent.actions.conflict_rulings import active_conflicts
from agent.actions.context import ActionContext
from agent.actions.forks import measure_usage_up_to
from agent.engine.snapshots import RunSnapshot
from agent.evidence import citation_check
from agent.text.urls import canonicalize
from agent.types import Answer, Conflict, Fact, Note, PageRef, Record, Sentence, Source, Step, Usage

IGNORED_SETTINGS = ("thread_id",)
"""Settings that say nothing of how a run works."""


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
    """What a person told it after the steps both share."""


class ComparedFigure(Record):
    """One figure of both runs, and what of each is of the steps they share. None: nobody knows (a price)."""

    name: Literal["confidence", "steps", "pages", "facts", "conflicts", "calls", "tokens", "cost", "seconds"]
    one: float | None
    two: float | None
    shared: float | None = 0.0


class ComparedSentence(Record):
    """One line of the two answers laid over each other, each sentence with the addresses it stands on."""

    kind: Literal["added", "removed", "reworded", "same", "resourced"]
    one: str = ""
    two: str = ""
    sources_one: list[str] = Field(default_factory=list)
    sources_two: list[str] = Field(default_factory=list)


class ListDiff(Record):
    """What only the first has, what only the second has, and what both have, as (of the first, of the
    second)."""

    one: list[Any] = Field(default_factory=list)
    two: list[Any] = Field(default_factory=list)
    both: list[tuple[Any, Any]] = Field(default_factory=list)


class RunComparison(Record):
    """Both sides; `shared` is how many steps they have in common (0: they began apart)."""

    one: ComparedRun
    two: ComparedRun
    shared: int
    settings: dict[str, tuple[Any, Any]]
    """The settings that differ, by name; those of a part as "site.max_pages"."""
    figures: list[ComparedFigure]
    answer: list[ComparedSentence]
    facts: ListDiff
    sources: ListDiff
    """The pages that were read (`PageRef`)."""
    cited: tuple[list[str], list[str]]
    """The addresses each answer stands on."""
    conflicts: ListDiff

    @property
    def differing_facts(self) -> list[tuple[Fact, Fact]]:
        """The facts both have, of which a person or the evidence thinks otherwise in one of them."""
        return [pair for pair in self.facts.both if _fact_status(pair[0]) != _fact_status(pair[1])]


def compare_runs(bench: ActionContext, one: str, two: str) -> RunComparison:
    """The two runs side by side. Raises NotFound."""
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
            first.run.settings.model_dump(mode="json"), second.run.settings.model_dump(mode="json")
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
            _conflict_key,
        ),
    )


def build_record(found: RunComparison) -> dict[str, Any]:
    """The comparison as one JSON object; facts and pages shortened to what tells them apart."""
    told = found.model_dump(mode="json", exclude={"facts", "sources", "conflicts"})
    kinds: tuple[tuple[str, ListDiff, set[str]], ...] = (
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
                [row.model_dump(mode="json", include=wanted) for row in pair]
                for pair in lists.both
                if name != "sources" and _is_different(*pair)
            ],
        }
    return told


def count_shared_steps(one: Sequence[Step], two: Sequence[Step]) -> int:
    """How many first steps are the very same: told by what they did and when. 0 for two runs of one question
    that began apart."""
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
        notes=[Note.model_validate(note).text for note in notes],
    )


def _compare_figures(
    first: RunSnapshot, second: RunSnapshot, spent: Usage, shared: int
) -> list[ComparedFigure]:
    common = sum(action.step < shared for action in first.state.actions)
    counted: tuple[tuple[Any, Callable[[RunSnapshot], float | None], float | None], ...] = (
        (
            "confidence",
            lambda view: view.state.answer.confidence if view.state.answer else view.state.current_confidence,
            0.0,
        ),
        ("steps", lambda view: len(view.state.actions), common),
        ("pages", lambda view: view.state.pages_read_count, 0.0),
        ("facts", lambda view: sum(fact.verified for fact in view.state.facts.values()), 0.0),
        ("conflicts", lambda view: len(active_conflicts(view.state)), 0.0),
        ("calls", lambda view: view.usage.llm_calls, spent.llm_calls),
        (
            "tokens",
            lambda view: view.usage.prompt_tokens + view.usage.completion_tokens,
            spent.prompt_tokens + spent.completion_tokens,
        ),
        ("cost", lambda view: view.usage.cost_usd if view.usage.llm_calls else 0.0, spent.cost_usd),
        ("seconds", lambda view: view.usage.seconds, spent.seconds),
    )
    return [
        ComparedFigure(name=name, one=figure(first), two=figure(second), shared=of_both)
        for name, figure, of_both in counted
    ]


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
    """Each of the first with its partner in the second: by the first key that finds one."""
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


def _conflict_key(clash: Conflict) -> tuple[str, str]:
    return clash.subject.casefold(), clash.attribute.casefold()


def _fact_status(fact: Fact) -> tuple[Any, ...]:
    return fact.decision, fact.disputed, fact.verified, fact.statement


def _is_different(one: Any, two: Any) -> bool:
    if isinstance(one, Fact):
        return _fact_status(one) != _fact_status(two)
    return (one.status, one.chosen) != (two.status, two.chosen)
