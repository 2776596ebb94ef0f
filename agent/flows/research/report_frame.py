"""What code adds to a full report: disagreement of sources, limits of the evidence, the method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.answering.draft import clean_label
from agent.answering.verdict import describe_failures
from agent.evidence.block_layout import list_gaps
from agent.evidence.report_words import words_for
from agent.flows.research.policy import has_unread_text
from agent.flows.research.state import ResearchRun
from agent.llm.recorded import NOTE, RECORDED
from agent.retrieval.shown_passages import add_spans
from agent.text.question_analysis import format_question
from agent.text.urls import remove_unknown_urls, site
from agent.types import ENGINE_BY_ACTION, Answer, AnswerBlock, Confidence, Outcome, describe_action

CONFLICT_BLOCK = "k2"
MAX_QUERIES, MAX_GAPS_NAMED = 12, 8
"""Queries of an engine, and empty cells of tables, that are named one by one."""


def clean_heading(text: str) -> str:
    """A heading of a model, or one that a person typed, without markup and addresses."""
    return clean_label(text, lambda words: remove_unknown_urls(words, ()))


def conflict_blocks(question: str) -> list[AnswerBlock]:
    """The section on contradictions; it falls when no sentence stands in it."""
    heading = AnswerBlock(id="k1", kind="heading", text=words_for(question)["conflicts"])
    return [heading, AnswerBlock(id=CONFLICT_BLOCK, kind="list")]


def build_frame(state: ResearchRun, answer: Answer, level: Confidence | None, now: str) -> list[AnswerBlock]:
    """The sections that code writes, each a heading and a list, in the question's language. `now` is the time
    on the clock that dates the pages, too (ISO 8601 in UTC)."""
    words = words_for(state.question)
    sections = {
        "limits": list(_list_limits(state, answer, level, words)),
        "method": list(_list_method(state, answer, now[:10], words)),
    }
    return [
        block
        for n, (name, lines) in enumerate(sections.items(), start=1)
        if lines
        for block in (
            AnswerBlock(id=f"m{n}", kind="heading", text=words[name], by_code=True),
            AnswerBlock(id=f"m{n}p", kind="list", by_code=True, lines=lines),
        )
    ]


def _list_limits(
    state: ResearchRun, answer: Answer, level: Confidence | None, words: Mapping[str, str]
) -> Iterator[str]:
    """A line for each limit: what was not found, read or supported, rests on one source, or is old."""
    questions = {part.id: format_question(part.question) for part in state.plan}
    blocks = {block.id: block for block in answer.blocks}
    gaps = [
        f"“{blocks[name].describe_cell(row, column)}”"
        for name, places in list_gaps(answer.sentences).items()
        for row, column in places
        if name in blocks
    ]
    if gaps:
        more = [f"+ {len(gaps) - MAX_GAPS_NAMED}"] if len(gaps) > MAX_GAPS_NAMED else []
        yield words["empty_cells"].format(cells="; ".join([*gaps[:MAX_GAPS_NAMED], *more]))
    parts = level.parts if level else []
    single = [part for part in parts if len(part.sources) == 1 and not part.disputed]
    if len(state.plan) == 1 and single:
        yield words["one_source"].format(site=single[0].sources[0])
    elif len(single) == len(state.plan):
        yield words["one_source_all"]
    elif single:
        named = "; ".join(f"“{questions.get(part.part, '')}”" for part in single)
        yield words["one_source_each"].format(parts=named)
    counts, pages = answer.statements, list(state.pages.values())
    if unsupported := counts.unsupported - counts.unchecked:
        yield words["count_unsupported"].format(n=unsupported)
    if counts.unchecked:
        yield words["count_unchecked"].format(n=counts.unchecked)
    if failed := [page for page in pages if page.outcome is not Outcome.OK]:
        yield words["count_unread"].format(n=len(failed), pages=describe_failures(failed))
    spans = {page.url: add_spans(page.shown, page.shown_before) for page in pages if page.shown}
    if partly := sum(has_unread_text(page.replace(shown=spans.get(page.url, []))) for page in pages):
        yield words["count_partly_read"].format(n=partly)
    dated = [
        next((state.facts[i].published_at[:10] for i in source.fact_ids if i in state.facts), "")
        for source in answer.sources
    ]
    days, undated = sorted(filter(None, dated)), sum(not day for day in dated)
    if days:
        span = " – ".join(dict.fromkeys((days[0], days[-1])))
        yield words["dates_undated" if undated else "dates"].format(span=span, n=undated)
    elif dated:
        yield words["no_dates"]
    if chosen := state.settings.source_descriptions:
        yield words["only_sources"].format(chosen="; ".join(chosen))
    if state.why_stopped and state.stop_reason in ("budget", "blocked", "asked"):
        yield words["ended_early"].format(why=state.why_stopped.rstrip("."))


def _list_method(state: ResearchRun, answer: Answer, today: str, words: Mapping[str, str]) -> Iterator[str]:
    """How it was found, from the actions of the run."""
    searched = [action for action in state.actions if action.action in ENGINE_BY_ACTION]
    read, tried = state.pages_read_count, len(state.pages)
    yield words["counts"].format(searches=len(searched), read=read, tried=tried, day=today)
    by_engine: dict[str, list[str]] = {}
    for action in searched:
        where = describe_action(action.action, state.settings.world).removeprefix("search ")
        name = where.removeprefix("with ").removeprefix("the ")
        by_engine.setdefault(name, []).append(f"“{action.query_or_url}”")
    for name, queries in by_engine.items():
        listed = ", ".join(queries[:MAX_QUERIES])
        if len(queries) > MAX_QUERIES:
            listed = words["more_queries"].format(queries=listed, n=len(queries) - MAX_QUERIES)
        yield words["searched_with"].format(engine=name, queries=listed)
    verified = [fact for fact in state.facts.values() if fact.verified]
    sites = {site(fact.url) for fact in verified if fact.url}
    if verified:
        cited = len(answer.sources)
        yield words["facts"].format(n=len(verified), sites=len(sites), cited=cited)
    judged = f"judged_by_{answer.judge}"
    yield " ".join(
        filter(None, (words["by_model" if answer.by == "model" else "by_quotes"], words.get(judged, "")))
    )
    if state.settings.model == RECORDED:
        yield NOTE
