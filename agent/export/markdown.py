"""A run as one Markdown document that opens right in GitHub and Obsidian. Everything a page or model wrote is escaped.

Citations link to headings named "source-1" and so on, which both find. Nothing in the document loads anything from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.export.escaping import address, cell, code, inline, link, quoted
from agent.export.report import Report, cited
from agent.types import GIVEN, Action, Answer, Confidence, Conflict, PageRef, Source, Statements

ACTIONS = {"search_duckduckgo": "search (DuckDuckGo)", "search_google": "search (Google)", "crawl_url": "read page"}

INVENTED = "This run read the demo world: its sites and all that they say are invented."


def markdown(report: Report) -> str:
    """The document: question, answer, conflicts, journey, sources, what could not be read, former answers, settings."""
    answer = report.answer
    parts = [
        f"# {inline(report.run.question) or 'Untitled question'}",
        _head(report),
        "## Answer",
        *(_answer(answer, report) if answer else ["There is no answer yet."]),
        *_section("Conflicts", [_conflict(conflict) for conflict in report.conflicts]),
        *_section("What a person changed", _edited(report)),
        *_section("Journey", _journey(report)),
        *_section("Confidence", _curve(report.confidence)),
        *_section("Sources", [_source(source) for source in answer.sources] if answer else []),
        *_section("Could not read", _unread(report)),
        *_section("Former answers", [block for former in report.former for block in _former(former, report)]),
        *_section("Settings of the run", [_settings(report)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def backing(statements: Statements) -> str:
    """The backing line, e.g. "9 of 10 statements backed by a stored page"."""
    total = statements.backed + statements.unsupported
    dropped = f"; {statements.dropped} citations that resolve to nothing usable were dropped" if statements.dropped else ""
    return f"{statements.backed} of {total} statements backed by a stored page{dropped}"


def _section(title: str, blocks: Iterable[str]) -> list[str]:
    blocks = [block for block in blocks if block]
    return [f"## {title}", *blocks] if blocks else []


def _head(report: Report) -> str:
    run = report.run
    told = [f"Run {code(run.id)}", f"status: {inline(run.status)}"]
    told += [f"{name} {inline(at)}" for name, at in (("started", run.created_at), ("last changed", run.updated_at)) if at]
    told += [f"forked from run {code(run.forked_from)} at step {run.forked_at}"] if run.forked_from else []
    told += [f"imported from a bundle (SHA-256 {code(run.imported)})"] if run.imported else []
    parts = [" · ".join(told), f"**{INVENTED}**" if report.settings.world == "demo" else "", _sources(report)]
    return "\n\n".join(part for part in parts if part)


def _sources(report: Report) -> str:
    chosen = report.settings.sources
    return f"Sources: {inline('; '.join(chosen))}." if chosen else ""


def _answer(answer: Answer, report: Report) -> list[str]:
    reason = f" ({inline(answer.reason.replace('_', ' '))})" if answer.reason != "none" else ""
    figures = f"**{inline(answer.verdict.replace('_', ' '))}**{reason} · confidence {answer.confidence:.2f} · {backing(answer.statements)}"
    return [
        f"{figures} · written by: {inline(answer.by)}",
        _sentences(answer, report) or "No statement could be backed, so none is made.",
        *(f"**{name}:** {inline(text)}" for name, text in answer.remarks if text),
    ]


def _sentences(answer: Answer, report: Report, *, linked: bool = True) -> str:
    told = []
    for sentence in answer.sentences:
        marks = "".join(f"[\\[{n}\\]](#source-{n})" if linked else f"\\[{n}\\]" for n in cited(sentence, answer))
        lacking = report.lacking(sentence)
        told.append(f"{inline(sentence.text)}{' ' + marks if marks else ''}{f' *({lacking})*' if lacking else ''}")
    return " ".join(told)


def _conflict(conflict: Conflict) -> str:
    topic = ", ".join(inline(part) for part in (conflict.subject, conflict.attribute) if part) or "the same statement"
    lines = [f"- **{topic}** ({conflict.kind}): {inline(conflict.stands)}"]
    for value in conflict.values:
        sites = ", ".join(inline(site) for site in value.sites) or "no site"
        lines.append(f"    - “{inline(value.text)}”, said by {len(value.sites)} independent: {sites}")
    return "\n".join(lines)


def _edited(report: Report) -> list[str]:
    """The edits one after the other, then each fact that stands otherwise for it."""
    edits = [f"- Step {edit.step}: {inline(edit.text)}" for edit in report.edits]
    rows = [[cell(told), cell(fact.statement), cell(fact.former), link(fact.url, fact.url) if fact.url else ""] for fact, told in report.touched]
    return ["\n".join(edits), _table(["Fact", "Statement", "Before the correction", "Page"], rows)]


def _journey(report: Report) -> list[str]:
    told = inline(report.answer.journey) if report.answer else ""
    notes = [f"- Note at step {note.step} ({note.kind.replace('_', ' ')}): {inline(note.text)}" for note in report.notes]
    stuck = [f"- Stuck at step {b.step}, next: {inline(b.rung)}. {inline(b.reason)}" for b in report.blockages]
    rows = [_action(action) for action in report.actions]
    return [told, _table(["Step", "Action", "Query or address", "Outcome", "New facts", "Why"], rows), "\n".join(notes + stuck)]


def _action(action: Action) -> list[str]:
    asked = action.query_or_url
    target = link(asked, asked) if action.action == "crawl_url" else cell(asked)
    outcome = cell(f"{action.outcome}{': ' + action.detail if action.detail else ''}")
    return [str(action.step), ACTIONS.get(action.action, action.action), target, outcome, str(action.new_facts), cell(action.reasoning)]


def _curve(levels: Sequence[Confidence]) -> list[str]:
    rows = []
    for level in levels:
        moves = "; ".join(f"{move.delta:+.2f}: {inline(move.reason)}" for move in level.moves)
        rows.append([str(level.step), f"{level.value:.2f}", "–" if level.model is None else f"{level.model:.2f}", moves or "no change"])
    return [_table(["Step", "Confidence", "Model's own", "Why it moved"], rows), made_of(levels[-1]) if levels else ""]


def made_of(level: Confidence) -> str:
    """What a confidence is the product of, in one line."""
    shares = " × ".join(f"{name} {level.factors[name]:.2f}" for name in ("coverage", "support", "trust", "agreement") if name in level.factors)
    product = f"{shares} − conflicts {level.factors.get('conflicts', 0.0):.2f}" if shares else ""
    lowered = f", held down by the model's own figure {level.model:.2f}" if level.model is not None and level.value >= level.model - 1e-3 else ""
    return f"The last value, {level.value:.2f}, is {product}{lowered}." if product else ""


def _source(source: Source) -> str:
    target = address(source.url)
    facts = [f"Retrieved {inline(source.fetched_at)}" if source.fetched_at else "", f"SHA-256 {code(source.sha256)}" if source.sha256 else ""]
    given = f"**{GIVEN[source.given][:1].upper()}{GIVEN[source.given][1:]}**, who says it is this page's; not fetched" if GIVEN[source.given] else ""
    kept = " · ".join(fact for fact in (given, *facts) if fact)
    return "\n\n".join(
        block
        for block in (
            f"### source-{source.n}",
            f"**{link(source.title or source.url, source.url)}**",
            f"<{target}>" if target else inline(source.url),
            *(quoted(quote) for quote in source.quotes),
            kept,
        )
        if block
    )


def _unread(report: Report) -> list[str]:
    pages = _table(["Address", "What happened", "Detail"], [_page(page) for page in report.unread])
    refused = [f"- Not followed: {inline(refusal.what)} ({inline(refusal.why)})" for refusal in report.refusals]
    return [pages, "\n".join(refused)]


def _page(page: PageRef) -> list[str]:
    return [link(page.url, page.url), cell(page.outcome.replace("_", " ")), cell(page.detail)]


def _former(answer: Answer, report: Report) -> list[str]:
    verdict = inline(answer.verdict.replace("_", " "))
    told = _sentences(answer, report, linked=False) or "No statement could be backed, so none was made."
    return [f"### Answer {answer.n}", f"{verdict} · confidence {answer.confidence:.2f} · {backing(answer.statements)}", told]


def _settings(report: Report) -> str:
    """The settings that hold for every flow and those of the run's own, then what the run has spent."""
    chosen = report.settings.model_dump(mode="json")
    own = chosen.get(report.settings.flow)
    told = {name: value for name, value in chosen.items() if not isinstance(value, dict)}
    told.update(own if isinstance(own, dict) else {})
    told.update(report.usage.model_dump(mode="json"))
    return _table(["Setting or figure", "Value"], [[cell(name.replace("_", " ")), cell(_plain(value))] for name, value in told.items()])


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return "unknown" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
