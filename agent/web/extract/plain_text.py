"""Plain text as it is read: wrapped lines joined, underlined titles as headings; and the texts that are
Markdown, CSV or JSON-lines."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from functools import partial
from itertools import islice, pairwise
from typing import Any

from agent.text import urls
from agent.text.normalization import normalize_characters
from agent.text.sentences import LIST_MARK
from agent.types import Heading, Link, Outcome
from agent.web.extract.extraction import MAX_COLUMNS, MAX_ROWS, Extraction
from agent.web.extract.text_blocks import extract_fragment
from agent.web.extract.writer import DocumentWriter

_JSON = re.compile(r"\s*(?:\{.*\}|\[.*\])\s*", re.DOTALL)
_UNDERLINE = re.compile(r"[ \t]*([=\-~^\"'*#+])\1{2,}[ \t]*")
_LEVELS = {"=": 1, "#": 1, "*": 1, "-": 2}
MIN_WIDTH, MAX_WIDTH = 40, 130
"""The widths at which texts are wrapped: RFC 5322 recommends 78 characters, newspapers set about 40."""
MIN_FULL_SHARE = 0.7
"""The share of lines with another below them that are full in a text that was wrapped; the last line of a
paragraph may be shorter."""
MIN_LINE_WORDS = 4
"""Words of a line of prose; a line of code may have fewer."""
CODE_INDENT = 4
"""Columns from which lines are indented on purpose (Markdown's measure for code)."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_CLOSED = re.compile(r"(?:[.!?…:;。！？।۔؟|][\"'”’»)\]]*(?:\[\d+\])*|[=\-_*~]{3,})\s*$")
"""A line that ends with a terminal mark, or consists of a rule."""
_ASSIGNMENT = re.compile(r"\s*[\w.-]+\s?[:=]")


def extract_plain_text(source: str) -> Extraction:
    """The text with its underlined titles as headings and the addresses in it as links; JSON as it is."""
    source = normalize_characters(source.replace("\r\n", "\n").replace("\r", "\n"))
    links = [Link(url=address) for address in urls.find_urls(source)]
    if _JSON.fullmatch(source):
        return Extraction(text=source.strip(), links=links)
    lines = map(str.rstrip, source.replace("\f", "\n\n").split("\n"))
    text = join_wrapped_lines("\n".join(lines)).strip("\n")
    text, headings = _read_headings(text)
    return Extraction(title=headings[0].text if headings else "", text=text, headings=headings, links=links)


def _read_headings(text: str) -> tuple[str, list[Heading]]:
    """The text without lines drawn below its titles, and the titles. Lines between columns are none."""
    kept: list[str] = []
    headings: list[Heading] = []
    length = 0
    lines = text.split("\n")
    for n, line in enumerate(lines):
        underline = _UNDERLINE.fullmatch(line)
        title = kept[-1].strip() if kept else ""
        is_title = underline and title and len(title) <= len(line.strip()) + 3 and "|" not in title
        if (
            underline
            and is_title
            and (len(kept) < 2 or not kept[-2].strip() or _UNDERLINE.fullmatch(lines[n - 2]))
        ):
            start = length - len(kept[-1]) - 1 + kept[-1].index(title)
            headings.append(Heading(start=start, level=_LEVELS.get(underline[1], 3), text=title))
            line = ""
        kept.append(line)
        length += len(line) + 1
    return "\n".join(kept).rstrip("\n"), headings


# Markdown as text: rendered as HTML by markdown-it-py (CommonMark with GitHub's tables) and read as such.
# Tags in it stay text; the numbers of lists and the texts of pictures are kept.

_TITLE = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.{1,300}?)[\"']?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,5000}?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)


def extract_markdown(source: str) -> Extraction:
    """The text without its marks; the title is the front matter's, else the first highest heading."""
    source = normalize_characters(source.replace("\r\n", "\n").replace("\r", "\n"))
    front = _FRONT_MATTER.match(source)
    stated = _TITLE.search(front[1]) if front else None
    reading = extract_fragment(_render(source[front.end() :] if front else source))
    if not reading.text:
        nothing = "The document holds no text: there is nothing to add."
        return Extraction(outcome=Outcome.EMPTY, detail=nothing)
    top = min(reading.headings, key=lambda heading: heading.level, default=None)
    reading.title = stated[1] if stated else top.text if top else ""
    return reading


def _render(source: str) -> str:
    from markdown_it import MarkdownIt  # imported here: few documents need it
    from markdown_it.common.utils import escapeHtml
    from markdown_it.token import Token

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("image", lambda _, tokens, n, *__: escapeHtml(tokens[n].content))
    tokens = parser.parse(source)
    for one, inner, last, after in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        if one.type == "list_item_open" and one.info and last.children:
            last.children.insert(0, Token("text", "", 0, content=f"{one.info}. "))
        signs = [child.type for child in inner.children or () if child.type != "text"]
        if after.type == "table_open" and signs == ["em_open", "em_close"] and inner.content[0] in "*_":
            one.tag = last.tag = "figcaption" if inner.content[-1] in "*_" else "p"
    return str(parser.renderer.render(tokens, parser.options, {}))


# Tables as text: CSV and TSV (the delimiter is detected, the first row is the header, each row is a line of
# text), and JSON-lines (a table of their fields, or a section for each record when they hold texts).

MAX_CELL_CHARACTERS = 5_000
LONG_CELL_CHARACTERS = 300
"""A record with a longer text is no row of a table but a section of its own: it holds sentences."""
_CUT = f"Only the first {MAX_ROWS:,} rows were read."
_SAMPLE = 65_536


def extract_csv(text: str, delimiter: str = "") -> Extraction:
    """The rows as one table and as text: cells joined by " | ", one row a line. Empty rows are left out.
    `delimiter` is the expected one: it counts where any line holds it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first) == 5:  # Excel's way to name the delimiter
        text, delimiter = rest, first[4]
    elif not delimiter or delimiter not in text[:_SAMPLE]:
        delimiter = max(",;\t|", key=lambda one: _count_columns(text[:_SAMPLE], one))
    try:
        read = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
        cells = ([" ".join(cell.split())[:MAX_CELL_CHARACTERS] for cell in row[:MAX_COLUMNS]] for row in read)
        return _build_table(list(islice(filter(any, cells), MAX_ROWS + 2)))
    except csv.Error:
        odd = "has no end (a quote is opened and not closed?), or more than 131,072 characters"
        detail = f"A cell of the table {odd}. Open it in a spreadsheet and save it as CSV again."
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=detail)


extract_tsv = partial(extract_csv, delimiter="\t")


def _count_columns(sample: str, delimiter: str) -> float:
    """Into how many cells a delimiter divides the usual row of the first ones, by the share of these rows."""
    try:
        widths = [len(row) for row in csv.reader(io.StringIO(sample), delimiter=delimiter) if row][:50]
    except csv.Error:
        return 0.0
    usual, count = Counter(widths).most_common(1)[0] if widths else (1, 1)
    return (usual - 1) * count / max(1, len(widths))


def _build_table(rows: list[list[str]]) -> Extraction:
    """A header and its rows, MAX_ROWS of these at most."""
    if not rows:
        return Extraction(outcome=Outcome.EMPTY, detail="The table has no rows: nothing was added.")
    writer = DocumentWriter()
    writer.write_table(rows[: MAX_ROWS + 1])
    return writer.finish(detail=_CUT if len(rows) > MAX_ROWS + 1 else "")


def extract_json_lines(text: str) -> Extraction:
    """The records, one JSON value a line. Outcome `unsupported`, with the line, when one is no JSON."""
    records: list[dict[str, str]] = []
    for number, line in enumerate(text.replace("\r", "\n").lstrip("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            detail = (
                f"Line {number} is not JSON: every line must hold one JSON value. Correct it, and try again."
            )
            return Extraction(outcome=Outcome.UNSUPPORTED, detail=detail)
        fields = value if isinstance(value, dict) else {"value": value}
        records.append({str(name): _format_value(held) for name, held in fields.items()})
        if len(records) > MAX_ROWS:
            break
    if any(_is_long(text) for record in records for text in record.values()):
        return _build_sections(records)
    names = list(dict.fromkeys(name for record in records for name in record))[:MAX_COLUMNS]
    rows = [[" ".join(record.get(name, "").split()) for name in names] for record in records]
    return _build_table([names, *rows] if rows else [])


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _is_long(text: str) -> bool:
    return len(text) > LONG_CELL_CHARACTERS or "\n" in text


def _build_sections(records: list[dict[str, str]]) -> Extraction:
    """A section for each record: its first short text is the heading, each field a paragraph."""
    writer = DocumentWriter()
    for number, record in enumerate(records[:MAX_ROWS], start=1):
        short = [text for text in record.values() if text and not _is_long(text)]
        named = record.get("title") or record.get("name") or next(iter(short), "")
        title = named if named in short else f"Record {number}"
        writer.write_heading(title, 2)
        for name, value in record.items():
            if value != title:
                writer.write_block(f"{name}: {value}" if value in short else value)
    return writer.finish(detail=_CUT if len(records) > MAX_ROWS else "")


def find_stretches(text: str) -> list[tuple[int, int]]:
    """The spans of the stretches of a text, in order: each line that is not blank, together with those in
    which it reads on. A blank line, a list mark, or a terminal mark at a line's end closes a stretch."""
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text)]
    if not lines:
        return []
    # The width at which a text was wrapped; 0 where it was not
    pairs = [
        (end - start, _first_word_length(text, after))
        for (start, end), after in pairwise(lines)
        if text.count("\n", end, after[0]) == 1
    ]
    width = max((length for length, _ in pairs), default=0)
    full = sum(length + 1 + word > width for length, word in pairs)
    is_wrapped = len(pairs) > 1 and MIN_WIDTH <= width <= MAX_WIDTH and full >= MIN_FULL_SHARE * len(pairs)
    width = width if is_wrapped else 0
    stretches = [lines[0]]
    for line, following in pairwise(lines):
        if _reads_on(text, line, following, width):
            stretches[-1] = (stretches[-1][0], following[1])
        else:
            stretches.append(following)
    return stretches


def join_wrapped_lines(text: str) -> str:
    """The text with each stretch on one line and divided words whole again. Blank lines stay, as one."""
    parts: list[str] = []
    end = 0
    for start, stop in find_stretches(text):
        parts.append("\n\n" if text.count("\n", end, start) > 1 else "\n")
        first, *rest = text[start:stop].split("\n")
        line = first.rstrip()
        for more in rest:
            line = _join(line, more.strip())
        parts.append(line)
        end = stop
    return "".join(parts[1:])


def _join(line: str, more: str) -> str:
    """Two lines as one. A hyphen between lower-case letters divided a word, or belongs to it ("well-known"):
    the quote check reads both alike."""
    if line.endswith("\u00ad") or (line.endswith("-") and line[-2:-1].islower() and more[:1].islower()):
        return line[:-1] + more
    return line + more if line.endswith("-") and line[-2:-1].isalnum() else f"{line} {more}"


def _first_word_length(text: str, line: tuple[int, int]) -> int:
    return len(text[line[0] : line[1]].split(None, 1)[0])


def _reads_on(text: str, line: tuple[int, int], following: tuple[int, int], width: int) -> bool:
    above, below = text[line[0] : line[1]], text[following[0] : following[1]]
    if (
        text.count("\n", line[1], following[0]) != 1
        or _CLOSED.search(above)
        or _CLOSED.fullmatch(below)
        or LIST_MARK.match(below)
        or " | " in above
        or " | " in below
    ):
        return False
    if len(above.split()) < MIN_LINE_WORDS:
        return False
    if len(above) + 1 + _first_word_length(text, following) > width > 0:
        return True
    indent = len(below) - len(below.lstrip())
    is_code = below[0] == "\t" or (indent >= CODE_INDENT and not LIST_MARK.match(above))
    is_long = len(above) >= MIN_WIDTH and not _ASSIGNMENT.match(below)
    return is_long and not is_code and (below.lstrip()[0].islower() or above.endswith((",", "-")))
