"""The answer card: sentences with numbered sources whose quote is one click away, how well they are backed,
and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import streamlit as st
from markupsafe import Markup

from agent.answering.conflict_sentences import is_disagreement
from agent.evidence import citation_check
from agent.evidence.conclusion import conclude
from agent.evidence.report_words import words_for
from agent.evidence.support import Support, count_support, describe_support
from agent.export.answer_blocks import write_body
from agent.export.blocks import Chart, Span
from agent.export.webpage import render_block
from agent.text.plurals import format_count
from agent.text.sentences import format_sentence
from agent.types import PAGE_ORIGIN_LABELS, Answer, AnswerBlock, Sentence, Source
from agent.workbench import RunSnapshot
from pages.widgets.run import report_chart
from pages.widgets.shell import badges, escape, labels, markup, places

CONFLICT_MARK = "where sources differ"
"""Beside the sentences that code wrote about conflicts: they are quoted, but nothing that was found out."""
NO_MARKS: Mapping[int, str] = {}
CHANGE_LABELS = {"added": "New", "removed": "Gone", "reworded": "Reworded", "resourced": "Other sources"}


def draw(view: RunSnapshot, *, comments: bool = False) -> None:
    """The newest answer; what changed since the former one stands below it. With `comments` each sentence
    and section has a mark that opens the form for a comment."""
    newest = view.state.answers[-1]
    with st.container():  # as many pieces as the answer has charts
        pieces = _render_pieces(
            newest,
            view.run.id,
            editable=True,
            comments=comments,
            question=view.run.question,
            model=view.run.settings.model,
        )
        for n, piece in enumerate(pieces):
            if isinstance(piece, str):
                st.html(piece)
            else:
                report_chart.draw(piece, f"{view.run.id}-{n}")
    draw_changes(view.state.answers)
    if newest.journey:
        with st.expander("How this was found", icon=":material/route:", key="research-story"):
            st.text(newest.journey)


@places.in_place
def draw_changes(given: Sequence[Answer]) -> None:
    """What changed from the former answer to the newest, and why it was written anew; nothing for a first
    one."""
    if len(given) > 1:
        with st.expander(
            f"What changed since answer {given[-2].n}",
            expanded=True,
            icon=":material/difference:",
            key="research-changes",
        ):
            st.html(render_changes(given[-2], given[-1]))


def render(answer: Answer, run_id: str, *, editable: bool = False, model: str = "") -> str:
    """The answer as HTML, without charts; with a way from each quote to the fact behind it when that can be
    edited."""
    pieces = _render_pieces(answer, run_id, editable=editable, model=model)
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _render_pieces(
    answer: Answer,
    run_id: str,
    *,
    editable: bool,
    comments: bool = False,
    question: str = "",
    model: str = "",
) -> list[str | Chart]:
    """The answer as HTML in pieces between its charts. The sources of a long report stand below it, else
    beside it. Empty cells are told in the language of the `question`."""
    is_unjudged = answer.verdict == "passages_found"
    by = labels.name_actor(answer.by, model)
    writer = f"written {by}" if answer.by == "model" else "written without a model: quoted sentences"
    marks = [
        (labels.VERDICT[answer.verdict], labels.VERDICT_TONE[answer.verdict]),
        *([("sources differ", "warn")] if answer.conflicts else []),
        *([] if is_unjudged or not answer.sentences else [(writer, "")]),
    ]
    is_refusal = not answer.sentences and bool(answer.certainty)
    has_roles = any(block.role for block in answer.blocks)
    is_plain = answer.length != "full" and (
        has_roles or all(block.kind == "paragraph" for block in answer.blocks)
    )
    comment_marks = _render_comment_marks(answer, run_id) if comments else {}
    pieces = render_body(answer, run_id, comment_marks, editable=editable, question=question)
    end = conclude(answer)
    lines = [
        _render_line(end.next_act if is_refusal else ""),
        _render_line(answer.assumed, "Assumed"),
        _render_line(format_sentence(answer.why_stopped), "Why it stopped here"),
        _render_line(answer.because, "Updated"),
        _render_line(answer.remark),
    ]
    supported = count_support(answer) or ("" if is_refusal else "No claims")
    tone = "soft" if all(sentence.backed for sentence in answer.sentences) else "warned"
    counts = markup.paragraph(escape.html(supported), f"small {tone}")
    if not is_refusal:
        reason = " ".join(filter(None, (end.reason, end.next_act)))
        counts = _render_line(end.open) + markup.paragraph(escape.html(reason)) + counts
    head = f'<div class="chips">{badges.render_row(marks)}</div>{counts}'
    title = f'<h2 class="title">{escape.html(answer.title)}</h2>' if answer.title else ""
    notes = f'<div class="lines">{"".join(lines)}</div>'
    sources = f"<div>{_render_sources(answer.sources, run_id)}</div>"
    kind = "answer" if is_plain else "answer document"
    if len(pieces) == 1 and isinstance(pieces[0], str) and answer.length != "full":
        said = f'<div class="{kind}">{title}{pieces[0]}</div>' if pieces[0] else ""
        grid = f'<div class="answer-grid"><div>{said}{notes}</div>{sources}</div>'
        return [f'<div class="ts">{head}{grid}</div>']
    told = [
        f'<div class="ts"><div class="{kind}">{piece}</div></div>' if isinstance(piece, str) else piece
        for piece in ([title, *pieces] if title else pieces)
    ]
    return [f'<div class="ts">{head}</div>', *told, f'<div class="ts">{notes}{sources}</div>']


def render_body(
    answer: Answer,
    run_id: str,
    marks: Mapping[int, str] = NO_MARKS,
    *,
    editable: bool = False,
    question: str = "",
) -> list[str | Chart]:
    """What the answer says as HTML, in pieces between its charts; `marks` stand behind its sentences."""
    if not answer.sentences:
        return [escape.html(answer.certainty)]

    def write(said: Sentence) -> list[Span | str]:
        html = _render_sentence(said, answer.sources, run_id, editable=editable)
        return [Markup(html + marks.get(id(said), ""))]

    def write_heading(block: AnswerBlock) -> str:
        return Markup(escape.html(block.text) + marks.get(id(block), ""))

    blocks = write_body(answer, write, level=2, words=words_for(question), write_heading=write_heading)
    drawn = [block if isinstance(block, Chart) else render_block(block) for block in blocks]
    pieces = list[str | Chart]()
    for is_chart, found in groupby(drawn, key=lambda piece: isinstance(piece, Chart)):
        group = list(found)
        pieces += group if is_chart else ["".join(map(str, group))]
    return pieces


def render_turn(given: Answer, view: RunSnapshot, refusal: str, *, editable: bool = False) -> str:
    """An answer of a conversation: its card; small talk as it is; a refusal, of the kind that `refusal` says,
    with its own words."""
    if given.sentences:
        return render(given, view.run.id, editable=editable, model=view.run.settings.model)
    text = f'<div class="answer">{escape.html(given.certainty)}</div>'
    if given.is_small_talk:
        return f'<div class="ts">{text}</div>'
    notes = (given.missing, given.remark, given.because, given.journey)
    more = "".join(markup.paragraph(escape.html(note)) for note in notes)
    actor = f'<span class="small soft">{labels.name_actor(given.by, view.run.settings.model)}</span>'
    return (
        f'<div class="ts"><div class="chips">{badges.render(refusal, "mute")}{actor}</div>{text}{more}</div>'
    )


def _render_line(text: str, name: str = "") -> str:
    label = f'<span class="soft">{name}:</span> ' if name else ""
    return f"<p>{label}{escape.html(text)}</p>" if text else ""


def _render_sentence(sentence: Sentence, sources: Sequence[Source], run_id: str, *, editable: bool) -> str:
    cited = [source for source in sources if set(sentence.fact_ids) & set(source.fact_ids)]
    citations = "".join(_render_citation(source, sentence, run_id, editable=editable) for source in cited)
    support = describe_support(sentence)
    text = escape.html(sentence.text)
    text = f'<span class="kept">{text}</span>' if "\n" in sentence.text else text
    if support.tone in ("warn", "bad"):
        text = f'<span class="{"unbacked" if support.tone == "bad" else "unsure"}">{text}</span>'
    differ = f'<span class="support differ">{CONFLICT_MARK}</span>' if is_disagreement(sentence.text) else ""
    is_plain_cell = bool(sentence.context) and support.tone in (
        "",
        "note",
    )  # the reason stands in the list of checks
    return text + citations + differ + ("" if is_plain_cell else _render_support(support))


def _render_comment_marks(answer: Answer, run_id: str) -> dict[int, str]:
    """By the identity of a sentence or heading block the link to the form for a comment on it."""
    heads = [block for block in answer.blocks if block.kind == "heading" and not block.by_code]
    targets = [(id(said), f"s{n}", "sentence") for n, said in enumerate(answer.sentences, start=1)]
    targets += [(id(head), f"h{n}", "section") for n, head in enumerate(heads, start=1)]
    return {
        key: f'<a class="comment" href="{escape.run_url(run_id, target)}" target="_self" '
        f'title="Comment on this {kind}" aria-label="Comment on this {kind}">✎</a>'
        for key, target, kind in targets
    }


def _render_support(support: Support) -> str:
    """How a sentence is supported, as a small mark that opens to the reason; nothing for a quoted one. What
    is absent or disputed is readable without opening it; a difference that the judge explained is a dot."""
    marks = [support.label] if support.label else []
    marks += [f"not in its sources: {support.absent}"] if support.absent and support.tone != "bad" else []
    marks += [f"disputed: {support.disputed}"] if support.disputed else []
    label, reason = ", ".join(marks), support.detail
    if not label:
        return ""
    if support.label == "computed" and len(marks) == 1:
        label, reason = f"{label}: {reason}" if reason else label, ""
    dot = ""
    if support.note:
        told = escape.html(support.note[:1].upper() + support.note[1:])
        dot = f'<span class="support note" title="{told}" aria-label="{told}">●</span>'
    if not reason:
        return f'<span class="support {support.tone}">{escape.html(label)}</span>{dot}'
    return (
        f'<details class="cite support {support.tone}"><summary title="How this was checked">'
        f"{escape.html(label)}</summary><div>{escape.html(reason[:1].upper() + reason[1:])}.</div></details>"
        f"{dot}"
    )


def _render_citation(source: Source, sentence: Sentence, run_id: str, *, editable: bool) -> str:
    """A numbered mark that opens to the very words this sentence stands on, and leads to each fact behind
    it."""
    meant = [
        (quote, name)
        for quote, name in zip(source.quotes, source.fact_ids, strict=False)
        if name in sentence.fact_ids
    ]
    quotes = "".join(
        (
            f'<div class="quote">{escape.html(quote)}</div>'
            f"{markup.edit_fact_link(run_id, name) if editable else ''}"
        )
        for quote, name in meant
    )
    chosen = meant[0][1] if meant else ""
    return (
        f'<details class="cite"><summary aria-label="Source {source.n}: show the quote" '
        f'title="Show the quote">{source.n}</summary>'
        f"<div>{quotes}{_render_origin(source, run_id, chosen)}</div></details>"
    )


def _render_origin(source: Source, run_id: str, fact_id: str = "") -> str:
    """One line: link, who gave it, host, when it was read, stored page."""
    origin = PAGE_ORIGIN_LABELS[source.given]
    parts = (
        escape.render_link(source.url, source.title or escape.shorten_url(source.url)),
        f"<b>{origin}</b>" if origin else "",
        escape.html(source.publication.description) if source.publication else "",
        escape.html(escape.host(source.url)) if source.url else "",
        f"read {labels.format_time(source.fetched_at)}" if source.fetched_at else "",
        markup.stored_page_link(run_id, source.page_id, fact_id, before=""),
    )
    return f'<div class="small soft">{" · ".join(filter(None, parts))}</div>'


def _render_sources(sources: Sequence[Source], run_id: str) -> str:
    if not sources:
        return ""
    items = "".join(
        f'<li><details><summary><span class="n">{source.n}</span>'
        f"<span>{escape.html(source.title or escape.shorten_url(source.url))} "
        f'<span class="soft">{escape.html(escape.host(source.url)) if source.url else ""}</span>'
        + (f" {badges.render(origin, 'warn')}" if (origin := PAGE_ORIGIN_LABELS[source.given]) else "")
        + "</span></summary>"
        + "".join(f'<div class="quote">{escape.html(quote)}</div>' for quote in source.quotes)
        + f"{_render_origin(source, run_id, source.fact_ids[0] if source.fact_ids else '')}</details></li>"
        for source in sources
    )
    return f'<h3 class="ts-section">Sources</h3><ul class="sources">{items}</ul>'


def render_changes(old: Answer, new: Answer) -> str:
    """The difference between two answers as an HTML list."""
    found = citation_check.diff_answers(old, new)
    items = []
    for change in found:
        if change.kind == "same":
            continue
        before = (
            f"<del>{escape.html(change.old.text)}</del> "
            if change.old and change.kind in ("removed", "reworded")
            else ""
        )
        after = escape.html(change.new.text) if change.new else ""
        items.append(
            f'<li class="{change.kind}">{badges.render(CHANGE_LABELS[change.kind])} {before}{after}</li>'
        )
    same = sum(change.kind == "same" for change in found)
    kept = f'<p class="small soft">{format_count(same, "sentence")} unchanged.</p>' if same else ""
    was, now = (
        labels.VERDICT[one.verdict]
        + ("" if one.confidence is None else f", confidence {labels.format_percent(one.confidence)}")
        for one in (old, new)
    )
    verdict = f"<p>Before: {was}. Now: {now}.</p>" if was != now else ""
    nothing = "" if items else "<p>The answer says the same.</p>"
    why = f'<p class="small">Updated {escape.html(new.because)}.</p>' if new.because else ""
    return f'<div class="ts">{why}{verdict}{nothing}<ul class="changes">{"".join(items)}</ul>{kept}</div>'
