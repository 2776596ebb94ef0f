"""A run as one Markdown document that opens right in GitHub and Obsidian. Everything a page or model wrote is
escaped.

Citations link to headings named "source-1" and so on, which both find. Nothing in the document loads anything
from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.export.escaping import (
    clean_url,
    escape_inline,
    escape_table_cell,
    render_blockquote,
    render_code,
    render_link,
)
from agent.export.report import Report, citation_numbers
from agent.types import (
    PAGE_ORIGIN_LABELS,
    Action,
    Answer,
    Confidence,
    Conflict,
    PageRef,
    Source,
    StatementCounts,
)

ACTION_LABELS = {
    "search_duckduckgo": "search (DuckDuckGo)",
    "search_google": "search (Google)",
    "crawl_url": "read page",
}

DEMO_WORLD_NOTE = "This run read the demo world: its sites and all that they say are invented."


def render_markdown(report: Report) -> str:
    """The document: question, answer, conflicts, journey, sources, what could not be read, former answers,
    settings."""
    answer = report.answer
    parts = [
        f"# {escape_inline(report.run.question) or 'Untitled question'}",
        _head(report),
        "## Answer",
        *(_answer(answer, report) if answer else ["There is no answer yet."]),
        *_section("Conflicts", [_conflict(conflict) for conflict in report.conflicts]),
        *_section("What a person changed", _edits(report)),
        *_section("Journey", _journey(report)),
        *_section("Confidence", _confidence_table(report.confidence)),
        *_section("Sources", [_source(source) for source in answer.sources] if answer else []),
        *_section("Could not read", _unread_pages(report)),
        *_section(
            "Former answers",
            [block for former in report.former_answers for block in _former_answer(former, report)],
        ),
        *_section("Settings of the run", [_settings(report)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def describe_backing(statements: StatementCounts) -> str:
    """The backing line, e.g. "9 of 10 statements backed by a stored page"."""
    total = statements.backed + statements.unsupported
    dropped = (
        f"; {statements.dropped} citations that resolve to nothing usable were dropped"
        if statements.dropped
        else ""
    )
    return f"{statements.backed} of {total} statements backed by a stored page{dropped}"


def _section(title: str, blocks: Iterable[str]) -> list[str]:
    blocks = [block for block in blocks if block]
    return [f"## {title}", *blocks] if blocks else []


def _head(report: Report) -> str:
    run = report.run
    told = [f"Run {render_code(run.id)}", f"status: {escape_inline(run.status)}"]
    told += [
        f"{name} {escape_inline(at)}"
        for name, at in (("started", run.created_at), ("last changed", run.updated_at))
        if at
    ]
    told += (
        [f"forked from run {render_code(run.forked_from)} at step {run.forked_at}"] if run.forked_from else []
    )
    told += [f"imported from a bundle (SHA-256 {render_code(run.imported)})"] if run.imported else []
    parts = [
        " · ".join(told),
        f"**{DEMO_WORLD_NOTE}**" if report.settings.world == "demo" else "",
        _sources(report),
    ]
    return "\n\n".join(part for part in parts if part)


def _sources(report: Report) -> str:
    chosen = report.settings.source_descriptions
    return f"Sources: {escape_inline('; '.join(chosen))}." if chosen else ""


def _answer(answer: Answer, report: Report) -> list[str]:
    reason = f" ({escape_inline(answer.reason.replace('_', ' '))})" if answer.reason != "none" else ""
    figures = f"**{escape_inline(answer.verdict.replace('_', ' '))}**{reason} · confidence {answer.confidence:.2f} · {describe_backing(answer.statements)}"
    return [
        f"{figures} · written by: {escape_inline(answer.by)}",
        _sentences(answer, report) or "No statement could be backed, so none is made.",
        *(f"**{name}:** {escape_inline(text)}" for name, text in answer.side_notes if text),
    ]


def _sentences(answer: Answer, report: Report, *, linked: bool = True) -> str:
    told = []
    for sentence in answer.sentences:
        marks = "".join(
            f"[\\[{n}\\]](#source-{n})" if linked else f"\\[{n}\\]"
            for n in citation_numbers(sentence, answer)
        )
        lacking = report.describe_missing_support(sentence)
        told.append(
            f"{escape_inline(sentence.text)}{' ' + marks if marks else ''}{f' *({lacking})*' if lacking else ''}"
        )
    return " ".join(told)


def _conflict(conflict: Conflict) -> str:
    topic = (
        ", ".join(escape_inline(part) for part in (conflict.subject, conflict.attribute) if part)
        or "the same statement"
    )
    lines = [f"- **{topic}** ({conflict.kind}): {escape_inline(conflict.status_text)}"]
    for value in conflict.values:
        sites = ", ".join(escape_inline(site) for site in value.sites) or "no site"
        lines.append(f"    - “{escape_inline(value.text)}”, said by {len(value.sites)} independent: {sites}")
    return "\n".join(lines)


def _edits(report: Report) -> list[str]:
    """The edits one after the other, then each fact that stands otherwise for it."""
    edits = [f"- Step {edit.step}: {escape_inline(edit.text)}" for edit in report.edits]
    rows = [
        [
            escape_table_cell(told),
            escape_table_cell(fact.statement),
            escape_table_cell(fact.former),
            render_link(fact.url, fact.url) if fact.url else "",
        ]
        for fact, told in report.edited_facts
    ]
    return ["\n".join(edits), _table(["Fact", "Statement", "Before the correction", "Page"], rows)]


def _journey(report: Report) -> list[str]:
    told = escape_inline(report.answer.journey) if report.answer else ""
    notes = [
        f"- Note at step {note.step} ({note.kind.replace('_', ' ')}): {escape_inline(note.text)}"
        for note in report.notes
    ]
    stuck = [
        f"- Stuck at step {b.step}, next: {escape_inline(b.rung)}. {escape_inline(b.reason)}"
        for b in report.blockages
    ]
    rows = [_action(action) for action in report.actions]
    return [
        told,
        _table(["Step", "Action", "Query or address", "Outcome", "New facts", "Why"], rows),
        "\n".join(notes + stuck),
    ]


def _action(action: Action) -> list[str]:
    asked = action.query_or_url
    target = render_link(asked, asked) if action.action == "crawl_url" else escape_table_cell(asked)
    outcome = escape_table_cell(f"{action.outcome}{': ' + action.detail if action.detail else ''}")
    return [
        str(action.step),
        ACTION_LABELS.get(action.action, action.action),
        target,
        outcome,
        str(action.new_facts),
        escape_table_cell(action.reasoning),
    ]


def _confidence_table(levels: Sequence[Confidence]) -> list[str]:
    rows = []
    for level in levels:
        moves = "; ".join(f"{move.delta:+.2f}: {escape_inline(move.reason)}" for move in level.moves)
        rows.append(
            [
                str(level.step),
                f"{level.value:.2f}",
                "–" if level.model is None else f"{level.model:.2f}",
                moves or "no change",
            ]
        )
    return [
        _table(["Step", "Confidence", "Model's own", "Why it moved"], rows),
        explain_confidence(levels[-1]) if levels else "",
    ]


def explain_confidence(level: Confidence) -> str:
    """What a confidence is the product of, in one line."""
    shares = " × ".join(
        f"{name} {level.factors[name]:.2f}"
        for name in ("coverage", "support", "trust", "agreement")
        if name in level.factors
    )
    product = f"{shares} − conflicts {level.factors.get('conflicts', 0.0):.2f}" if shares else ""
    lowered = (
        f", held down by the model's own figure {level.model:.2f}"
        if level.model is not None and level.value >= level.model - 1e-3
        else ""
    )
    return f"The last value, {level.value:.2f}, is {product}{lowered}." if product else ""


def _source(source: Source) -> str:
    target = clean_url(source.url)
    facts = [
        f"Retrieved {escape_inline(source.fetched_at)}" if source.fetched_at else "",
        f"SHA-256 {render_code(source.sha256)}" if source.sha256 else "",
    ]
    given = (
        f"**{PAGE_ORIGIN_LABELS[source.given][:1].upper()}{PAGE_ORIGIN_LABELS[source.given][1:]}**, who says it is this page's; not fetched"
        if PAGE_ORIGIN_LABELS[source.given]
        else ""
    )
    kept = " · ".join(fact for fact in (given, *facts) if fact)
    return "\n\n".join(
        block
        for block in (
            f"### source-{source.n}",
            f"**{render_link(source.title or source.url, source.url)}**",
            f"<{target}>" if target else escape_inline(source.url),
            *(render_blockquote(quote) for quote in source.quotes),
            kept,
        )
        if block
    )


def _unread_pages(report: Report) -> list[str]:
    pages = _table(["Address", "What happened", "Detail"], [_page(page) for page in report.unread_pages])
    refused = [
        f"- Not followed: {escape_inline(refusal.what)} ({escape_inline(refusal.why)})"
        for refusal in report.refusals
    ]
    return [pages, "\n".join(refused)]


def _page(page: PageRef) -> list[str]:
    return [
        render_link(page.url, page.url),
        escape_table_cell(page.outcome.replace("_", " ")),
        escape_table_cell(page.detail),
    ]


def _former_answer(answer: Answer, report: Report) -> list[str]:
    verdict = escape_inline(answer.verdict.replace("_", " "))
    told = _sentences(answer, report, linked=False) or "No statement could be backed, so none was made."
    return [
        f"### Answer {answer.n}",
        f"{verdict} · confidence {answer.confidence:.2f} · {describe_backing(answer.statements)}",
        told,
    ]


def _settings(report: Report) -> str:
    """The settings that hold for every flow and those of the run's own, then what the run has spent."""
    chosen = report.settings.model_dump(mode="json")
    own = chosen.get(report.settings.flow)
    told = {name: value for name, value in chosen.items() if not isinstance(value, dict)}
    told.update(own if isinstance(own, dict) else {})
    told.update(report.usage.model_dump(mode="json"))
    return _table(
        ["Setting or figure", "Value"],
        [
            [escape_table_cell(name.replace("_", " ")), escape_table_cell(_plain_value(value))]
            for name, value in told.items()
        ],
    )


def _plain_value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "unknown" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
