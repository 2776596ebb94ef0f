"""Splits a page's text into passages as a person would cut them: paragraphs under one heading, a term with
its definition, table rows with their header, a list or code with the line that introduces it, a post. Links
alone (contents, menus) are no passage, unless a line introduces them.

Offsets are the page's own, so a quote found in a passage is found in the page. Headings are not part of a
passage's text but of its path. Knows nothing of questions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from agent.retrieval.page_structure import Piece, build_pieces, find_lines, infer_headings
from agent.text.sentences import find_sentence_spans
from agent.types import Page, Passage
from agent.types.web import PassageKind

__all__ = ["infer_headings", "split_passages", "split_sentences"]

PASSAGES_VERSION = 4
"""Raised when pages are split in another way: the library then splits its pages again."""
PASSAGE_CHARS, SHARED_CHARS, INTRO_CHARS = 900, 500, 300
"""Characters a passage may have before it is closed at the end of a sentence, an item or a row; up to which
neighbouring paragraphs under one heading share a passage; and above which a paragraph before a list or code
block introduces it with its last sentence only."""
MIN_MEAN_CHARS = 40
"""Characters of a text for each passage that is kept of it: no honest page is cut so small."""
PASSAGE_ROWS = 8
"""Table rows in one passage."""
MAX_TEXT_CHARS = 400_000
"""Characters of a page that are split, unless more are asked for."""
MIN_SENTENCE_CHARS = 12
"""A shorter line is not a sentence."""
MAX_PATH, PATH_SEPARATOR = 60, " › "
"""Headings that are looked back at for the path."""
MAX_DESCRIPTION_CHARS, DESCRIBED_CHARS = 280, 6_000
"""Characters of a description of a page, and of the beginning of its text that it is made of."""
MIN_TELLING_WORDS, MIN_TELLING_CHARS = 6, 14
"""Words of a sentence that tells something; characters where words are not parted by blanks."""
_FIGURE = re.compile(r"\s*[-−±+<>≤≥~≈$€£]?\s?(?!(?:19|20)\d\d\b)\d")
"""A cell that begins with a figure, other than a year."""
Span = tuple[int, int]


def split_passages(page: Page, page_id: str, *, longest: int = MAX_TEXT_CHARS) -> list[Passage]:
    """All passages of a page in the order of its text; `id` is unique within the page and carries `page_id`.
    The text of a definition, list or code block holds its label, of a longer one its first passage only."""
    page = infer_headings(page.replace(text=page.text[:longest]))
    text = page.text
    splitter = _Splitter(page, text)
    splitter.cut(build_pieces(page, text), _Place())
    return [
        Passage(
            id=f"{page_id}:{n}",
            page_id=page_id,
            url=page.final_url or page.url,
            title=page.title,
            heading=cut.heading,
            kind=cut.kind,
            label=cut.label,
            text=text[cut.start : cut.end],
            start=cut.start,
            end=cut.end,
            published_at=page.published_at,
        )
        for n, cut in enumerate(splitter.found[: longest // MIN_MEAN_CHARS])
    ]


def split_sentences(passage: Passage) -> list[str]:
    """The sentences of a passage without its title and heading; the lines of rows and code."""
    if passage.kind in ("rows", "code"):
        return [line.strip() for line in passage.text.split("\n") if line.strip()]
    above = {passage.title, passage.heading.split(PATH_SEPARATOR)[-1]}
    found = [passage.text[start:end] for start, end in find_sentence_spans(passage.text)]
    return [sentence for sentence in found if len(sentence) >= MIN_SENTENCE_CHARS and sentence not in above]


@dataclass(frozen=True)
class _Place:
    """What pieces are cut for: the kind and label of the prose among them, and the terms around them."""

    kind: PassageKind = "prose"
    label: str = ""
    terms: tuple[str, ...] = ()


@dataclass
class _Cut:
    """A passage to be."""

    start: int
    end: int
    heading: str
    kind: PassageKind
    label: str


class _Splitter:
    """Cuts pieces into passages, in order."""

    def __init__(self, page: Page, text: str) -> None:
        self.page, self.text = page, text
        self.found: list[_Cut] = []
        self._sections = [heading.start for heading in page.headings]
        self._paths: dict[int, list[str]] = {}

    def cut(self, pieces: Sequence[Piece], place: _Place) -> None:
        """Cut neighbouring pieces of one level."""
        groups = list(self._group(pieces))
        intro: Span | None = None
        for n, (kind, group) in enumerate(groups):
            following = groups[n + 1][0] if n + 1 < len(groups) else ""
            if kind == "paragraph":
                opens_links = following == "links" and self.text[group[-1].end - 1] in ":："
                spans, intro = [(piece.start, piece.end) for piece in group], None
                if opens_links or following in ("item", "code"):
                    # the last paragraph, or its last sentence, introduces what follows
                    start, end = spans.pop()
                    if end - start > INTRO_CHARS:
                        last = find_sentence_spans(self.text[start:end])[-1][0] + start
                        if last > start:
                            spans.append((start, last))
                        start = last
                    intro = (start, end)
                self._add_prose(spans, place)
                continue
            if kind == "definition":
                self._add_definition(group, place)
            elif kind == "item":
                self._add_list(group, place, intro)
            elif kind == "code":
                self._add_code(group, place, intro)
            elif kind == "table":
                self._add_rows(group[0], place)
            elif kind == "links" and intro:
                self._add_list(_contents(group[0]), place, intro)
            elif kind == "post" and group[0].end - group[0].start > PASSAGE_CHARS:
                self.cut(_contents(group[0]), _Place("post", "", place.terms))
            elif kind == "post":
                self._add(group[0].start, group[0].end, place, "post", "")
            elif kind == "lone heading" and len(group) > 1:
                self._add(group[0].start, group[-1].end, place, "prose", "")
            intro = None

    def _group(self, pieces: Sequence[Piece]) -> Iterator[tuple[str, list[Piece]]]:
        """Pieces that are cut together: paragraphs under one heading, terms with their definitions, a list,
        neighbouring code, headings; and apart from them headings with nothing below."""
        group: list[Piece] = []
        kind, path = "", list[str]()
        for n, piece in enumerate(pieces):
            key: str = "definition" if piece.kind == "term" else piece.kind
            if key == "heading":
                below = pieces[n + 1] if n + 1 < len(pieces) else None
                if below is None or (below.kind == "heading" and below.level <= piece.level):
                    key = "lone heading"  # nothing stands below it
                here = path
            else:
                here = self._headings_over(piece.start)
            opens = key != kind or here != path or key in ("table", "post", "links")
            opens = opens or (piece.kind == "term" and group[-1].kind == "definition")
            if group and opens:
                yield kind, group
                group = []
            kind, path = key, here
            group.append(piece)
        if group:
            yield kind, group

    def _add_prose(self, spans: Sequence[Span], place: _Place) -> None:
        """The spans, each that is too long as its sentences in stretches."""
        pieces: list[Span] = []
        for start, end in map(self._trim, spans):
            if end - start > PASSAGE_CHARS:
                sentences = find_sentence_spans(self.text[start:end])
                pieces += _pack([(start + a, start + b) for a, b in sentences], PASSAGE_CHARS)
            elif start < end:
                pieces.append((start, end))
        for start, end in _pack(pieces, SHARED_CHARS):
            self._add(start, end, place, place.kind, place.label)

    def _add_definition(self, group: list[Piece], place: _Place) -> None:
        """A term with its definition; of a long one the term with its beginning, then the rest."""
        terms = [piece for piece in group if piece.kind == "term"]
        bodies = [piece for piece in group if piece.kind == "definition"]
        if not terms or not bodies:
            inner = [part for piece in group for part in _contents(piece)]
            self.cut(inner, place)
            return
        label = self.text[terms[0].start : terms[-1].end]
        start, end = terms[0].start, bodies[-1].end
        if end - start <= PASSAGE_CHARS and not any(body.holds("table") for body in bodies):
            self._add(start, end, place, "definition", label)
            return
        before = len(self.found)
        inner = [part for body in bodies for part in _contents(body)]
        self.cut(inner, _Place("definition", label, (*place.terms, _flat(label))))
        if len(self.found) == before:
            self._add(start, end, place, "definition", label)
            return
        first = self.found[before]
        if first.kind == "rows" or (first.kind == "definition" and first.label != label):
            self.found.insert(
                before, _Cut(start, terms[-1].end, self._path(start, place), "definition", label)
            )
        else:
            first.start, first.kind, first.label = start, "definition", label
            first.heading = self._path(start, place)
        for cut in self.found[before + 1 :]:
            if cut.kind == "definition" and cut.label == label:
                cut.heading = self._path(start, place)

    def _add_list(self, items: list[Piece], place: _Place, intro: Span | None) -> None:
        """A list with its introducing line; a long one in groups of items that all carry the line. A long
        item, and one that holds a table, is cut by itself."""
        label = self._label(intro) or place.label
        start = intro[0] if intro else items[0].start
        is_apart = [item.end - item.start > PASSAGE_CHARS or item.holds("table") for item in items]
        if items[-1].end - start <= PASSAGE_CHARS and not any(is_apart):
            self._add(start, items[-1].end, place, "list", label)
            return
        at = len(self.found)
        for is_cut, pairs in groupby(zip(is_apart, items, strict=True), key=lambda pair: pair[0]):
            run = [item for _, item in pairs]
            if not is_cut:
                for left, right in _pack([(item.start, item.end) for item in run], PASSAGE_CHARS):
                    self._add(left, right, place, "list", label)
                continue
            for item in run:
                self.cut(_contents(item), _Place("list", label, place.terms))
        if len(self.found) > at and self.found[at].kind != "rows":
            self.found[at].start = start
        elif intro:
            self.found.insert(at, _Cut(*self._trim(intro), self._path(start, place), place.kind, place.label))

    def _add_code(self, blocks: list[Piece], place: _Place, intro: Span | None) -> None:
        """Code with the sentence before it; long code in stretches of lines."""
        label = self._label(intro) or place.label
        start, end = intro[0] if intro else blocks[0].start, blocks[-1].end
        if end - start <= PASSAGE_CHARS:
            self._add(start, end, place, "code", label)
            return
        at = len(self.found)
        lines = [span for block in blocks for span in find_lines(self.text, block.start, block.end)]
        for left, right in _pack(lines, PASSAGE_CHARS):
            self._add(left, right, place, "code", label)
        self.found[at].start = start

    def _add_rows(self, piece: Piece, place: _Place) -> None:
        """Groups of rows; the label of each is the table's header row. A caption stands in the path."""
        table = piece.table
        if table is None or not (lines := find_lines(self.text, table.start, table.end)):
            return
        header, first = "", table.rows[0] if table.rows else []
        # the first of two columns' rows may be a statement ("Weight", "310 g") rather than column names
        if table.headed and not (len(first) == 2 and _FIGURE.match(first[1])):
            header = " | ".join(table.rows[0]) if table.rows else self.text[lines[0][0] : lines[0][1]]
        above = _Place(terms=(*place.terms, _flat(table.caption))) if table.caption else place
        for i in range(0, len(lines), PASSAGE_ROWS):
            group = lines[i : i + PASSAGE_ROWS]
            self._add(group[0][0], group[-1][1], above, "rows", header)

    def _label(self, intro: Span | None) -> str:
        """The last sentence of an introduction."""
        if intro is None:
            return ""
        text = self.text[intro[0] : intro[1]]
        start, end = find_sentence_spans(text)[-1]
        return text[start:end]

    def _path(self, offset: int, place: _Place) -> str:
        parts = map(_flat, [*self._headings_over(offset), *place.terms])
        return PATH_SEPARATOR.join(part for part, _ in groupby(parts))  # a caption may repeat its heading

    def _headings_over(self, offset: int) -> list[str]:
        """The headings over an offset, outermost first, without the page's title; once for each section."""
        section = bisect_right(self._sections, offset)
        if section not in self._paths:
            path, level = list[str](), 99
            for heading in reversed(self.page.headings[max(0, section - MAX_PATH) : section]):
                if heading.level < level:
                    level = heading.level
                    if heading.text and heading.text != self.page.title:
                        path.insert(0, heading.text)
            self._paths[section] = path
        return self._paths[section]

    def _add(self, start: int, end: int, place: _Place, kind: PassageKind, label: str) -> None:
        start, end = self._trim((start, end)) if kind != "code" else (start, end)
        if start < end:
            self.found.append(_Cut(start, end, self._path(start, place), kind, label))

    def _trim(self, span: Span) -> Span:
        """The span without blanks around it."""
        inside = self.text[span[0] : span[1]]
        return span[0] + len(inside) - len(inside.lstrip()), span[1] - len(inside) + len(inside.rstrip())


def _contents(piece: Piece) -> list[Piece]:
    """The pieces inside; of a piece without any, the piece as a paragraph."""
    return piece.inner or [Piece("paragraph", piece.start, piece.end)]


def _pack(spans: Sequence[Span], limit: int) -> list[Span]:
    """Neighbouring spans joined as long as they fit the limit."""
    packed: list[Span] = []
    for start, end in spans:
        if packed and end - packed[-1][0] <= limit:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return packed


def _flat(text: str) -> str:
    return " ".join(text.split())


def describe_page(page: Page) -> str:
    """What a page is about, in a line: "Title: first telling sentence — heading; heading"."""
    title, text, first, other = _flat(page.title), page.text[:DESCRIBED_CHARS], "", ""
    for start, end in find_sentence_spans(text):  # the first that says something, else the first of all
        line = _flat(text[start:end])
        is_in_table = any(table.start <= start < table.end for table in page.tables)
        is_unspaced = not line.isascii() and " " not in line and len(line) >= MIN_TELLING_CHARS
        is_told = len(line.split()) >= MIN_TELLING_WORDS or is_unspaced
        other = other or (line if line != title else "")
        if is_told and line != title and line[-1] in '.!?。！？…”"»)' and not is_in_table:
            first = line
            break
    listed = list[str]()
    for heading in page.headings:
        name = _flat(heading.text)
        if heading.level < 4 and name not in ("", title, *listed) and not name.startswith("Page "):
            listed.append(name)
    most = 160 if listed else MAX_DESCRIPTION_CHARS
    told = ": ".join(filter(None, (_truncate(title, 100), _truncate(first or other, most))))
    if listed and len(told) < MAX_DESCRIPTION_CHARS - 30:
        told = " — ".join(filter(None, (told, "; ".join(listed))))
    return _truncate(told or page.url, MAX_DESCRIPTION_CHARS)


def _truncate(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 0.6 else cut).rstrip(" ,;:.") + "…"
