"""A text as sentences with what they cite.

A citation covers the sentence it stands in or right behind. When the last sentence of a paragraph cites and
no other one does, it covers them all; an address on a line of its own covers the paragraph above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from agent.evidence.report_words import list_marks
from agent.flows.check_text.references import (
    MAX_LABEL_WORDS,
    Line,
    Mark,
    blank_spans,
    find_marks,
    read_references,
)
from agent.text.sentences import find_sentence_spans
from agent.types import Anchor, Citation, Page, TextSentence
from agent.types.checked_text import SentenceKind

MAX_SENTENCES = 2_000
"""Sentences of one text that are checked; of a longer one the first, and it is told."""
_QUESTION_END = re.compile(r"[?？؟][\"'”’»)\]]*$")
_SENTENCE_END = re.compile(r"[.!?…。！？।۔؟][\"'”’»)\]]*$")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•‣▪◦–]|\(?\d{1,3}[.)])\s+")


def split_text(page: Page, anchors: Sequence[Anchor] = ()) -> list[TextSentence]:
    """The sentences of a page in order, headings, questions and references among them."""
    lines = list(_read_lines(page, anchors))
    references = read_references(lines, page.final_url)
    found: list[TextSentence] = []
    for n, line in enumerate(lines):
        marks, kind = find_marks(line, references), line.kind
        if kind not in ("heading", "code"):
            is_alone = line.is_address_alone and line.start not in references.lines
            kind = "reference" if is_alone or line.start in references.lines else ""
            after = lines[n + 1] if n + 1 < len(lines) else None
            if is_alone and not (after and not after.kind and after.is_address_alone):
                top = n - 1
                while top > 0 and lines[top].kind == lines[top - 1].kind == "row":
                    top -= 1
                above = [
                    one for one in found if top <= one.paragraph < n and one.kind in ("claim", "question")
                ]
                _cover(above, _join_citations(marks))
        if kind:
            whole = TextSentence(id="", start=line.start, end=line.end, text=line.text, kind=kind)  # type: ignore[arg-type]
            found.append(whole.replace(paragraph=n, level=line.level))
        else:
            cut = _split_line(line, n, marks)
            beside = lines[max(0, n - 1) : n] + lines[n + 1 : n + 2]
            has_table = any(one.kind == "row" or (one.kind == "heading" and not one.level) for one in beside)
            is_caption = has_table and not any(one.start <= line.start < one.end for one in page.blocks)
            if is_caption and len(cut) == 1 and not (line.kind or marks or _SENTENCE_END.search(line.text)):
                cut[0].kind = "label"
            found += cut
    return [one.model_copy(update={"id": f"s{n}"}) for n, one in enumerate(found, start=1)]


def _cover(sentences: Sequence[TextSentence], citations: list[Citation]) -> None:
    """Let citations cover these sentences of a paragraph, where none of them cites anything itself."""
    if citations and not any(one.citations for one in sentences):
        for one in sentences:
            one.citations, one.covered = citations, True


def _read_lines(page: Page, anchors: Sequence[Anchor]) -> Iterator[Line]:
    """The lines of a page that are not empty, with what its structure says of them. In a table's row each
    cell has the name of its column, and links move with their cells; the row of names is a heading."""
    headings = {heading.start: heading.level for heading in page.headings}
    code = [(block.start, block.end) for block in page.blocks if block.kind == "code"]
    items = {block.start for block in page.blocks if block.kind == "item"}
    for match in re.finditer(r"[^\n]*\S[^\n]*", page.text):
        start, text = match.start(), match.group()
        line = Line(start, match.end(), text, is_item=start in items)
        line.anchors = [anchor for anchor in anchors if start <= anchor.start < match.end()]
        table = next((table for table in page.tables if table.start <= start < table.end), None)
        level = next((headings[at] for at in range(start, start + 8) if at in headings), 0)
        if level:
            line.kind, line.level = "heading", level
        elif any(a <= start < b for a, b in code):
            line.kind = "code"
        elif table:
            line.kind = "heading" if table.headed and start == table.start else "row"
            cells, names = text.split(" | "), table.rows[0] if table.headed and table.rows else []
            if line.kind == "row" and len(names) == len(cells):  # "Year: 1962; Staff: 1,240"
                parts, moved, was, now = list[str](), list[Anchor](), start, start
                for name, cell in zip(names, cells, strict=True):
                    label = f"{name}: " if name else ""
                    by = now + len(label) - was
                    inside = (one for one in line.anchors if was <= one.start < was + len(cell))
                    moved += [Anchor(one.start + by, one.end + by, one.url) for one in inside]
                    parts.append(label + cell)
                    was, now = was + len(cell) + len(" | "), now + len(parts[-1]) + len("; ")
                line.text, line.anchors = "; ".join(parts), moved
        yield line


def _split_line(line: Line, paragraph: int, marks: Sequence[Mark]) -> list[TextSentence]:
    """The sentences of a line with their citations: claims, unless structure says that they are none."""
    bare = blank_spans(line.text, ((mark.start, mark.end) for mark in marks if mark.is_cut))
    spans = [(0, len(bare))] if line.kind == "row" else list(_cut_at_marks(bare, marks))
    sentences: list[TextSentence] = []
    for n, (start, end) in enumerate(spans):
        following = spans[n + 1][0] if n + 1 < len(spans) else len(bare)
        own = [mark for mark in marks if (start if n else 0) <= mark.start < following]
        words = re.sub(r"[(\[]\s*[)\]]", " ", " ".join(_LIST_MARK.sub("", bare[start:end]).split()))
        words = re.sub(r"\s+(?=[.,;:!?)\]])", "", words).strip()
        if sentences and words.startswith("(") and words[1:].startswith(list_marks()):
            words = words.partition(")")[2].strip()  # the mark of the sentence before
        is_label = len(words.split()) <= MAX_LABEL_WORDS and not any(map(str.isdecimal, words))
        is_pointer = own and "://" in line.text[own[0].start : own[0].end]  # "See https://…"
        if sentences and is_pointer and is_label:
            sentences[-1].citations += _join_citations(own)
            continue
        is_label = is_label and len(spans) == 1 and not _SENTENCE_END.search(words)
        kind: SentenceKind = "label" if not words or is_label else "claim"
        stop = max([end, *(mark.end for mark in own)])
        at = (line.start, line.end) if line.kind == "row" else (line.start + start, line.start + stop)
        sentences.append(
            TextSentence(
                id="",
                start=at[0],
                end=at[1],
                text=words,
                kind="question" if _QUESTION_END.search(words) else kind,
                paragraph=paragraph,
                level=line.level,
                citations=_join_citations(own),
            )
        )
    if sentences:
        _cover(sentences[:-1], sentences[-1].citations)
    return sentences


def _cut_at_marks(bare: str, marks: Sequence[Mark]) -> Iterator[tuple[int, int]]:
    """The sentences of a line, whose marks are blank; a full stop beside a mark ends one whatever follows."""
    cuts = set[int]()
    for mark in marks if bare else ():
        before, after = bare[: mark.start].rstrip(), bare[mark.end :].lstrip()
        if mark.is_cut and _SENTENCE_END.match(after[:1]):
            cuts.add(len(bare) - len(after) + 1)
        elif mark.is_cut and _SENTENCE_END.search(before) and not before.endswith("al."):
            cuts.add(len(bare) - len(after))
    for start, end in find_sentence_spans(bare):
        for stop in [*sorted(cut for cut in cuts if start < cut < end), end]:
            if piece := bare[start:stop].strip():
                at = bare.index(piece, start)
                yield at, at + len(piece)
            start = stop


def _join_citations(marks: Iterable[Mark]) -> list[Citation]:
    """All citations, each address once."""
    joined = [citation for mark in marks for citation in mark.citations]
    return list({one.url or one.label or one.trouble: one for one in joined}.values())
