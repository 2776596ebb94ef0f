"""An answer as blocks: in running text, or without a model as leads, passages and what else was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from agent.evidence.answer_layout import ALSO_FOUND, label_passage, lay_out
from agent.evidence.block_layout import lay_out_blocks
from agent.evidence.report_words import ENGLISH, load_report_words
from agent.evidence.support import count_support, label_support, list_checks
from agent.export.blocks import Block, Bullets, Chart, Heading, Inline, Paragraph, Span, Table
from agent.text.plurals import format_percent
from agent.text.sentences import format_sentence
from agent.types import Answer, Sentence

Writer = Callable[[Sentence], list[Span | str]]
"""Writes a sentence, list item or cell with its marks; its text comes first."""
WRITER_LABELS = {"keyless": "none (rules only)"}
ENGLISH_WORDS = load_report_words(ENGLISH)
NO_STATEMENT = "No statement could be backed, so none is made."


def write_answer(answer: Answer) -> list[Block]:
    """The newest answer: its figures, what it says, how that was checked, the notes, and what is folded."""
    figures, *checks = write_checks(answer)
    return [figures, *write_report(answer, level=3), *checks]


def write_report(answer: Answer, *, level: int = 2, words: Mapping[str, str] = ENGLISH_WORDS) -> list[Block]:
    """What the newest answer says, without its figures and checks; see `write_body`."""
    note = [Paragraph([words["unjudged"]], "soft")] if answer.verdict == "passages_found" else []
    return [*note, *write_body(answer, partial(_write_sentence, answer), level=level, words=words)]


def write_checks(answer: Answer) -> list[Block]:
    """The figures of an answer first, then how it was checked, the notes beside it, and what is folded."""
    written = WRITER_LABELS.get(answer.by, answer.by)
    return [
        Paragraph([*_write_figures(answer), f" · model: {written}"]),
        *_write_checks(answer),
        *(
            Paragraph([Span(f"{name}:", "strong"), f" {format_sentence(text)}"])
            for name, text in answer.side_notes
            if text
        ),
        *_fold_others(answer, partial(_write_sentence, answer)),
    ]


def write_earlier_answer(answer: Answer) -> list[Block]:
    """An answer before the newest. Its citations are no links: the sources listed are the newest answer's."""
    write = partial(_write_sentence, answer, linked=False)
    body = write_body(answer, write, level=4)
    return [Paragraph(_write_figures(answer)), *body, *_fold_others(answer, write)]


def write_body(
    answer: Answer, write: Writer, *, level: int, words: Mapping[str, str] = ENGLISH_WORDS
) -> list[Block]:
    """What an answer says: its blocks, or running text, or part by part a lead and its passages. Headings
    stand at `level`; what code says of gaps is from `words`."""
    layout = lay_out(answer)
    if answer.blocks:
        return _write_blocks(answer, write, level, words["not_found"])
    if layout is None:
        return _write_plain(answer, write)
    blocks = _write_lines(layout.opening, write)
    for part in layout.parts:
        blocks += [Heading(level, part.question)] if part.question else []
        for lead in part.leads:
            _, *marks = write(lead)
            blocks.append(Paragraph([Span(lead.text, "strong"), *marks], "lead"))
        blocks += _list_passages(answer, part.passages, write)
        blocks += [Paragraph([Span(words["part_not_found"], "emphasis")])] if part.gap else []
    return blocks + _write_lines(layout.closing, write)


def _write_blocks(answer: Answer, write: Writer, level: int, not_found: str) -> list[Block]:
    written = list[Block]()
    for layout in lay_out_blocks(answer):
        block, lines = layout.block, layout.block.lines
        if block.kind == "heading":
            written.append(Heading(block.level - 2 + level, block.text))
        elif block.kind == "chart":
            written += [Chart(block.text, layout.series)] if layout.series else []
        elif block.kind == "table":
            rows = [
                [
                    Span(label, "strong"),
                    *(write(cell) if cell else Span(not_found, "emphasis") for cell in cells),
                ]
                for label, cells in zip(block.row_labels, layout.rows, strict=True)
            ]
            written.append(Table(block.heads, rows, block.text))
        elif block.kind == "list" and not block.by_code:
            written += _list_passages(answer, layout.sentences, write)
        elif block.kind == "list":
            written.append(Bullets([([line], ()) for line in lines]))
        else:
            told = [span for said in layout.sentences for span in (*write(said), " ")][:-1]
            written += [Paragraph(told, "answer")] if told else []
            written += [Paragraph([line]) for line in lines]
    return written


def _write_plain(answer: Answer, write: Writer) -> list[Block]:
    """The sentences one after the other, quotes that no model joined as a list."""
    told = [write(sentence) for sentence in answer.sentences]
    if answer.by == "keyless" and len(told) > 1:
        return [Bullets([(spans, ()) for spans in told])]
    joined = [span for spans in told for span in (*spans, " ")][:-1]
    return [Paragraph(joined or [NO_STATEMENT], "answer")]


def _write_lines(sentences: Iterable[Sentence], write: Writer) -> list[Block]:
    return [Paragraph(write(sentence), "answer") for sentence in sentences]


def _list_passages(answer: Answer, sentences: Sequence[Sentence], write: Writer) -> list[Block]:
    """Each with the headings it stands under."""
    items: list[tuple[Inline, Sequence[str]]] = []
    for sentence in sentences:
        label = label_passage(answer, sentence)
        above: list[Span | str] = [Span(f"{label}:", "strong"), " "] if label else []
        items.append(([*above, *write(sentence)], ()))
    return [Bullets(items)] if items else []


def _fold_others(answer: Answer, write: Writer) -> list[Block]:
    others = [sentence for sentence in answer.sentences if sentence.place == "other"]
    found = _list_passages(answer, others, write)
    return [Heading(3, ALSO_FOUND), *found] if found else []


def _write_figures(answer: Answer) -> Inline:
    reason = f" ({answer.reason.replace('_', ' ')})" if answer.reason != "none" else ""
    confidence = (
        f" · confidence {format_percent(answer.confidence)} · {count_support(answer) or 'no statements'}"
    )
    return [Span(answer.verdict.replace("_", " "), "strong"), reason + confidence]


def _write_checks(answer: Answer) -> list[Block]:
    lines: list[tuple[Inline, tuple[str, ...]]] = [([line], ()) for line in list_checks(answer)]
    return [Paragraph([Span("How the statements were checked:", "strong")]), Bullets(lines)] if lines else []


def _write_sentence(answer: Answer, sentence: Sentence, *, linked: bool = True) -> list[Span | str]:
    numbers = answer.citation_numbers(sentence)
    spans: list[Span | str] = [sentence.text, *([" "] if numbers else [])]
    spans += [Span(str(n), "cite") if linked else f"[{n}]" for n in numbers]
    if label := label_support(sentence):
        spans += [" ", Span(f"({label})", "emphasis")]
    return spans
