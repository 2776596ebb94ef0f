"""Markdown as a Reading: headings, pipe tables and links found, their marks taken out of the text; what
stands in a code block stays.

A reader of text, not a renderer: it follows CommonMark's headings and fences and GitHub's tables, and leaves
everything else alone."""

from __future__ import annotations

import re

from agent.text import urls
from agent.types import Heading, Link, Outcome, Table
from agent.web.extract.extraction import Extraction

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]\(\s*<?([^\s()<>]{1,2000}(?:\([^\s()]{0,200}\)[^\s()<>]{0,200})?)>?"
    r"(?:\s+[\"'(][^\n\"')]{0,300}[\"')])?\s*\)"
)
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^\n]{1,500}?)(?<=\S)\1")
_TITLE = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.{1,300}?)[\"']?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,5000}?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)


def extract_markdown(source: str) -> Extraction:
    """The text without its marks; the title is the front matter's, else the first heading of the highest
    level."""
    source = source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    front = _FRONT_MATTER.match(source)
    reader = _MarkdownReader()
    reader.read_lines(source[front.end() :] if front else source)
    stated = _TITLE.search(front[1]) if front else None
    text = "".join(reader.parts).rstrip()
    if not text:
        return Extraction(
            outcome=Outcome.EMPTY, detail="The document holds no text: there is nothing to add."
        )
    top = min((heading.level for heading in reader.headings), default=0)
    title = (
        stated[1]
        if stated
        else next((heading.text for heading in reader.headings if heading.level == top), "")
    )
    links = [Link(url=url, text=told) for url, told in reader.links.items()]
    return Extraction(title=title, text=text, headings=reader.headings, tables=reader.tables, links=links)


class _MarkdownReader:
    """The lines as they are read, and the text as it grows."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.headings: list[Heading] = []
        self.tables: list[Table] = []
        self.links: dict[str, str] = {}

    def read_lines(self, source: str) -> None:
        lines = source.split("\n")
        at, fence = 0, ""
        while at < len(lines):
            line = lines[at]
            mark = _FENCE.match(line)
            if fence or mark:
                fence = self._read_code_line(line, mark[1] if mark else "", fence)
                at += 1
            elif heading := _ATX.fullmatch(line):
                self._add_heading(heading[2] or "", len(heading[1]))
                at += 1
            elif (
                "|" in line
                and at + 1 < len(lines)
                and "|" in lines[at + 1]
                and _TABLE_RULE.fullmatch(lines[at + 1])
            ):
                at = self._add_table(lines, at)
            elif under := self._setext_level(lines, at):
                self._add_heading(line, under)
                at += 2
            else:
                self._add_line(self._strip_markup(line).rstrip())
                at += 1

    def _setext_level(self, lines: list[str], at: int) -> int:
        """The level of the heading that the next line makes of this one; 0 when it makes none."""
        line = lines[at].strip()
        under = (
            _SETEXT.fullmatch(lines[at + 1])
            if line and at + 1 < len(lines) and line[0] not in ">-*"
            else None
        )
        return 0 if under is None else 1 if under[1][0] == "=" else 2

    def _read_code_line(self, line: str, mark: str, fence: str) -> str:
        """A line of a code block, or its fence (which is left out); returns the fence that is open after
        it."""
        if not fence:
            return mark
        if mark.startswith(fence) and not line.strip(" `~"):
            return ""
        self._add_line(line)
        return fence

    def _add_heading(self, text: str, level: int) -> None:
        told = " ".join(self._strip_markup(text).split())
        if told:
            self.headings.append(Heading(start=self.length, level=level, text=told))
            self._add_line(told)

    def _add_table(self, lines: list[str], at: int) -> int:
        rows = [self._split_cells(lines[at])]
        at += 2
        while at < len(lines) and "|" in lines[at]:
            rows.append((self._split_cells(lines[at]) + [""] * len(rows[0]))[: len(rows[0])])
            at += 1
        start = self.length
        for row in rows:
            self._add_line(" | ".join(row))
        self.tables.append(Table(start=start, end=self.length - 1, rows=rows))
        return at

    def _split_cells(self, line: str) -> list[str]:
        bare = line.strip().removeprefix("|")
        bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
        return [self._strip_markup(cell.strip()).replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", bare)]

    def _strip_markup(self, line: str) -> str:
        return _BOLD.sub(r"\2", _LINK.sub(self._keep_link_text, line))

    def _keep_link_text(self, match: re.Match[str]) -> str:
        if not match[0].startswith("!") and (address := urls.resolve("", match[2])):
            self.links.setdefault(address, match[1])
        return match[1]

    def _add_line(self, line: str) -> None:
        self.parts.append(f"{line}\n")
        self.length += len(self.parts[-1])
