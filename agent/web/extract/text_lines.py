"""The lines of an extracted text with their places, and which of them are navigation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.types import Link

MAX_ANCHORS = 400
MIN_LINKED_SHARE = 0.5
"""The share of a line's letters and digits in links from which it is navigation and no prose."""
MIN_HEADLINE_SHARE = 0.3
"""The share of a line that the link of an entry makes up."""
MIN_HEADLINE_CHARACTERS = 12
_PATCH_HEAD = re.compile(r"diff --git |Index: \S|(?:---|\+\+\+) \S+[/.]\S|@@ .*@@")
_PATCH_LINE = re.compile(r"[ +\-@\\]|index [0-9a-f]{7}|new file|deleted file|rename |similarity ")
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
        others ("> ") and the line that introduces them, and lines of a patch."""
        stretches: list[tuple[int, int]] = []
        lines = list(read_lines(text))
        is_patch, was_cut = False, True
        for line, following in zip(lines, [*lines[1:], None], strict=True):
            raw = text[text.rfind("\n", 0, line.start) + 1 : line.end]
            is_patch = bool(_PATCH_HEAD.match(raw) or (is_patch and _PATCH_LINE.match(raw)))
            introduces = bool(following and following.text.startswith(">") and line.text.endswith(":"))
            is_cut = is_patch or introduces or line.text.startswith(">") or self.is_navigation(line.text)
            if not is_cut and was_cut:
                stretches.append((line.start, line.end))
            elif not is_cut:
                stretches[-1] = stretches[-1][0], line.end
            was_cut = is_cut
        return stretches

    def is_headline(self, line: str) -> bool:
        """Whether a line is navigation, or a link of several words begins it or makes up much of it."""
        flat = " ".join(line.split())
        long = (
            anchor
            for anchor in self.anchors
            if " " in anchor and len(anchor) >= MIN_HEADLINE_SHARE * len(flat)
        )
        titles = (
            anchor for anchor in self.anchors if " " in anchor and len(anchor) >= MIN_HEADLINE_CHARACTERS
        )
        return (
            self.is_navigation(line)
            or any(anchor in flat for anchor in long)
            or any(flat.startswith(anchor) for anchor in titles)
        )

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
