"""The report of a run as a list of blocks, which `markdown` renders as the file with the evidence.

Everything it shows is decided here, once; the renderers know blocks and spans, not runs. The answer alone, to
be read, is in `paper`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.evidence.confidence import describe_parts, list_changes
from agent.evidence.report_words import words_for
from agent.export.answer_blocks import (
    WRITER_LABELS,
    write_bands,
    write_checked_text,
    write_checks,
    write_figures,
    write_text,
)
from agent.export.blocks import Block, Bullets, Cell, Heading, Inline, Paragraph, Quote, Span, Table
from agent.export.references import make_reference
from agent.export.report import Report
from agent.llm.recorded import LABEL, RECORDED
from agent.text.plurals import format_count, format_percent
from agent.text.question_analysis import format_question
from agent.types import (
    PAGE_ORIGIN_LABELS,
    Conflict,
    Outcome,
    Source,
    describe_action,
)
from agent.types.facts import FLAG_NOTE, describe_place, number_step

UNASKED = "question (no person was asked)"
STALL_LABELS = {
    "reframe": "new search terms",
    "narrow": "a narrower question",
    "lead": "the next open lead",
    "hand_over": "a question to the person",
}
SETTING_LABELS = {
    "at_cap": "when a limit is reached",
    "until": "automatic run stops at",
    "llm_calls": "model calls",
    "max_calls": "max. model calls",
    "max_cost_usd": "max. cost in US dollars",
    "cost_usd": "cost in US dollars",
    "seconds": "working seconds",
}
VALUE_LABELS = {"ask": "pause and ask", "report": "write the report", RECORDED: LABEL, **WRITER_LABELS}
CONTEXT_CHARS = 160
"""Characters of the page shown before and after a quote, where a format shows context."""


def build_document(report: Report) -> list[Block]:
    """The report: question, answer, conflicts, sources, facts, edits, journey, confidence, unavailable
    sources, earlier answers, settings."""
    run, answer, is_check = report.run, report.answer, report.checked is not None
    words = words_for(run.question)
    title, question = answer.title if answer else "", run.question or "Untitled question"
    about: list[Span | str] = ["Run ", Span(run.id, "code")]
    about.append(f" · status: {'accepted' if run.is_accepted else run.status}")
    times = (("started", run.created_at), ("last changed", run.updated_at))
    about += [f" · {name} {at}" for name, at in times if at]
    if run.forked_from:
        where = describe_place(report.actions, run.forked_at)
        about += [" · forked from run ", Span(run.forked_from, "code"), f" {where}"]
    blocks: list[Block] = [Heading(1, title or format_question(question))]
    blocks += [Paragraph([Span("Question:", "strong"), f" {question}"])] if title else []
    blocks.append(Paragraph(about, "soft"))
    blocks += write_bands(report.run.settings)
    if run.imported:
        note = f"Imported from another workbench's bundle (SHA-256 {run.imported})."
        blocks.append(Paragraph([note], "band"))
    if chosen := report.run.settings.source_descriptions:
        blocks.append(Paragraph([f"Sources: {'; '.join(chosen)}."], "soft"))
    if report.checked:
        blocks += write_checked_text(report.checked, answer.sources if answer else ())
    told: list[Block] = [Paragraph(["There is no answer yet."])]
    if answer:
        told = [
            write_figures(answer, report.run.settings),
            *write_text(answer, level=3, words=words),
            *write_checks(answer),
        ]
    earlier = [
        block
        for former in report.former_answers
        for block in (
            Heading(3, f"Answer {former.n}"),
            write_figures(former, report.run.settings),
            *write_text(former, level=4, words=words, style="ref"),  # the sources listed are the newest's
            *write_checks(former, style="ref"),
        )
    ]
    sources = answer.sources if answer else ()
    sections: tuple[tuple[str, Iterable[Block]], ...] = (
        ("Answer", [] if is_check else told),
        ("Conflicts", _list_conflicts(report.conflicts)),
        ("Sources", [block for source in sources for block in write_source(source, report)]),
        ("Facts", [] if is_check else _facts(report)),
        ("What a person changed", _edits(report)),
        ("Journey", _journey(report)),
        ("Confidence", _confidence(report)),
        ("Unavailable sources", _unavailable(report)),
        ("Earlier answers", [] if is_check else earlier),
        ("Settings and use", _settings(report)),
    )
    for heading, found in sections:
        if body := list(found):
            blocks += [Heading(2, heading), *body]
    return blocks


def _list_conflicts(conflicts: Iterable[Conflict]) -> list[Block]:
    items = list[tuple[Inline, Sequence[str]]]()
    for one in conflicts:
        topic = ", ".join(part for part in (one.subject, one.attribute) if part) or "the same statement"
        sides = [
            f"“{side.text}”: "
            + (
                f"{format_count(len(side.sites), 'independent source')} ({', '.join(side.sites)})"
                if side.sites
                else "no source"
            )
            for side in one.values
        ]
        items.append(([Span(topic, "strong"), f" ({one.kind}): {one.status_text}"], sides))
    return [Bullets(items)] if items else []


def write_source(source: Source, report: Report, *, is_audit: bool = True) -> list[Block]:
    """A source with its quotes; for an audit with the time and the hash of its text."""
    origin = PAGE_ORIGIN_LABELS[source.given]
    kept = [
        f"{origin[:1].upper()}{origin[1:]}, who says it is this page's; not fetched" if origin else "",
        f"Retrieved {source.fetched_at}" if source.fetched_at else "",
        f"SHA-256 {source.sha256}" if source.sha256 and is_audit else "",
    ]
    note = " · ".join(part for part in kept if part)
    reference = make_reference(source, report, set())
    work = ". ".join(filter(None, ("; ".join(reference.authors).rstrip("."), reference.place)))
    return [
        Heading(3, source.title or source.url or "Untitled", source.n),
        *([Paragraph([f"{work}."])] if work else []),
        Paragraph([Span(source.url, url=source.url)]),
        *quotes_in_context(source, report),
        *([Paragraph([note], "soft")] if note else []),
    ]


def quotes_in_context(source: Source, report: Report) -> list[Quote]:
    """The source's quotes, each with the words around it where its page is in `report.stored_pages`."""
    facts = {fact.id: fact for fact in report.facts}
    found = []
    for n, quote in enumerate(source.quotes):
        fact = facts.get(source.fact_ids[n]) if n < len(source.fact_ids) else None
        page = report.stored_pages.get(fact.page_id) if fact else None
        if fact and page and fact.verified and fact.read_quote(page.text) == quote:
            before = page.text[max(0, fact.start - CONTEXT_CHARS) : fact.start]
            after = page.text[fact.end : fact.end + CONTEXT_CHARS]
            before = f"… {before.partition(' ')[2]}" if fact.start > CONTEXT_CHARS else before
            after = f"{after.rpartition(' ')[0]} …" if fact.end + CONTEXT_CHARS < len(page.text) else after
            found.append(Quote(quote, before, after))
        else:
            found.append(Quote(quote))
    return found


def _facts(report: Report) -> list[Block]:
    """A row a fact, its state in words ("verified, disputed, pinned")."""
    rows = list[list[Cell]]()
    for fact in report.facts:
        struck_with = f" with {fact.struck_with}" if fact.struck_with else ""
        marks = [
            "verified" if fact.verified else "not verified",
            "disputed" if fact.disputed else "",
            FLAG_NOTE if fact.flagged else "",
            f"written as “{fact.refused_statement}”, refused" if fact.refused_statement else "",
            "" if fact.decision == "none" else f"{fact.decision}{struck_with}",
            PAGE_ORIGIN_LABELS[fact.given],
            "" if fact.origin == "page" else f"from: {fact.origin}".replace("_", " "),
        ]
        quote = "the same words" if fact.quote == fact.statement else f"“{fact.quote}”"
        link = Span(fact.title or fact.url, url=fact.url)
        rows.append([fact.statement, quote, link, ", ".join(filter(None, marks))])
    return [Table(["Statement", "Quote", "Page", "Marks"], rows)] if rows else []


def _edits(report: Report) -> list[Block]:
    """What a person changed: the edits in their order, then the facts that are not as they were found."""
    rows = list[list[Cell]]()
    for fact in report.facts:
        own = "own knowledge, on no page" if fact.is_own_knowledge else ""
        decided = "" if own and fact.decision == "pinned" else fact.decision.replace("none", "")
        added = own or ("added by a person" if fact.by == "person" else "")
        done = ", ".join(filter(None, (added, "corrected" if fact.former else "", decided)))
        done += f" with {fact.struck_with}" if fact.struck_with else ""
        if done:
            rows.append([done, fact.statement, fact.former, Span(fact.title or fact.url, url=fact.url)])
    edits = Bullets.of([f"{_place(report, edit.step)}: {edit.text}"] for edit in report.edits)
    return [*edits, *([Table(["Fact", "Statement", "Before the correction", "Page"], rows)] if rows else [])]


def _journey(report: Report) -> list[Block]:
    blocks: list[Block] = (
        [Paragraph([report.answer.journey])] if report.answer and report.answer.journey else []
    )
    rows: list[list[Cell]] = [
        [
            str(number_step(report.actions, one.step)),
            UNASKED if one.action == "ask" else describe_action(one.action, report.run.settings.world),
            Span(one.query_or_url, url=one.query_or_url)
            if one.action in ("crawl_url", "more")
            else one.query_or_url,
            f"{one.outcome.replace('_', ' ')}{': ' + one.detail if one.detail else ''}",
            str(one.new_facts),
            one.reasoning,
        ]
        for one in report.actions
    ]
    heads = ["Step", "Action", "Query or address", "Outcome", "New facts", "Why"]
    blocks += [Table(heads, rows)] if rows else []
    notes = [f"{_place(report, n.step)}, note ({n.kind.replace('_', ' ')}): {n.text}" for n in report.notes]
    stalls = [
        f"{_place(report, s.step)}, no progress: {s.reason} Next: {STALL_LABELS[s.rung]}."
        for s in report.blockages
    ]
    return [*blocks, *Bullets.of([line] for line in notes + stalls)]


def _place(report: Report, n: int) -> str:
    """Where the ledger's step `n` stands in the journey, as the beginning of a line."""
    return describe_place(report.actions, n).capitalize()


def _confidence(report: Report) -> list[Block]:
    if not report.confidence:
        return []
    rows = [
        [
            _place(report, level.step),
            format_percent(level.value),
            "" if level.model is None else format_percent(level.model),
            "; ".join(list_changes(level)) or "no change",
        ]
        for level in report.confidence
    ]
    threshold = report.run.settings.threshold
    last = report.confidence[-1]
    parts = describe_parts(last, report.plan)
    made = "; ".join(f"{name} {figure} ({text})" for name, figure, text in parts)
    made_of = f"The last value, {format_percent(last.value)}, is made of: {made}. " if made else ""
    return [
        Table(["When", "Confidence", "Model's own", "Why it changed"], rows),
        Paragraph([f"{made_of}The threshold is {format_percent(threshold)}."]),
    ]


def _unavailable(report: Report) -> list[Block]:
    rows: list[list[Cell]] = [
        [Span(page.url, url=page.url), page.outcome.replace("_", " "), page.detail]
        for page in report.pages
        if page.outcome != Outcome.OK
    ]
    refused = Bullets.of([f"Not followed: {refusal.what} ({refusal.why})"] for refusal in report.refusals)
    return [*([Table(["Address", "Outcome", "Detail"], rows)] if rows else []), *refused]


def _settings(report: Report) -> list[Block]:
    """The settings of every flow, those of the run's flow, then what the run used."""
    chosen = report.run.settings.model_dump(mode="json", exclude={"served_by"})
    own = chosen.get(report.run.settings.flow)
    values = {name: value for name, value in chosen.items() if not isinstance(value, dict)}
    values |= own if isinstance(own, dict) else {}
    values |= report.usage.model_dump(mode="json")
    rows = [
        [SETTING_LABELS.get(name, name.replace("_", " ")), _format_value(name, values[name])]
        for name in values
    ]
    return [Table(["Setting or figure", "Value"], rows)]


def _format_value(name: str, value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    if isinstance(value, float):
        return format_percent(value) if name in ("threshold", "min_confidence") else f"{value:g}"
    return VALUE_LABELS.get(str(value), str(value))
