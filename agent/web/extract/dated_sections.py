"""Pages that hold several dated entries (changelogs, release notes, chronicles), and the date that a page
states of itself in its text.

A dated line begins or ends with a full date and says little else: "Release date: 2024-11-21", "3 May 2021",
"## 1.2 - 2024-05-01", " -- Jane Doe Thu, 12 Nov 2026 09:58". Dated lines of one form divide a page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

from agent.text.dates import find_date, find_month
from agent.types import Heading, Link

# The lines of an extracted text with their places, and which of them are navigation.

MAX_ANCHORS = 400
MIN_LINKED_SHARE = 0.5
"""The share of a line's letters and digits in links from which it is navigation and no prose."""
_LABELLED = re.compile(r"[^:]{1,40}:\s*(\S.*)")
_ADDRESS = re.compile(r"https?:|www\.|\S+@\S+$", re.IGNORECASE)


@dataclass(frozen=True)
class TextLine:
    """A line that is not blank, without white space around it, and its offsets in the text."""

    start: int
    end: int
    text: str


def read_lines(text: str) -> Iterator[TextLine]:
    """The lines of a text that are not blank."""
    start = 0
    for line in text.split("\n"):
        if words := line.strip():
            first = start + line.index(words)
            yield TextLine(first, first + len(words), words)
        start += len(line) + 1


class LinkedText:
    """The texts of a page's links, to tell lines of navigation from prose."""

    def __init__(self, links: Sequence[Link]) -> None:
        texts = {" ".join(link.text.split()) for link in links[:MAX_ANCHORS]}
        self.anchors = sorted(
            (text for text in texts if text and not _ADDRESS.match(text)), key=len, reverse=True
        )

    def find_own_words(self, text: str) -> list[tuple[int, int]]:
        """The stretches of a text that its writer wrote as prose: without navigation, lines quoted from
        others ("> ") and the line that introduces them."""
        stretches: list[tuple[int, int]] = []
        lines = list(read_lines(text))
        was_cut = True
        for line, following in zip(lines, [*lines[1:], None], strict=True):
            introduces = bool(following and following.text.startswith(">") and line.text.endswith(":"))
            is_cut = introduces or line.text.startswith(">") or self.is_navigation(line.text)
            if not is_cut and was_cut:
                stretches.append((line.start, line.end))
            elif not is_cut:
                stretches[-1] = stretches[-1][0], line.end
            was_cut = is_cut
        return stretches

    def is_headline(self, line: str) -> bool:
        """Whether a line is navigation, or has a link of several words."""
        flat = " ".join(line.split())
        return self.is_navigation(line) or any(" " in anchor and anchor in flat for anchor in self.anchors)

    def is_navigation(self, line: str) -> bool:
        """Whether a line is mostly links, or a label with links ("Next by date: Re: Ferries")."""
        flat = " ".join(line.split())
        labelled = _LABELLED.fullmatch(flat)
        if labelled and not self._count_unlinked(labelled[1]) and any(map(str.isalnum, labelled[1])):
            return True
        whole = sum(map(str.isalnum, flat))
        return whole > 0 and self._count_unlinked(flat) <= (1 - MIN_LINKED_SHARE) * whole

    def _count_unlinked(self, text: str) -> int:
        """The letters and digits of a text that are in no link."""
        for anchor in self.anchors:
            if anchor in text:
                text = text.replace(anchor, " ")
        return sum(map(str.isalnum, text))


MAX_DATED_LINE = 120
"""Characters of a line that only says when something was; an entry of one line may be longer."""
MAX_LINES_TO_DATE = 12
"""Lines of a page among which it states its own date."""
MIN_SECTION_WORDS = 5
"""Words of a usual entry besides its date; below it the page is a list of dates."""
MIN_COVERED_SHARE = 0.6
"""The share of a page that its entries make up: examples in a text may begin with dates, too."""
MIN_DATE_SHARE = 0.4
"""The share of a date in a line that says when something was written: "By Jane Doe, 3 May 2021"."""
LINES_OF_TITLE = 3
"""Lines of an entry among which a headline that is a link makes it an entry of a listing."""
_BEFORE_DATE = re.compile(r"[\W_]*(?:[^\W\d_]{2,10}[.,]?\s+)?")
"""Nothing, or a weekday."""
_AFTER_DATE = re.compile(r"[\W_]*(?:[A-Z]{1,5}|\d{4})?[\W_]*")
"""Nothing, or a time zone."""


@dataclass(frozen=True)
class DatedSection:
    """An entry of a page: its place in the page's text, its title, and its date (a day, or a month)."""

    start: int
    end: int
    title: str
    date: str


@dataclass(frozen=True)
class _DatedLine:
    n: int
    date: str
    is_first: bool
    """Whether the line begins with the date."""


def find_whole_date(words: str, today: str) -> str:
    """The date that words consist of (a name, a weekday, a time zone may stand beside it); "" for none."""
    found = find_date(words, today) if len(words) <= MAX_DATED_LINE else None
    is_whole = found and found.has_year and found.end - found.start >= MIN_DATE_SHARE * len(words)
    return found.iso if found and is_whole else ""


def find_own_date(text: str, today: str) -> str:
    """The day that a page states of itself in one of its first lines; "" for none."""
    days = (find_whole_date(line.text, today) for line in islice(read_lines(text), MAX_LINES_TO_DATE))
    return next(filter(None, days), "")


def find_sections(
    text: str, headings: Sequence[Heading], linked: LinkedText, today: str
) -> list[DatedSection]:
    """The dated entries of a page in its order; [] when it has fewer than two, or when they are links."""
    lines = list(read_lines(text))
    at_heading = {heading.start: heading.level for heading in headings}
    groups: dict[tuple[str, bool], list[_DatedLine]] = defaultdict(list)
    for n, line in enumerate(lines):
        level = at_heading.get(line.start)
        if dated := _read_dated_line(n, line, level is not None, today):
            mark = f"h{level}" if level else re.match(r"[\W_]*", line.text)[0][:1]  # type: ignore[index]
            groups[mark, dated.is_first].append(dated)
    found = [_divide(text, lines, at_heading, group) for group in groups.values() if len(group) > 1]
    sections = max(found, key=lambda entries: sum(e.end - e.start for e in entries), default=[])
    words = [len(text[entry.start : entry.end].split()) - len(entry.title.split()) for entry in sections]
    covered = sections[-1].end - sections[0].start if sections else 0
    if len(sections) < 2 or median(words) < MIN_SECTION_WORDS or covered < MIN_COVERED_SHARE * len(text):
        return []
    opening = [list(islice(read_lines(text[entry.start : entry.end]), LINES_OF_TITLE)) for entry in sections]
    are_linked = sum(any(linked.is_headline(line.text) for line in lines) for lines in opening)
    return [] if are_linked * 2 > len(sections) else sections


def _read_dated_line(n: int, line: TextLine, is_heading: bool, today: str) -> _DatedLine | None:
    if line.text.startswith(">") or not ("19" in line.text or "20" in line.text):
        return None
    shown = line.text[:MAX_DATED_LINE]
    found = find_date(shown, today)
    if found is None or not found.has_year:
        found = find_month(shown)
        if found and not is_heading and found.end - found.start < MIN_DATE_SHARE * len(line.text):
            return None
    if found is None:
        return None
    is_first = bool(_BEFORE_DATE.fullmatch(shown, 0, found.start))
    is_last = len(line.text) <= MAX_DATED_LINE and _AFTER_DATE.fullmatch(shown, found.end)
    return _DatedLine(n, found.iso, is_first) if is_first or is_last else None


def _divide(
    text: str, lines: Sequence[TextLine], at_heading: dict[int, int], group: Sequence[_DatedLine]
) -> list[DatedSection]:
    """The entries of a page that dated lines of one form divide."""
    titled = _have_titles(lines, at_heading, group)
    before, behind = group[0].n, len(lines) - 1 - group[-1].n
    is_own_line = not titled and not group[0].is_first and lines[group[0].n].start not in at_heading
    closes = is_own_line and before > max(1, behind)  # " -- Jane Doe  12 Nov 2026" below each entry
    begins = [dated.n - titled for dated in group]
    if closes:
        begins = [0, *(dated.n + 1 for dated in group[:-1])]
    ends = [*begins[1:], group[-1].n + 1 if closes else len(lines)]
    entries: list[DatedSection] = []
    for dated, begin, end in zip(group, begins, ends, strict=True):
        title = lines[begin].text.lstrip("#*•- ")
        if entries and entries[-1].title == title:
            entries[-1] = replace(entries[-1], end=lines[end - 1].end)
        elif begin < end:
            entries.append(DatedSection(lines[begin].start, lines[end - 1].end, title, dated.date))
    return entries


def _have_titles(lines: Sequence[TextLine], at_heading: dict[int, int], group: Sequence[_DatedLine]) -> int:
    """1 when the line before each dated line is the entry's title: a heading, or like words each time."""
    if group[0].n == 0 or lines[group[0].n].start in at_heading:
        return 0
    before = [lines[dated.n - 1] for dated in group]
    if sum(line.start in at_heading for line in before) > len(group) / 2:
        return 1
    openings = {line.text.split()[0].casefold() for line in before}
    is_word = any(map(str.isalnum, "".join(openings)))
    return int(len(openings) == 1 and is_word and all(len(line.text) <= MAX_DATED_LINE for line in before))
