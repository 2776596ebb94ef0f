"""An answer as blocks: in running text, or without a model as leads, passages and what else was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.evidence.answer_layout import ALSO_FOUND, UNJUDGED_NOTE, AnswerLayout, label_passage, lay_out
from agent.evidence.support import count_support, label_support, list_checks
from agent.export.blocks import Block, Bullets, Folded, Heading, Inline, Paragraph, Span
from agent.text.plurals import format_percent
from agent.types import Answer, Sentence

WRITER_LABELS = {"keyless": "none (rules only)"}
NO_STATEMENT = "No statement could be backed, so none is made."


def write_answer(answer: Answer) -> list[Block]:
    """The newest answer: its figures, what it says, how that was checked, the notes beside it, and last what
    is folded."""
    layout, written = lay_out(answer), WRITER_LABELS.get(answer.by, answer.by)
    note = [Paragraph([UNJUDGED_NOTE], "soft")] if answer.verdict == "passages_found" else []
    return [
        Paragraph([*_write_figures(answer), f" · model: {written}"]),
        *note,
        *_write_body(answer, layout),
        *_write_checks(answer),
        *(Paragraph([Span(f"{name}:", "strong"), f" {text}"]) for name, text in answer.side_notes if text),
        *_fold_others(answer, layout),
    ]


def write_earlier_answer(answer: Answer) -> list[Block]:
    """An answer before the newest. Its citations are no links: the sources listed are the newest answer's."""
    layout = lay_out(answer)
    body = _write_body(answer, layout, linked=False)
    return [Paragraph(_write_figures(answer)), *body, *_fold_others(answer, layout, linked=False)]


def _write_body(answer: Answer, layout: AnswerLayout | None, *, linked: bool = True) -> list[Block]:
    if layout is None:
        return _write_plain(answer, linked=linked)
    blocks = _write_lines(answer, layout.opening, linked=linked)
    for part in layout.parts:
        blocks += [Heading(3, part.question)] if part.question else []
        for lead in part.leads:
            _, *marks = _write_sentence(answer, lead, linked=linked)
            blocks.append(Paragraph([Span(lead.text, "strong"), *marks], "lead"))
        blocks += _list_passages(answer, part.passages, linked=linked)
        blocks += [Paragraph([Span(part.gap, "emphasis")])] if part.gap else []
    return blocks + _write_lines(answer, layout.closing, linked=linked)


def _write_plain(answer: Answer, *, linked: bool) -> list[Block]:
    """The sentences one after the other, quotes that no model joined as a list."""
    told = [_write_sentence(answer, sentence, linked=linked) for sentence in answer.sentences]
    if answer.by == "keyless" and len(told) > 1:
        return [Bullets([(spans, ()) for spans in told])]
    joined = [span for spans in told for span in (*spans, " ")][:-1]
    return [Paragraph(joined or [NO_STATEMENT], "answer")]


def _write_lines(answer: Answer, sentences: Iterable[Sentence], *, linked: bool) -> list[Block]:
    return [Paragraph(_write_sentence(answer, sentence, linked=linked), "answer") for sentence in sentences]


def _list_passages(answer: Answer, sentences: Sequence[Sentence], *, linked: bool) -> list[Block]:
    """Each with the headings it stands under."""
    items: list[tuple[Inline, Sequence[str]]] = []
    for sentence in sentences:
        label = label_passage(answer, sentence)
        above: list[Span | str] = [Span(f"{label}:", "strong"), " "] if label else []
        items.append(([*above, *_write_sentence(answer, sentence, linked=linked)], ()))
    return [Bullets(items)] if items else []


def _fold_others(answer: Answer, layout: AnswerLayout | None, *, linked: bool = True) -> list[Block]:
    found = _list_passages(answer, layout.others, linked=linked) if layout else []
    return [Folded(ALSO_FOUND, found)] if found else []


def _write_figures(answer: Answer) -> Inline:
    reason = f" ({answer.reason.replace('_', ' ')})" if answer.reason != "none" else ""
    confidence = (
        f" · confidence {format_percent(answer.confidence)} · {count_support(answer) or 'no statements'}"
    )
    return [Span(answer.verdict.replace("_", " "), "strong"), reason + confidence]


def _write_checks(answer: Answer) -> list[Block]:
    lines: list[tuple[Inline, tuple[str, ...]]] = [([line], ()) for line in list_checks(answer)]
    return [Paragraph([Span("How the statements were checked:", "strong")]), Bullets(lines)] if lines else []


def _write_sentence(answer: Answer, sentence: Sentence, *, linked: bool) -> list[Span | str]:
    numbers = answer.citation_numbers(sentence)
    spans: list[Span | str] = [sentence.text, *([" "] if numbers else [])]
    spans += [Span(str(n), "cite") if linked else f"[{n}]" for n in numbers]
    if label := label_support(sentence):
        spans += [" ", Span(f"({label})", "emphasis")]
    return spans
