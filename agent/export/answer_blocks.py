"""The blocks of an answer with their citations, for every file and the screen, and those of a checked text:
its summary, the claims to look at, and the text with a mark at each claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal

from agent.evidence.block_layout import label_passage, lay_out_blocks
from agent.evidence.conclusion import VERDICT_LABELS
from agent.evidence.report_words import ENGLISH, load_report_words
from agent.evidence.support import count_support, label_support, list_checks
from agent.export.blocks import Block, Bullets, Chart, Heading, Inline, Paragraph, Span, Table
from agent.llm.recorded import LABEL, NOTE, RECORDED
from agent.text.plurals import format_percent
from agent.text.sentences import format_sentence
from agent.types import (
    MARK_LABELS,
    MARK_SIGNS,
    Answer,
    AnswerBlock,
    CheckedText,
    MarkedSentence,
    Sentence,
    Settings,
    Source,
)

WRITER_LABELS = {"keyless": "none (rules only)"}
DEMO_WORLD_NOTE = "From the demo world: its sites and all that they say are invented."
ENGLISH_WORDS = load_report_words(ENGLISH)


def write_bands(settings: Settings) -> list[Block]:
    """What a reader is to know before all else: that the sources are invented, the model a recorded one."""
    is_told = {DEMO_WORLD_NOTE: settings.world == "demo", NOTE: settings.model == RECORDED}
    told = " ".join(note for note, is_so in is_told.items() if is_so)
    return [Paragraph([told], "band")] if told else []


def write_text(
    answer: Answer,
    *,
    level: int,
    words: Mapping[str, str] = ENGLISH_WORDS,
    style: Literal["cite", "ref"] = "cite",
    mark: Callable[[Sentence], str] = label_support,
) -> list[Block]:
    """What an answer says, with citations that are links (`cite`) or only numbers, and the mark of each
    sentence in brackets; first that no model judged it, where none did."""
    note = [Paragraph([words["unjudged"]], "soft")] if answer.verdict == "passages_found" else []
    tables, rows = {block.id for block in answer.blocks if block.kind == "table"}, dict[Any, list[Sentence]]()
    for said in sorted(answer.sentences, key=lambda said: said.column):
        if said.block in tables:
            rows.setdefault((said.block, said.row), []).append(said)
    same = [row for row in rows.values() if len({*map(tuple, map(answer.citation_numbers, row))}) == 1]
    quiet = {id(said) for row in same for said in row[:-1]}  # the last cell of their row has them too

    def cite(sentence: Sentence) -> list[Span | str]:
        numbers = [] if id(sentence) in quiet else list(map(str, answer.citation_numbers(sentence)))
        spans: list[Span | str] = [sentence.text, " "] if numbers else [sentence.text]
        spans += [Span(n, style) for n in (numbers if style == "cite" else [", ".join(numbers)]) if n]
        return [*spans, " ", Span(f"({label})", "emphasis")] if (label := mark(sentence)) else spans

    return [*note, *write_body(answer, cite, level=level, words=words)]


def write_answer(answer: Answer, settings: Settings, **form: Any) -> list[Block]:
    """An answer with its verdict, what it says (`form`: see `write_text`), its checks and notes."""
    checks = Bullets.of([line] for line in list_checks(answer))
    checks = [Paragraph([Span("How the statements were checked:", "strong")]), *checks] if checks else []
    told = [("Certainty", answer.certainty), ("Not answered", answer.missing), ("Assumed", answer.assumed)]
    told += [("Why it stopped", answer.why_stopped), ("Updated", answer.because), ("Remark", answer.remark)]
    notes = [write_label(name, format_sentence(text)) for name, text in told if text]
    reason = f" ({answer.reason.replace('_', ' ')})" if answer.reason != "none" else ""
    level = f" · confidence {format_percent(answer.confidence)}" if answer.confidence is not None else ""
    supported = count_support(answer) or "no statements"
    is_recorded = (answer.by, settings.model) == ("model", RECORDED)
    writer = LABEL if is_recorded else WRITER_LABELS.get(answer.by, answer.by)
    verdict = Span(VERDICT_LABELS[answer.verdict], "strong")
    figures = Paragraph([verdict, f"{reason}{level} · {supported} · model: {writer}"])
    return [figures, *write_text(answer, **form), *checks, *notes]


def write_label(name: str, text: str) -> Paragraph:
    """A text behind its name."""
    return Paragraph([Span(f"{name}:", "strong"), f" {text}"])


def write_body(
    answer: Answer,
    write: Callable[[Sentence], list[Span | str]],
    *,
    level: int,
    words: Mapping[str, str] = ENGLISH_WORDS,
    write_heading: Callable[[AnswerBlock], str] = attrgetter("text"),
) -> list[Block]:
    """What an answer says, without what is folded. `write` writes a sentence, list item or cell with its
    marks, its text first. Headings stand at `level`, in the words of `write_heading`; what code says of gaps
    is from `words`."""
    written = list[Block]()
    for layout in lay_out_blocks(answer):
        block, lines = layout.block, layout.block.lines
        if block.kind == "heading":
            written.append(Heading(block.level - 2 + level, write_heading(block)))
        elif block.kind == "chart":
            written += [Chart(block.text, layout.series, block.heads[0])] if layout.series else []
        elif block.kind == "table":
            empty = Span(words["not_found"], "emphasis")
            rows = [
                [Span(label, "strong"), *(write(cell) if cell else empty for cell in cells)]
                for label, cells in zip(block.row_labels, layout.rows, strict=True)
            ]
            written.append(Table(block.heads, rows, block.text))
        elif block.kind == "list" and block.by_code:
            written += Bullets.of([line] for line in lines)
        elif block.kind == "list":
            items = list[Inline]()
            for said in layout.sentences:  # each passage with the headings it stands under
                label = label_passage(answer, said) if block.role else ""
                above: list[Span | str] = [Span(label, "label"), " "] if label else []
                items.append([*above, *write(said)])
            written += Bullets.of(items)
        elif block.role == "gap":
            written += [Paragraph([Span(line, "emphasis")], "soft") for line in lines]
        elif block.role == "lead":
            for said in layout.sentences:
                spans = write(said)
                if type(spans[0]) is str:  # a screen's markup stays as it is
                    spans[0] = Span(said.text, "strong")
                written.append(Paragraph(spans, "lead"))
        else:
            told = [span for said in layout.sentences for span in (*write(said), " ")][:-1]
            written += [Paragraph(told, "said")] if told else []
            written += [Paragraph([line]) for line in lines]
    return written or [Paragraph(["No statement could be backed, so none is made."], "said")]


LEGEND = "; ".join(f"{MARK_SIGNS[mark]} {label}" for mark, label in MARK_LABELS.items() if MARK_SIGNS[mark])
MAX_HEADING_LEVEL = 6


def write_checked_text(
    checked: CheckedText, sources: Sequence[Source], *, linked: bool = True
) -> list[Block]:
    """The result as blocks; a claim cites sources by number, as links to their headings where `linked`."""
    blocks: list[Block] = [Heading(2, "Result"), Paragraph([Span(checked.summary, "strong")])]
    if checked.why_stopped:
        blocks.append(Paragraph([f"Ended early: {checked.why_stopped}."], "soft"))
    if checked.url:
        blocks.append(Paragraph([Span(checked.url, url=checked.url)], "soft"))
    if problems := [one for one in checked.claims if one.is_problem]:
        blocks += [Heading(2, "To look at"), Bullets([_explain(one) for one in problems])]
    blocks += [Heading(2, "The text with its marks"), Paragraph([LEGEND], "soft")]
    for paragraph in checked.paragraphs:
        first = paragraph[0].sentence
        if first.kind == "heading":
            blocks.append(Heading(min(MAX_HEADING_LEVEL, max(1, first.level) + 2), first.text))
        else:
            spans = [span for one in paragraph for span in (*_write_sentence(one, sources, linked), " ")]
            blocks.append(Paragraph(spans[:-1]))
    return blocks


def _write_sentence(one: MarkedSentence, sources: Sequence[Source], linked: bool) -> list[Span | str]:
    spans: list[Span | str] = [one.sentence.text]
    if one.mark and MARK_SIGNS[one.mark]:
        by = ", by a person" if one.overruled else ""
        spans += [" ", Span(f"({MARK_SIGNS[one.mark]} {one.label}{by})", "emphasis")]
    ids = {fact.id for fact in one.facts}
    cited = [source.n for source in sources if ids.intersection(source.fact_ids)]
    if cited:
        own = f"source {', '.join(map(str, cited))}"  # the text has numbers of its own
        spans += [" ", *([Span(str(n), "cite") for n in cited] if linked else [Span(own, "ref")])]
    return spans


def _explain(one: MarkedSentence) -> tuple[Inline, Sequence[str]]:
    assert one.mark is not None
    label = Span(f"{MARK_SIGNS[one.mark]} {one.label}:", "strong")
    below = [f"Set by a person: {one.overruled}"] if one.overruled else []
    below += [one.reason] if one.reason else []
    below += [f"Closest in the source: “{one.closest}” ({one.facts[0].url})"] if one.closest else []
    return [label, f" {one.sentence.text}"], below
