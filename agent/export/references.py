"""The sources of a run as references for a bibliography, and these as files for reference managers.

A run with an answer refers to what it cites; one without to the pages of its facts. `extra` adds collected
pages. Each reference has a reproducible key of plain letters and figures. All files are UTF-8. In RIS a tag
is a line, so no value may hold a line end. BibTeX, biber and Zotero's importer read the same title back:
`@online` with `urldate` is what BibLaTeX and Zotero take for a web page, `@article` for a paper in a journal.
Braces are escaped as Zotero does, each with its invisible counterpart, so that they balance."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from string import ascii_lowercase

from agent.export.escaping import clean_url, to_one_line
from agent.export.report import Report
from agent.text.urls import canonicalize, host, site
from agent.types import PAGE_ORIGIN_LABELS, PageRef, Publication, Source

_DATE = re.compile(r"(?!0000)(\d{4})(?!\d)(?:-(0[1-9]|1[0-2])(?!\d)(?:-(0[1-9]|[12]\d|3[01])(?!\d))?)?")
_WORD = re.compile(r"[a-z0-9]{3,}")


@dataclass(frozen=True)
class Reference:
    """A source. Dates are (year, month, day) as far as known; `url` is "" for a document on no server."""

    key: str
    title: str
    url: str
    container: str
    authors: Sequence[str]
    """People and groups, each whole; or the line that a page gives as its author."""
    people: Mapping[str, str]
    """Those of the authors whose names are known in parts: "Field, Ana"."""
    doi: str
    journal: str
    licence: str
    issued: tuple[int, ...]
    accessed: tuple[int, ...]
    language: str
    quotes: Sequence[str]
    origin_note: str
    """How its text came, when it was not fetched."""

    @property
    def place(self) -> str:
        """Journal, site, date, DOI and licence, as far as known."""
        licence = f"licence: {self.licence}" if self.licence else ""
        doi = f"DOI {self.doi}" if self.doi else ""
        parts = (self.journal, self.container, format_iso_date(self.issued), doi, licence)
        return ", ".join(filter(None, parts))

    @property
    def remarks(self) -> list[str]:
        """The origin note in brackets, the licence, and the quotes in quotation marks."""
        origin = [f"({self.origin_note})"] if self.origin_note else []
        licence = [f"Licence: {self.licence}."] if self.licence else []
        return [*origin, *licence, *(f"“{quote}”" for quote in self.quotes)]


def collect_references(report: Report, extra: Iterable[PageRef] = ()) -> list[Reference]:
    """The references, cited ones first in the order of their numbers; each address once."""
    sources = list(report.answer.sources) if report.answer else []
    kept = [ref for ref in report.all_pages if ref.facts and ref.page_id and not sources]
    for ref in (*kept, *extra):
        page = report.stored_pages.get(ref.page_id)
        facts = [fact for fact in report.facts if ref.page_id and fact.page_id == ref.page_id]
        sources.append(
            Source(
                n=0,
                url=ref.final_url or ref.url,
                title=ref.title or (page.title if page else ""),
                page_id=ref.page_id,
                sha256=page.sha256 if page else "",
                quotes=[fact.quote for fact in facts if fact.verified],
                fetched_at=page.fetched_at if page else "",
                given=ref.origin,
                publication=ref.publication,
            )
        )
    seen: set[str] = set()
    used: set[str] = set()
    found = []
    for source in sources:
        name = canonicalize(source.url) or source.page_id or source.url
        if name and name not in seen:
            seen.add(name)
            found.append(make_reference(source, report, used))
    return found


def make_reference(source: Source, report: Report, used: set[str]) -> Reference:
    """The reference of a source. `used` holds the keys that are taken; its own is added."""
    page = report.stored_pages.get(source.page_id)
    url = clean_url(source.url)
    stated = to_one_line(source.title or (page.title if page else ""))
    title = stated or url or to_one_line(source.url) or "Untitled"
    work = (source.publication or Publication()).complete(page.publication if page else None)
    issued = parse_date_parts(page.published_at) if page else ()
    issued = issued if issued or not work.year else (work.year,)
    # site, year and the title's first word ("alvmoramejeri2026about"), with a letter where it is used
    word, place = next(iter(_WORD.findall(_to_ascii(title))), ""), site(source.url) or "document"
    name = re.sub(r"[^a-z0-9]", "", _to_ascii(place.rpartition(".")[0] or place))
    stem = f"{name}{issued[0] if issued else ''}{word}"
    stem = stem if stem[:1].isalpha() else f"source{stem}"
    endings = chain([""], ascii_lowercase, (f"-{n}" for n in count(len(ascii_lowercase) + 1)))
    key = next(f"{stem}{ending}" for ending in endings if f"{stem}{ending}" not in used)
    used.add(key)
    return Reference(
        key=key,
        title=title,
        url=url,
        container=host(source.url).removeprefix("www.") if url else "",
        issued=issued,
        authors=[to_one_line(name) for name in work.authors or [page.author if page else ""] if name],
        people={to_one_line(name): to_one_line(turned) for name, turned in work.people.items()},
        doi=to_one_line(work.doi),
        journal=to_one_line(work.journal),
        licence=to_one_line(work.licence),
        accessed=parse_date_parts(source.fetched_at or (page.fetched_at if page else "")),
        language=to_one_line(page.language) if page else "",
        quotes=[to_one_line(quote) for quote in source.page_quotes],
        origin_note=PAGE_ORIGIN_LABELS[source.given],
    )


def parse_date_parts(text: str) -> tuple[int, ...]:
    """The date a text begins with (ISO 8601) as year, month and day, as far as they can be; () for none."""
    match = _DATE.match(text)
    return tuple(int(part) for part in match.groups() if part) if match else ()


def format_iso_date(date: tuple[int, ...]) -> str:
    """A date as "2026", "2026-11" or "2026-11-21"; "" for none."""
    return "-".join(f"{part:04d}" if n == 0 else f"{part:02d}" for n, part in enumerate(date))


def _to_ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()


_TEX_ESCAPES = {
    "\\": r"{\textbackslash}",
    "{": r"\{\vphantom{\}}",
    "}": r"\vphantom{\{}\}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    "|": r"{\textbar}",
    "<": r"{\textless}",
    ">": r"{\textgreater}",
    **{sign: rf"\{sign}" for sign in "#$%&_"},
}


def render_csl(references: Iterable[Reference]) -> str:
    """A list of items: what citation processors and reference managers (Zotero, pandoc) read."""
    items = []
    for reference in references:
        dates = {"issued": reference.issued, "accessed": reference.accessed}
        kind = "article-journal" if reference.journal else "webpage" if reference.url else "document"
        item = {
            "id": reference.key,
            "type": kind,
            "title": reference.title,
            "container-title": reference.journal or reference.container,
            "author": [
                dict(zip(("family", "given"), reference.people[name].split(", ", 1), strict=False))
                if name in reference.people
                else {"literal": name}
                for name in reference.authors
            ],
            "DOI": reference.doi,
            "URL": reference.url,
            **{name: {"date-parts": [list(date)]} for name, date in dates.items() if date},
            "language": reference.language,
            "note": " ".join(reference.remarks),
        }
        items.append({name: value for name, value in item.items() if value})
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def render_ris(references: Iterable[Reference]) -> str:
    """The file, its lines ended by CRLF. A date is "2026/11/21/", what is not known of it left empty."""
    lines: list[str] = []
    for reference in references:
        issued, accessed = (
            "/".join([*format_iso_date(date).split("-"), "", "", ""][:4]) if date else ""
            for date in (reference.issued, reference.accessed)
        )
        licence = f"Licence: {reference.licence}" if reference.licence else ""
        tags: dict[str, str | Sequence[str]] = {
            "TY": "JOUR" if reference.journal else "ELEC" if reference.url else "GEN",
            "ID": reference.key,
            "TI": reference.title,
            "AU": [reference.people.get(name, name) for name in reference.authors],
            "T2": reference.journal or reference.container,
            "DO": reference.doi,
            "PY": str(reference.issued[0]) if issued else "",
            "DA": issued,
            "Y2": accessed,
            "LA": reference.language,
            "UR": reference.url,
            "N1": [reference.origin_note, licence, *reference.quotes],
        }
        for tag, values in tags.items():
            listed = [values] if isinstance(values, str) else values
            lines += [f"{tag}  - {value}" for value in listed if value]
        lines += ["ER  - ", ""]
    return "".join(f"{line}\r\n" for line in lines)


def render_bibtex(references: Iterable[Reference]) -> str:
    """The file; "" without references."""
    entries = []
    for reference in references:
        fields = {
            "title": escape_tex(reference.title),
            "author": " and ".join(
                escape_tex(reference.people.get(name, "")) or f"{{{escape_tex(name)}}}"
                for name in reference.authors
            ),
            "journal": escape_tex(reference.journal),
            "organization": "" if reference.journal else escape_tex(reference.container),
            "doi": re.sub(r"[{}\\]", "", reference.doi),  # a verbatim field cannot hold them
            "url": reference.url,
            "urldate": format_iso_date(reference.accessed),
            "date": format_iso_date(reference.issued),
            "year": str(reference.issued[0]) if reference.issued else "",
            "language": escape_tex(reference.language),
            "note": " ".join(map(escape_tex, reference.remarks)),
        }
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        kind = "article" if reference.journal else "online" if reference.url else "misc"
        entries.append(f"@{kind}{{{reference.key},\n{lines}}}\n")
    return "\n".join(entries)


def escape_tex(text: str) -> str:
    """A text as it stands between braces."""
    # parted where TeX would make one sign of two
    parted = re.sub(r"(?<=-)(?=-)|(?<=`)(?=`)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)", "\0", text)
    return "".join(_TEX_ESCAPES.get(sign, sign) for sign in parted).replace("\0", "{}")
