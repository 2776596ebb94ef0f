"""A checked text: its summary, the claims to look at, and the text with a mark at each claim."""

from __future__ import annotations

from collections.abc import Sequence

from agent.export.blocks import Block, Bullets, Heading, Inline, Paragraph, Span
from agent.types import MARK_LABELS, MARK_SIGNS, CheckedText, MarkedSentence, Source

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
