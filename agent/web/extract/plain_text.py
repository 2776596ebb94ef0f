"""Plain text as it is read: wrapped lines joined, underlined titles as headings, without running heads and
tables of contents with leaders."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from agent.text import urls
from agent.text.normalization import normalize_characters
from agent.text.sentences import join_wrapped_lines
from agent.types import Heading, Link
from agent.web.extract.extraction import Extraction

MIN_PAGES = 3
"""A line at the edge of at least so many pages, and of half of them, is a running head."""
EDGE_LINES = 2
"""Lines at the top and the foot of a page that may be running heads."""
MIN_CONTENTS_LINES = 3
"""So many lines that lead to page numbers in order are a table of contents."""
MAX_CONTENTS_CHARS = 300
"""A longer line is no entry of contents (the pattern takes quadratic time)."""
_LEADER = re.compile(r"(?<=\S)[ \t]*(?:\.[ \t]?){4,}[ \t]*(?=\S)")
_CONTENTS_LINE = re.compile(r".*?\S[ \t]*(?:\.[ \t]?){4,}[ \t]*(?P<page>\d{1,4}|[ivxlc]{1,7})[ \t]*")
_JSON = re.compile(r"\s*(?:\{.*\}|\[.*\])\s*", re.DOTALL)
_UNDERLINE = re.compile(r"[ \t]*([=\-~^\"'*#+])\1{2,}[ \t]*")
_LEVELS = {"=": 1, "#": 1, "*": 1, "-": 2}


def extract_plain_text(source: str, url: str) -> Extraction:
    """The text with its underlined titles as headings and the addresses in it as links; JSON as it is."""
    source = normalize_characters(source.replace("\r\n", "\n").replace("\r", "\n"))
    if _JSON.fullmatch(source):
        links = [Link(url=address) for address in urls.find_urls(source)]
        return Extraction(title=name_in_address(url), text=source.strip(), links=links)
    lines = _drop_contents(_drop_running_heads(source).split("\n"))
    text = join_wrapped_lines("\n".join(_LEADER.sub(" ", line.rstrip()) for line in lines)).strip("\n")
    text, headings = _read_headings(text)
    name = name_in_address(url)
    links = [Link(url=address) for address in urls.find_urls(source)]
    return Extraction(title=headings[0].text if headings else name, text=text, headings=headings, links=links)


def name_in_address(url: str) -> str:
    """The last part of an address's path; "" for a document's, which is named by its label."""
    return "" if url.startswith(urls.FILE_SCHEME) else url.rstrip("/").rsplit("/", 1)[-1].split("?")[0]


def _drop_running_heads(source: str) -> str:
    """A text whose pages end in form feeds, without the lines that repeat at their edges but for numbers."""
    pages = [page.split("\n") for page in source.split("\f")]
    if len(pages) < MIN_PAGES:
        return source.replace("\f", "\n\n")
    edges = Counter(key for page in pages for key in {_mask(page[n]) for n in _edge_lines(page)})
    heads = {key for key, times in edges.items() if times >= max(MIN_PAGES, len(pages) / 2)}
    kept: list[str] = []
    for page in pages:
        dropped = {n for n in _edge_lines(page) if _mask(page[n]) in heads}
        body = "\n".join(line for n, line in enumerate(page) if n not in dropped).strip("\n")
        last = kept[-1].rstrip()[-1:] if kept else ""
        goes_on = last.isalnum() or last in ",-"
        kept.append(("\n" if goes_on else "\n\n") + body if kept else body)
    return "".join(kept)


def _edge_lines(page: list[str]) -> list[int]:
    filled = [n for n, line in enumerate(page) if line.strip()]
    return sorted({*filled[:EDGE_LINES], *filled[-EDGE_LINES:]})


def _mask(line: str) -> str:
    return re.sub(r"\d+|\s+", " ", line).strip()


def _drop_contents(lines: list[str]) -> list[str]:
    """The lines without tables of contents: neighbours with leaders to page numbers that never fall."""
    kept: list[str] = []
    run: list[tuple[str, str]] = []
    for line in [*lines, "end"]:
        if len(line) <= MAX_CONTENTS_CHARS and (found := _CONTENTS_LINE.fullmatch(line)):
            run.append((line, found["page"]))
        elif line.strip() or not run:
            pages = [int(page) for _, page in run if page.isdecimal()]
            is_contents = len(run) >= MIN_CONTENTS_LINES and all(a <= b for a, b in pairwise(pages))
            kept += [] if is_contents else [line for line, _ in run]
            run = []
            kept.append(line)
    return kept[:-1]


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
