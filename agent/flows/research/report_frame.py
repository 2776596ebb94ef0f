"""What code adds to a full report: where sources disagree, the limits of the evidence, and the method, told
from the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agent.flows.research.state import ResearchRun
from agent.flows.shared.report_blocks import clean_label
from agent.flows.shared.verdict import describe_failures
from agent.text.plurals import format_count
from agent.text.urls import remove_unknown_urls, site
from agent.types import ENGINE_BY_ACTION, Answer, AnswerBlock, Confidence, Outcome, PageRef, describe_action

CONFLICT_BLOCK = "k2"
CONFLICT_HEADING, LIMITS_HEADING, METHOD_HEADING = (
    "Where sources disagree",
    "Limits of the evidence",
    "Method",
)
MAX_QUERIES = 12
MOST_OF_A_PAGE = 0.9
"""Share of a page's text from which on it counts as read: what is left are blanks between passages."""


def clean_heading(text: str) -> str:
    """A heading of a model, or one that a person typed, without markup and addresses."""
    return clean_label(text, lambda words: remove_unknown_urls(words, ()))


def conflict_blocks() -> list[AnswerBlock]:
    """The section on contradictions; it falls when no sentence stands in it."""
    heading = AnswerBlock(id="k1", kind="heading", text=CONFLICT_HEADING)
    return [heading, AnswerBlock(id=CONFLICT_BLOCK, kind="list")]


def build_frame(state: ResearchRun, answer: Answer, level: Confidence, today: str) -> list[AnswerBlock]:
    """The sections that code writes, each a heading and a list."""
    sections = {
        LIMITS_HEADING: list(_list_limits(state, answer, level)),
        METHOD_HEADING: list(_list_method(state, answer, today)),
    }
    return [
        block
        for n, (heading, lines) in enumerate(sections.items(), start=1)
        if lines
        for block in (
            AnswerBlock(id=f"m{n}", kind="heading", text=heading, by_code=True),
            AnswerBlock(id=f"m{n}p", kind="list", by_code=True, lines=lines),
        )
    ]


def _list_limits(state: ResearchRun, answer: Answer, level: Confidence) -> Iterator[str]:
    """A line for each limit: what was not read, what rests on one source, how old the sources are, and what
    the quotes do not support."""
    questions = {part.id: part.question for part in state.plan}
    single = [part for part in level.parts if len(part.sources) == 1 and not part.disputed]
    if len(state.plan) == 1 and single:
        yield "The answer rests on one independent source."
    elif single:
        named = "; ".join(f"“{questions.get(part.part, '')}”" for part in single)
        yield f"Resting on one independent source each: {named}."
    if unsupported := answer.statements.unsupported - answer.statements.unchecked:
        count = format_count(unsupported, "statement is", "statements are")
        yield f"{count} not supported by the quotes, and marked."
    if answer.statements.unchecked:
        count = format_count(answer.statements.unchecked, "statement was", "statements were")
        yield f"{count} compared with the quotes by rules alone; no model judged the meaning."
    pages = list(state.pages.values())
    if failed := [page for page in pages if page.outcome is not Outcome.OK]:
        yield f"{format_count(len(failed), 'page')} could not be read: {describe_failures(failed)}"
    if partly := sum(map(_is_partly_read, pages)):
        count = format_count(partly, "long page was", "long pages were")
        yield f"{count} read in part: the passages that fit the question."
    if dates := _describe_dates(state, answer):
        yield dates
    if chosen := state.settings.source_descriptions:
        yield f"Only sources that are: {'; '.join(chosen)}."
    if state.why_stopped and state.stop_reason in ("budget", "blocked", "asked"):
        yield f"The research ended early: {state.why_stopped.rstrip('.')}."


def _is_partly_read(page: PageRef) -> bool:
    shown = sum(end - start for start, end in page.shown)
    return bool(page.shown) and shown < MOST_OF_A_PAGE * page.length


def _describe_dates(state: ResearchRun, answer: Answer) -> str:
    """From when the cited sources are, and how many give no date."""
    dated = {
        source.n: next((state.facts[i].published_at[:10] for i in source.fact_ids if i in state.facts), "")
        for source in answer.sources
    }
    days, undated = sorted(filter(None, dated.values())), sum(not day for day in dated.values())
    if not days:
        return "None of the cited sources gives a date." if dated else ""
    span = f"from {days[0]}" if days[0] == days[-1] else f"from {days[0]} to {days[-1]}"
    more = f"; {undated} without a date" if undated else ""
    return f"The cited sources are {span}{more}."


def _list_method(state: ResearchRun, answer: Answer, today: str) -> Iterator[str]:
    """How it was found, from the actions of the run."""
    tried, read = len(state.pages), state.pages_read_count
    pages = format_count(read, "page") + (f" of {tried}" if tried > read else "")
    searched = [action for action in state.actions if action.action in ENGINE_BY_ACTION]
    yield f"{format_count(len(searched), 'search', 'searches')}, {pages} read; finished on {today}."
    by_engine: dict[str, list[str]] = {}
    for action in searched:
        where = describe_action(action.action, state.settings.world).removeprefix("search ")
        by_engine.setdefault(where, []).append(f"“{action.query_or_url}”")
    for where, queries in by_engine.items():
        more = f" and {len(queries) - MAX_QUERIES} more" if len(queries) > MAX_QUERIES else ""
        yield f"Searched {where}: {', '.join(queries[:MAX_QUERIES])}{more}."
    verified = [fact for fact in state.facts.values() if fact.verified]
    sites = Counter(site(fact.url) for fact in verified if fact.url)
    if verified:
        found = format_count(len(verified), "fact with a verbatim quote", "facts with verbatim quotes")
        cited = format_count(len(answer.sources), "source is", "sources are")
        yield f"{found} from {format_count(len(sites), 'site')}; {cited} cited."
    writer = "A model wrote the text from these facts" if answer.by == "model" else "The text is quoted"
    yield f"{writer}; each sentence and table cell was compared with the quotes it cites."


def list_headings(blocks: Sequence[AnswerBlock]) -> list[str]:
    """The headings of an answer that a writer chose."""
    return [block.text for block in blocks if block.kind == "heading" and not block.by_code]
