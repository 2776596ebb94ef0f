"""A checked text: its summary, the claims to look at, the text with a mark at each claim; and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from agent.export.blocks import Block, Bullets, Heading, Inline, Paragraph, Span
from agent.export.sheets import write_csv
from agent.types import MARK_LABELS, MARK_SIGNS, CheckedText, MarkedSentence, Source

COLUMNS = ("sentence", "mark", "text", "reason", "quote", "source", "cites", "overruled", "mark of the check")
LEGEND = "; ".join(f"{MARK_SIGNS[mark]} {label}" for mark, label in MARK_LABELS.items() if MARK_SIGNS[mark])
MAX_HEADING_LEVEL = 6
COPIED_KINDS = ("heading", "code")


def write_checked_text(
    checked: CheckedText, sources: Sequence[Source], *, linked: bool = True
) -> list[Block]:
    """The result as blocks; a claim cites the sources by their numbers, as links to their headings where
    `linked`."""
    blocks: list[Block] = [Heading(2, "Result"), Paragraph([Span(checked.summary, "strong")])]
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


def render_claims_csv(checked: CheckedText | None) -> str:
    """The claims as CSV, a row each under a header; the header alone where nothing was read."""
    return write_csv(COLUMNS, [_list_cells(one) for one in checked.claims] if checked else [])


def _write_sentence(one: MarkedSentence, sources: Sequence[Source], linked: bool) -> list[Span | str]:
    spans: list[Span | str] = [one.sentence.text]
    if one.mark and MARK_SIGNS[one.mark]:
        by = ", by a person" if one.overruled else ""
        spans += [" ", Span(f"({MARK_SIGNS[one.mark]} {MARK_LABELS[one.mark]}{by})", "emphasis")]
    ids = {fact.id for fact in one.facts}
    cited = [source.n for source in sources if ids.intersection(source.fact_ids)]
    if cited:
        own = f"source {', '.join(map(str, cited))}"  # the text has numbers of its own
        spans += [" ", *([Span(str(n), "cite") for n in cited] if linked else [Span(own, "ref")])]
    return spans


def _explain(one: MarkedSentence) -> tuple[Inline, Sequence[str]]:
    assert one.mark is not None
    label = Span(f"{MARK_SIGNS[one.mark]} {MARK_LABELS[one.mark]}:", "strong")
    below = [f"Set by a person: {one.overruled}"] if one.overruled else []
    below += [one.reason] if one.reason else []
    below += [f"Closest in the source: “{one.closest}” ({one.facts[0].url})"] if one.closest else []
    return [label, f" {one.sentence.text}"], below


def _list_cells(one: MarkedSentence) -> tuple[str, ...]:
    said, fact = one.sentence, one.facts[0] if one.facts else None
    cites = " ".join(citation.url or citation.label for citation in said.citations)
    labels = [MARK_LABELS[mark] if mark else "" for mark in (one.mark, one.automatic)]
    source = fact.url if fact else ""
    return said.id, labels[0], said.text, one.reason, one.closest, source, cites, one.overruled, labels[1]
