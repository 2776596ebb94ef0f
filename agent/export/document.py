"""The report of a run as a list of blocks: the answer as a paper to hand in, and the whole with its evidence.

Everything that is shown is decided here, once; the renderers know blocks and spans, not runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from agent.evidence.confidence import describe_parts, list_changes
from agent.evidence.report_words import words_for
from agent.evidence.support import describe_mark
from agent.export.answer_blocks import (
    WRITER_LABELS,
    write_answer,
    write_bands,
    write_checked_text,
    write_label,
    write_text,
)
from agent.export.blocks import Block, Bullets, Cell, Heading, Inline, Paragraph, Span, Table
from agent.export.escaping import clean_url
from agent.export.references import Reference, collect_references, format_iso_date, make_reference
from agent.export.report import Report
from agent.llm.recorded import LABEL, RECORDED
from agent.text.plurals import format_count, format_percent
from agent.text.question_analysis import format_question
from agent.text.sentences import format_sentence
from agent.types import PAGE_ORIGIN_LABELS, Conflict, Fact, Outcome, Source, describe_action
from agent.types.facts import FLAG_NOTE, describe_place

UNTITLED = "Untitled question"
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


def build_paper(report: Report, *, linked: bool = True) -> list[Block]:
    """The answer to be read: what it says, what is open and assumed, how certain it is and why, and its
    sources with their quotes, to which citations are links where `linked`. Sentences that are not supported,
    not checked, disputed, or in part absent from their sources are marked."""
    answer, words = report.answer, words_for(report.run.question or UNTITLED)
    blocks = _write_head(report, words["question"])
    if report.checked:
        shown = write_checked_text(report.checked, answer.sources if answer else (), linked=False)
        return [*blocks, *shown, *_list_references(report, words)]
    if answer is None:
        return [*blocks, Paragraph(["There is no answer yet."])]
    if not answer.sentences:
        said = (Paragraph([text]) for text in (answer.certainty, answer.missing) if text)
        return [*blocks, *said, *_list_gathered(report, words)]
    mark = partial(describe_mark, words=words)
    blocks += write_text(answer, level=2, words=words, style="cite" if linked else "ref", mark=mark)
    certainty = answer.certainty.replace(f" ({format_percent(answer.confidence or 0.0)})", "")
    told = {"not_answered": answer.missing, "assumed": answer.assumed, "note": answer.remark}
    if certainty not in answer.why_stopped:
        name = "certainty" if answer.confidence is not None else "note"
        told[name] = " ".join(filter(None, (told.get(name), certainty)))
    blocks += [write_label(words[name], format_sentence(text)) for name, text in told.items() if text]
    return [*blocks, *_list_references(report, words), *_list_gathered(report, words)]


def build_document(report: Report) -> list[Block]:
    """The report to be checked: question, answer, conflicts, sources, facts, edits, journey, confidence,
    unavailable sources, earlier answers, settings."""
    run, answer, checked = report.run, report.answer, report.checked
    words, sources = words_for(run.question), answer.sources if answer else ()
    about: list[Span | str] = ["Run ", Span(run.id, "code")]
    about.append(f" · status: {'accepted' if run.is_accepted else run.status}")
    times = (("started", run.created_at), ("last changed", run.updated_at))
    about += [f" · {name} {at}" for name, at in times if at]
    if run.forked_from:
        where = describe_place(report.actions, run.forked_at)
        about += [" · forked from run ", Span(run.forked_from, "code"), f" {where}"]
    blocks = _write_head(report, "Question", Paragraph(about, "soft"))
    if run.imported:
        note = f"Imported from another workbench's bundle (SHA-256 {run.imported})."
        blocks.append(Paragraph([note], "band"))
    if chosen := run.settings.source_descriptions:
        blocks.append(Paragraph([f"Sources: {'; '.join(chosen)}."], "soft"))
    blocks += write_checked_text(checked, sources) if checked else []
    told, earlier = list[Block](), list[Block]()
    if not checked:
        told = [Paragraph(["There is no answer yet."])]
        told = write_answer(answer, run.settings, level=3, words=words) if answer else told
        for former in report.former_answers:  # the sources listed are the newest's
            earlier.append(Heading(3, f"Answer {former.n}"))
            earlier += write_answer(former, run.settings, level=4, words=words, style="ref")
    sections: tuple[tuple[str, Iterable[Block]], ...] = (
        ("Answer", told),
        ("Conflicts", _list_conflicts(report.conflicts)),
        ("Sources", [block for source in sources for block in write_source(source, report)]),
        ("Facts", [] if checked else _facts(report)),
        ("What a person changed", _edits(report)),
        ("Journey", _journey(report)),
        ("Confidence", _confidence(report)),
        ("Unavailable sources", _unavailable(report)),
        ("Earlier answers", earlier),
        ("Settings and use", _settings(report)),
    )
    for heading, found in sections:
        if body := list(found):
            blocks += [Heading(2, heading), *body]
    return blocks


def _write_head(report: Report, name: str, *about: Block) -> list[Block]:
    """Title, question under its `name` where the title is another, what it is about, and warnings."""
    question, title = report.run.question or UNTITLED, report.answer.title if report.answer else ""
    asked = [write_label(name, question)] if title else []
    bands = write_bands(report.run.settings)
    return [Heading(1, title or format_question(question)), *asked, *about, *bands]


def list_paper_sources(report: Report) -> list[Source]:
    """The sources that the paper lists: those that are cited; of a checked text all that were read."""
    if (answer := report.answer) is None:
        return []
    cited = {n for said in answer.main_sentences for n in answer.citation_numbers(said)}
    return [source for source in answer.sources if report.checked or source.n in cited]


def _list_references(report: Report, words: Mapping[str, str]) -> list[Block]:
    """The sources by their numbers; those of an answer with the quotes they are cited for."""
    used, items, numbers = set[str](), list[tuple[Inline, Sequence[str]]](), list[int]()
    for source in list_paper_sources(report):
        reference = make_reference(source, report, used)
        quotes = [f"“{quote.replace(' | ', ' · ')}”" for quote in reference.quotes if not report.checked]
        items.append((_write_reference(reference, words["accessed"]), quotes))
        numbers.append(source.n)
    title = words["sources_read" if report.checked else "references"]
    return [Heading(2, title), Bullets(items, numbers)] if items else []


def _list_gathered(report: Report, words: Mapping[str, str]) -> list[Block]:
    """The addresses that a run collected, but for those its answer refers to."""
    cited = {clean_url(source.url) for source in list_paper_sources(report)}
    found = collect_references(report, report.gathered) if report.gathered else []
    items = [one for one in found if one.url not in cited]
    listed = Bullets.of(_write_reference(one, words["accessed"]) for one in items)
    return [Heading(2, words["sources_read"]), *listed] if items else []


def _write_reference(reference: Reference, accessed: str) -> Inline:
    """Author, title, site, date, address and the day it was read, behind the word `accessed`."""
    names, day = "; ".join(reference.authors).rstrip("."), format_iso_date(reference.accessed)
    title, note = reference.title.rstrip("."), f"({reference.origin_note})" * bool(reference.origin_note)
    where, end = " ".join(filter(None, (reference.place, note))), "" if title.endswith(("?", "!")) else "."
    spans: list[Span | str] = [f"{names}. "] if names else []
    spans += [Span(title, "emphasis"), f"{end} {where}." if where else end]
    spans += [" ", Span(reference.url, url=reference.url)] if reference.url else []
    return [*spans, f" {accessed} {day}."] if day else spans


def _list_conflicts(conflicts: Iterable[Conflict]) -> list[Block]:
    items = list[tuple[Inline, Sequence[str]]]()
    for one in conflicts:
        topic = ", ".join(part for part in (one.subject, one.attribute) if part) or "the same statement"
        sides = []
        for side in one.values:
            sites = f"{format_count(len(side.sites), 'independent source')} ({', '.join(side.sites)})"
            sides.append(f"“{side.text}”: {sites if side.sites else 'no source'}")
        items.append(([Span(topic, "strong"), f" ({one.kind}): {one.status_text}"], sides))
    return [Bullets(items)] if items else []


def write_source(source: Source, report: Report) -> list[Block]:
    """A source with its quotes, and the time and the hash of its text."""
    origin = PAGE_ORIGIN_LABELS[source.given]
    kept = [
        f"{origin[:1].upper()}{origin[1:]}, who says it is this page's; not fetched" if origin else "",
        f"Retrieved {source.fetched_at}" if source.fetched_at else "",
        f"SHA-256 {source.sha256}" if source.sha256 else "",
    ]
    note = " · ".join(part for part in kept if part)
    reference = make_reference(source, report, set())
    work = ". ".join(filter(None, ("; ".join(reference.authors).rstrip("."), reference.place)))
    return [
        Heading(3, reference.title, source.n),
        *([Paragraph([f"{work}."])] if work else []),
        Paragraph([Span(source.url, url=source.url)]),
        *(Paragraph([quote], "quote") for quote in source.page_quotes),
        *([Paragraph([note], "soft")] if note else []),
    ]


def _facts(report: Report) -> list[Block]:
    """A row a fact, its state in words ("verified, disputed, pinned")."""
    rows = list[list[Cell]]()
    for fact in report.facts:
        marks = [
            "verified" if fact.verified else "not verified",
            "disputed" if fact.disputed else "",
            FLAG_NOTE if fact.flagged else "",
            f"written as “{fact.refused_statement}”, refused" if fact.refused_statement else "",
            _describe_decision(fact),
            PAGE_ORIGIN_LABELS[fact.given],
            "" if fact.origin == "page" else f"from: {fact.origin}".replace("_", " "),
        ]
        quote = "the same words" if fact.quote == fact.statement else f"“{fact.quote}”"
        page = Span(fact.title or fact.url, url=fact.url)
        rows.append([fact.statement, quote, page, ", ".join(filter(None, marks))])
    return _table("Statement Quote Page Marks".split(), rows)


def _edits(report: Report) -> list[Block]:
    """What a person changed: the edits in their order, then the facts that are not as they were found."""
    rows = list[list[Cell]]()
    for fact in report.facts:
        own = "own knowledge, on no page" if fact.is_own_knowledge else ""
        added = own or ("added by a person" if fact.by == "person" else "")
        decided = "" if own and fact.decision == "pinned" else _describe_decision(fact)
        if done := ", ".join(filter(None, (added, "corrected" if fact.former else "", decided))):
            page = Span(fact.title or fact.url, url=fact.url)
            rows.append([done, fact.statement, fact.former, page])
    programs = {
        step.n: f", by program {name}" for step in report.steps if (name := step.change.get("program"))
    }
    edits = Bullets.of(
        [f"{_place(report, edit.step)}{programs.get(edit.step, '')}: {edit.text}"] for edit in report.edits
    )
    return [*edits, *_table(["Fact", "Statement", "Before the correction", "Page"], rows)]


def _describe_decision(fact: Fact) -> str:
    struck_with = f" with {fact.struck_with}" if fact.struck_with else ""
    return "" if fact.decision == "none" else f"{fact.decision}{struck_with}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[Block]:
    """The table; none without rows."""
    return [Table(heads, rows)] if rows else []


def _journey(report: Report) -> list[Block]:
    told = report.answer.journey if report.answer else ""
    rows: list[list[Cell]] = [
        [
            str(n),
            "question (no person was asked)"
            if one.action == "ask"
            else describe_action(one.action, report.run.settings.world),
            Span(one.query_or_url, url=one.query_or_url)
            if one.action in ("crawl_url", "more")
            else one.query_or_url,
            f"{one.outcome.replace('_', ' ')}{': ' + one.detail if one.detail else ''}",
            str(one.new_facts),
            one.reasoning,
        ]
        for n, one in enumerate(report.actions, start=1)
    ]
    heads = ["Step", "Action", "Query or address", "Outcome", "New facts", "Why"]
    blocks = [*([Paragraph([told])] if told else []), *_table(heads, rows)]
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
    last = report.confidence[-1]
    parts = describe_parts(last, report.plan)
    made = "; ".join(f"{name} {figure} ({text})" for name, figure, text in parts)
    made_of = f"The last value, {format_percent(last.value)}, is made of: {made}. " if made else ""
    threshold = format_percent(report.run.settings.threshold)
    heads = ["When", "Confidence", "Model's own", "Why it changed"]
    return [Table(heads, rows), Paragraph([f"{made_of}The threshold is {threshold}."])]


def _unavailable(report: Report) -> list[Block]:
    rows: list[list[Cell]] = [
        [Span(page.url, url=page.url), page.outcome.replace("_", " "), page.detail]
        for page in report.pages
        if page.outcome != Outcome.OK
    ]
    refused = Bullets.of([f"Not followed: {refusal.what} ({refusal.why})"] for refusal in report.refusals)
    return [*_table(["Address", "Outcome", "Detail"], rows), *refused]


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
