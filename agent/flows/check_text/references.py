"""The marks by which a text cites, and the list of references that they lead to.

Understood: links, addresses and DOIs in the text; numbers in brackets ("[1, 3]", "[2-4]"), raised numbers and
footnotes ("[^1]") with a list of references; author and year ("(Smith 2020)", "Smith (2020)") with a list. A
line is a reference when something in the text cites it and it has an address, is written as a work is named,
or stands in the list of references, or when it holds nothing but addresses. What cites a reference itself is
none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise

from agent.evidence.report_words import list_report_words
from agent.text.tokens import tokenize
from agent.text.urls import canonicalize, site
from agent.types import Anchor, Citation
from agent.web.link_targets import NUMBERED_MARK, find_addresses

MAX_RANGE = 30
"""Numbers that a range such as "[2-40]" names at most."""
MAX_LABEL_WORDS = 3
"""Words of a label: a line is one that has no more, without a figure or a mark at its end, and a reference
that has no more beside its addresses ("Source: https://…")."""
MAX_AUTHOR_CHARS = 80
"""Characters at the beginning of a reference in which its first author stands."""
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹˒–;", "0123456789,-,")
_ENTRY = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\[(?P<mark>\^?[\w-]{1,30})\]:?|(?P<number>\d{1,3})[.)]|(?P<raised>[⁰¹²³⁴-⁹]+))\s+"
)
_NUMBERS = re.compile(
    r"\[(?:\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3})*|\^[\w-]{1,30})\]"
    r"|(?:(?<=[^\W\d_]{3})|(?<=[.,;:!?”\"’')\]]))[⁰¹²³⁴-⁹]{1,3}(?:[,˒][⁰¹²³⁴-⁹]{1,3})*"
    r"|(?<=[^\W\d_]{2}[.,;])\d{1,3}(?=\s|$)"
)
"""Numbers in brackets, raised ones, and raised ones as a PDF gives them: "roof.6 It"."""
_URL = re.compile(
    r"[(<\[]?(?:https?://[^\s<>\"'\]\[{}|\\^`]+|(?:doi:\s?)?10\.\d{4,9}/[^\s\"<>\])},;]+)[>\]]?", re.I
)
_YEAR = r"(?:1[6-9]|20)\d\d[a-z]?"
_AUTHORS = rf"[A-ZÀ-Þ][\w'’.-]+(?:[\s,&]+(?:and|und|et al\.?|[A-ZÀ-Þ][\w'’.-]+))*,?\s{_YEAR}"
_AUTHOR_YEAR = re.compile(rf"\((?:{_AUTHORS})(?:[^()]{{0,40}}?;\s?(?:{_AUTHORS}))*(?:,?\spp?\.\s?[\d–-]+)?\)")
_NARRATIVE = re.compile(rf"[A-ZÀ-Þ][\w'’-]+(?:\set al\.|\s(?:and|&)\s[A-ZÀ-Þ][\w'’-]+)?\s(\({_YEAR}\))")
_ONE_AUTHOR = re.compile(rf"([A-ZÀ-Þ][\w'’-]+)[^;)]*?({_YEAR})")
_WORK = re.compile(
    rf"^[A-ZÀ-Þ][\w'’-]+, [A-ZÀ-Þ]\. |\({_YEAR}\)[.,:]|(?<!\d)(?<!\d[a-z]{{2}}), {_YEAR}\.?$|{_YEAR};\s?\d"
    r"|\b(?:pp?|vol)\. ?\d|\bISBN\b"
)
"""How a work is named: "Berg, K. ", "(1990).", ", 1990", "1990;3", "pp. 3"."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_CELL_START, _CELL_END = re.compile(r"(?:^|[:;|])\s*$"), re.compile(r"\s*(?:[;|]|$)")
_BRACKETED = re.compile(r"\(<?(?:https?://|doi:|10\.)", re.I)
Keys = tuple[int, int, list[str]]
"""Where a text cites, and what: numbers or labels ("3"), or author and year ("Smith 2020")."""


@dataclass
class Line:
    """A line of the text. `anchors` are those that begin in it; `kind` is what its page says it is."""

    start: int
    end: int
    text: str
    kind: str = ""
    level: int = 0
    is_item: bool = False
    anchors: list[Anchor] = field(default_factory=list)

    @property
    def addresses(self) -> list[str]:
        """The addresses of its links and in its words."""
        linked = [anchor.url for anchor in self.anchors if anchor.url]
        return list(dict.fromkeys([*linked, *find_addresses(self.text)]))

    @property
    def is_address_alone(self) -> bool:
        """Whether it holds nothing but addresses, their titles and a label, and is no sentence."""
        is_sentence, spans = self.text.rstrip().endswith((".", "!", "?")), [*_find_urls(self.text)]
        if self.kind != "row" and not is_sentence:
            spans += [(anchor.start - self.start, anchor.end - self.start) for anchor in self.anchors]
        found = find_addresses(self.text) if self.kind == "row" else self.addresses  # a cell may be a link
        is_bare = len(re.findall(r"\w{2,}", blank_spans(self.text, spans))) <= MAX_LABEL_WORDS
        return bool(found) and is_bare and not (is_sentence and _BRACKETED.search(self.text))

    @property
    def has_aside(self) -> bool:
        """Whether it ends with an address in brackets, for what its sentence says."""
        text = self.text.rstrip()
        at = self.start + len(text) - len(").")
        is_last = any(anchor.end == at for anchor in self.anchors) or _BRACKETED.search(text)
        return text.endswith(").") and bool(is_last)


@dataclass(frozen=True)
class Mark:
    """A citation in a line: where it stands, what it cites, and whether it is no part of the claim."""

    start: int
    end: int
    citations: tuple[Citation, ...]
    is_cut: bool = True


@dataclass(frozen=True)
class References:
    """The list of references by their keys; `lines` are where it stands."""

    by_key: Mapping[str, Citation] = field(default_factory=dict)
    lines: frozenset[int] = frozenset()
    own_site: str = ""
    """The site of a page that cites by notes: its links to itself are cross-references. "" for none."""


def read_references(lines: Sequence[Line], url: str) -> References:
    """The references that the lines of the page at `url` cite."""
    names = {name for words in list_report_words() for name in (words["references"], words["sources_read"])}
    listed = set(tokenize(" ".join(names)))
    prose = [line.text for line in lines if line.kind in ("", "row") and not _ENTRY.match(line.text)]
    cited = {key: key.rpartition(" ") for text in prose for _, _, keys in _find_keys(text) for key in keys}
    found, places = dict[str, Citation](), set[int]()

    def add(key: str, label: str, text: str, urls: Sequence[str]) -> None:
        """A reference; one with an address takes the place of one without."""
        trouble = "" if urls else f"The reference names no address: “{' '.join(text.split())[:120]}”"
        if urls or key not in found:
            found[key] = Citation(url=urls[0] if urls else "", label=label, trouble=trouble)

    for n, line in enumerate(lines):
        entry = _ENTRY.match(line.text)
        if n and lines[n - 1].start in places and line.text.strip(" -*•").startswith(("“", "„", "»", "«")):
            places.add(line.start)  # what an entry is cited for
        is_prose = any(
            not line.text.startswith((".", ",", ":"), end) for _, end, _ in _find_authors(line.text)
        )
        for text, urls in _split_entries(line) if not line.kind else ():
            entry = _ENTRY.match(text)
            raised = entry["raised"] or "" if entry else ""
            key = (entry["mark"] or entry["number"] or raised.translate(SUPERSCRIPTS)) if entry else ""
            above = lines[n - 1] if n else line
            is_listed = above.start in places or (
                above.kind == "heading" and listed.issuperset(tokenize(above.text))
            )
            if entry and key in cited and (is_listed or _is_reference(line, entry, urls)):
                places.add(line.start)
                add(key, f"[{key}]", text[entry.end() :], urls)
            for key, (author, _, year) in cited.items() if urls and not is_prose else ():
                if author and author in text[:MAX_AUTHOR_CHARS] and year in text:
                    places.add(line.start)
                    add(key, key, text, urls)
    for n, line in enumerate(_find_unnumbered(lines, cited.keys() - found.keys()), start=1):
        places.add(line.start)
        if str(n) not in found:
            add(str(n), f"[{n}]", line.text, line.addresses)
    linked = (line.text[a.start - line.start : a.end - line.start] for line in lines for a in line.anchors)
    has_notes = found or any(NUMBERED_MARK.fullmatch(words.strip()) for words in linked)
    return References(found, frozenset(places), site(url) if canonicalize(url) and has_notes else "")


def _is_reference(line: Line, entry: re.Match[str], urls: Sequence[str]) -> bool:
    """Whether an entry that stands in no list of references is one, and no claim with a number before it."""
    text = entry.string[entry.end() :]
    if any(text[start] == "[" for start, _, _ in _find_keys(text)):
        return False
    return not entry["number"] or bool((urls and not line.has_aside) or _WORK.search(text))


def find_marks(line: Line, references: References) -> list[Mark]:
    """The citations of a line in the order of their places; of overlapping ones the first."""
    found = [_mark_link(line, anchor, references.own_site) for anchor in line.anchors if anchor.url]
    for start, end, keys in _find_keys(line.text):
        if line.text[start] == "[" or any(key in references.by_key for key in keys):
            cited = list[Citation]()
            for key in keys:
                label, name = ("", f" for {key}") if " " in key else (f"[{key}]", f" {key}")
                missing = Citation(label=label, trouble=f"The text has no reference{name}.")
                cited.append(references.by_key.get(key) or missing)
            found.append(Mark(start, end, tuple(cited)))
    for start, end in _find_urls(line.text):
        if urls := find_addresses(line.text[start:end]):
            found.append(Mark(start, end, (Citation(url=urls[0]),)))
    kept: list[Mark] = []
    for mark in sorted(found, key=lambda mark: (mark.start, -mark.end)):
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def _mark_link(line: Line, anchor: Anchor, own_site: str) -> Mark:
    """A link as a mark. Its words belong to the sentence, unless they are a number or an address, or stand
    alone between brackets ("(Annual report)"). A figure that is the whole cell of a row is its value."""
    start, end = anchor.start - line.start, anchor.end - line.start
    words = line.text[start:end]
    start, end = start + len(words) - len(words.lstrip()), start + len(words.rstrip())
    words, is_note = words.strip(), NUMBERED_MARK.fullmatch(words.strip())
    is_bracketed = line.text[max(0, start - 1) : start] + line.text[end : end + 1] in ("()", "[]")
    is_mark = is_note or _URL.fullmatch(words) or not _WORD.search(words)
    if line.kind == "row" and words[:1].isdecimal() and _CELL_START.search(line.text[:start]):
        is_mark = not _CELL_END.match(line.text[end:])
    is_own = own_site and not is_note and site(anchor.url) == own_site
    cited = () if is_own else (Citation(url=anchor.url),)
    return Mark(start - is_bracketed, end + is_bracketed, cited, bool(is_mark or is_bracketed))


def _find_keys(text: str) -> Iterator[Keys]:
    """Where a text cites by number ("1, 3-5" as 1, 3, 4, 5), or by author and year."""
    for match in _NUMBERS.finditer(text):
        labels: list[str] = []
        for part in match.group().strip("[]").translate(SUPERSCRIPTS).split(","):
            first, _, last = (one.strip() for one in part.partition("-"))
            if first.isdecimal() and last.isdecimal() and int(first) <= int(last) < int(first) + MAX_RANGE:
                labels += map(str, range(int(first), int(last) + 1))
            else:
                labels.append(part.strip() if last and not last.isdecimal() else first)
        yield *match.span(), labels
    yield from _find_authors(text)


def _find_authors(text: str) -> Iterator[Keys]:
    for pattern, group in ((_AUTHOR_YEAR, 0), (_NARRATIVE, 1)):
        for match in pattern.finditer(text):
            yield *match.span(group), [" ".join(pair) for pair in _ONE_AUTHOR.findall(match.group())]


def _split_entries(line: Line) -> Iterator[tuple[str, list[str]]]:
    """The entries of a line with their addresses: Markdown joins lines. They begin with a number in brackets,
    or end with an address."""
    if _ENTRY.match(line.text):
        cuts = [match.start() for match in re.finditer(r"(?<=\s)(?=\[\^?\d{1,3}\]:?\s)", line.text)]
    else:
        cuts = [end for _, end in _find_urls(line.text)]
    for start, end in pairwise([0, *cuts, len(line.text)]):
        if _WORD.search(part := line.text[start:end].strip(" .\n")):
            linked = [a.url for a in line.anchors if start <= a.start - line.start < end and a.url]
            yield part, linked + find_addresses(part)


def _find_unnumbered(lines: Sequence[Line], cited: Set[str]) -> list[Line]:
    """The list of references whose numbers are no part of the text: the last list long enough for what is
    cited in which every other item has an address, else the lines with addresses at the end."""
    most = max((int(key) for key in cited if key.isdecimal()), default=0)
    runs: list[list[Line]] = [[]]
    for line in lines:
        is_entry = not line.kind and (line.is_item or bool(line.addresses)) and not line.has_aside
        if is_entry and not _NUMBERS.search(line.text):
            runs[-1].append(line)
        elif runs[-1]:
            runs.append([])
    fitting = [run for run in runs if 2 * sum(bool(one.addresses) for one in run) >= len(run) >= most > 0]
    return fitting[-1] if fitting else []


def _find_urls(text: str) -> Iterator[tuple[int, int]]:
    """Where addresses and DOIs stand, with the brackets around them, without the end of the sentence."""
    for match in _URL.finditer(text):
        written = match.group().rstrip(".,;:!?")
        if written[0] not in "(<[":
            while written.endswith(")") and written.count("(") < written.count(")"):
                written = written[:-1].rstrip(".,;:!?")
        yield match.start(), match.start() + len(written)


def blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of these spans."""
    for start, end in spans:
        start, end = max(0, start), min(end, len(text))
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text
