"""Markdown as a Reading: headings, pipe tables and links found, their marks taken out of the text; what stands in a code block stays.

A reader of text, not a renderer: it follows CommonMark's headings and fences and GitHub's tables, and leaves everything else alone.
"""

from __future__ import annotations

import re

from agent import urls
from agent.tools.reading import Reading
from agent.types import Heading, Link, Outcome, Table

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]\(\s*<?([^\s()<>]{1,2000}(?:\([^\s()]{0,200}\)[^\s()<>]{0,200})?)>?"
    r"(?:\s+[\"'(][^\n\"')]{0,300}[\"')])?\s*\)"
)
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^\n]{1,500}?)(?<=\S)\1")
_TITLE = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.{1,300}?)[\"']?[ \t]*$", re.IGNORECASE | re.MULTILINE)
_FRONT = re.compile(r"\A---[ \t]*\n(.{0,5000}?)\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)


def read(source: str) -> Reading:
    """The text without its marks; the title is the front matter's, else the first heading of the highest level."""
    source = source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    front = _FRONT.match(source)
    reader = _Reader()
    reader.all(source[front.end() :] if front else source)
    stated = _TITLE.search(front[1]) if front else None
    text = "".join(reader.parts).rstrip()
    if not text:
        return Reading(outcome=Outcome.EMPTY, detail="The document holds no text: there is nothing to add.")
    top = min((heading.level for heading in reader.headings), default=0)
    title = stated[1] if stated else next((heading.text for heading in reader.headings if heading.level == top), "")
    links = [Link(url=url, text=told) for url, told in reader.links.items()]
    return Reading(title=title, text=text, headings=reader.headings, tables=reader.tables, links=links)


class _Reader:
    """The lines as they are read, and the text as it grows."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.headings: list[Heading] = []
        self.tables: list[Table] = []
        self.links: dict[str, str] = {}

    def all(self, source: str) -> None:
        lines = source.split("\n")
        at, fence = 0, ""
        while at < len(lines):
            line = lines[at]
            mark = _FENCE.match(line)
            if fence or mark:
                fence = self._code(line, mark[1] if mark else "", fence)
                at += 1
            elif heading := _ATX.fullmatch(line):
                self._heading(heading[2] or "", len(heading[1]))
                at += 1
            elif "|" in line and at + 1 < len(lines) and "|" in lines[at + 1] and _RULE.fullmatch(lines[at + 1]):
                at = self._table(lines, at)
            elif under := self._underlined(lines, at):
                self._heading(line, under)
                at += 2
            else:
                self._line(self._plain(line).rstrip())
                at += 1

    def _underlined(self, lines: list[str], at: int) -> int:
        """The level of the heading that the next line makes of this one; 0 when it makes none."""
        line = lines[at].strip()
        under = _SETEXT.fullmatch(lines[at + 1]) if line and at + 1 < len(lines) and line[0] not in ">-*" else None
        return 0 if under is None else 1 if under[1][0] == "=" else 2

    def _code(self, line: str, mark: str, fence: str) -> str:
        """A line of a code block, or its fence (which is left out); returns the fence that is open after it."""
        if not fence:
            return mark
        if mark.startswith(fence) and not line.strip(" `~"):
            return ""
        self._line(line)
        return fence

    def _heading(self, text: str, level: int) -> None:
        told = " ".join(self._plain(text).split())
        if told:
            self.headings.append(Heading(start=self.length, level=level, text=told))
            self._line(told)

    def _table(self, lines: list[str], at: int) -> int:
        rows = [self._cells(lines[at])]
        at += 2
        while at < len(lines) and "|" in lines[at]:
            rows.append((self._cells(lines[at]) + [""] * len(rows[0]))[: len(rows[0])])
            at += 1
        start = self.length
        for row in rows:
            self._line(" | ".join(row))
        self.tables.append(Table(start=start, end=self.length - 1, rows=rows))
        return at

    def _cells(self, line: str) -> list[str]:
        bare = line.strip().removeprefix("|")
        bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
        return [self._plain(cell.strip()).replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", bare)]

    def _plain(self, line: str) -> str:
        return _BOLD.sub(r"\2", _LINK.sub(self._link, line))

    def _link(self, match: re.Match[str]) -> str:
        if not match[0].startswith("!") and (address := urls.absolute("", match[2])):
            self.links.setdefault(address, match[1])
        return match[1]

    def _line(self, line: str) -> None:
        self.parts.append(f"{line}\n")
        self.length += len(self.parts[-1])
