"""A page's sections, and which of them a question asks for. Knows words, not what they mean.

Pages without marked headings are read as people read them: a short line without a full stop above a longer
one is a heading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from agent.text.tokens import stem, stem_prefix, tokenize
from agent.types import Heading, Page, Passage

MAX_HEADING_WORDS = 9
"""Words a line may have to be taken for a heading."""
MIN_LIST_LINES = 2
"""So many short lines before a line make it an item of a list."""
MIN_BODY_WORDS = 8
"""Words the next line must have for that."""

_SYNONYM_GROUPS = (
    "symptom sign feature characteristic",
    "treatment therapy treat manage cure medication",
    "cause reason etiology origin why trigger",
    "outlook prognosis expectancy future survival",
    "frequency common prevalence incidence statistics many often affect",
    "inheritance inherited inherit hereditary heredity genetic",
    "diagnosis diagnose diagnosed test exam examination testing check",
    "prevention prevent avoid protect",
    "risk susceptibility likely",
    "price cost fee charge pay payment preis kosten kostet pris kostar kosta prix coûte coûter precio cuesta",
    "return refund exchange rückgabe zurückgeben retour returnera rendre devolver",
    "delivery shipping ship dispatch deliver",
    "contact phone email reach call",
    "installation install setup",
    "configuration configure setting setup adjust",
    "error problem trouble troubleshooting issue fix repair fault",
    "requirement require need prerequisite eligibility eligible qualify",
    "application apply registration register enroll",
    "cancel cancellation terminate end delete deletion remove",
    "research study trial clinical",
    "hours opening open schedule",
    "history background founded origin",
    "weight weigh heavy gewicht wiegt väger vikt pèse",
    "size dimension length width height long wide tall",
    "employee employ staff personnel workforce",
    "ceo boss chief director manager",
    "guarantee warranty garantie garanti garantía",
    "firmware software release version update",
    "living cope consideration coping tip advice",
)


@dataclass(frozen=True)
class Section:
    """Neighbouring passages of one page under one heading ("" before the first)."""

    heading: str
    passages: tuple[Passage, ...]

    @property
    def text(self) -> str:
        """The section's text; its first line may be the heading."""
        return "\n".join(passage.text for passage in self.passages)


def infer_headings(page: Page) -> Page:
    """The page; where it marks fewer than two headings, with those its lines look like. The text stays as it
    is."""
    marked = [heading for heading in page.headings if heading.text and heading.text != page.title]
    if len(marked) > 1:
        return page
    found = {heading.start: heading for heading in [*_heading_lines(page), *page.headings]}
    return page.model_copy(update={"headings": [found[start] for start in sorted(found)]})


def _heading_lines(page: Page) -> Iterable[Heading]:
    lines: list[tuple[int, str]] = []
    at = 0
    for line in page.text.split("\n"):
        if line.strip():
            lines.append((at, line))
        at += len(line) + 1
    for n, ((start, line), (_, after)) in enumerate(pairwise(lines)):
        bare, words = line.strip(), line.split()
        if n >= MIN_LIST_LINES and all(
            len(other.split()) <= MAX_HEADING_WORDS and other.strip() != page.title
            for _, other in lines[n - MIN_LIST_LINES : n]
        ):
            continue
        plain = bare[-1] not in ".!?;:,|" and "|" not in bare and bare[0].isalnum() and bare != page.title
        if (
            plain
            and len(words) <= MAX_HEADING_WORDS
            and len(bare) < 90
            and len(after.split()) >= MIN_BODY_WORDS
        ):
            yield Heading(start=start, level=2, text=bare)


def group_sections(passages: Sequence[Passage]) -> list[Section]:
    """The passages (in the order of their page) gathered under their headings; one that opens with its
    heading's line opens a section."""
    found: list[list[Passage]] = []
    for passage in passages:
        last = found[-1][-1] if found else None
        head = passage.heading.split(" › ")[-1]
        opens = bool(head) and passage.text.startswith(head)
        if (
            last is not None
            and (last.page_id, last.heading) == (passage.page_id, passage.heading)
            and not opens
        ):
            found[-1].append(passage)
        else:
            found.append([passage])
    return [Section(group[0].heading, tuple(group)) for group in found]


@lru_cache(maxsize=1)
def _synonym_table() -> dict[str, frozenset[str]]:
    """Each word's kin: the words that headings use for the same matter."""
    found: dict[str, set[str]] = {}
    for line in _SYNONYM_GROUPS:
        family = {stem_prefix(stem(word)) for word in tokenize(line)}
        for word in family:
            found.setdefault(word, set()).update(family)
    return {word: frozenset(family) for word, family in found.items()}


def find_synonyms(word: str) -> frozenset[str]:
    """The roughly stemmed words that mean the same matter as this one, itself among them."""
    return _synonym_table().get(word, frozenset()) | {word}
