"""Title, author, date and language as a page states them; what it does not state stays empty."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser

from agent.text.identifiers import find_doi
from agent.types import Publication
from agent.web.extract.nodes import flat_text
from agent.web.extract.page_dates import normalize_date
from agent.web.extract.schema_org import is_declared_closed, read_authors, read_json_ld

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_HEAD_END = re.compile(r"<body[\s>]|</head>", re.IGNORECASE)
_DECLARATION = re.compile(r"<\?xml\b[^<>]*>", re.IGNORECASE)
MAX_HEAD_CHARACTERS = 200_000
_BY = re.compile(r"^(by|von|par|por)\s+", re.IGNORECASE)
_DATE_KEYS = (
    "article:published_time datepublished citation_publication_date citation_date dc.date.issued "
    "dcterms.issued dc.date dcterms.date publish-date pubdate date parsely-pub-date sailthru.date"
).split()
_AUTHOR_KEYS = "author article:author citation_author dc.creator dcterms.creator parsely-author byl".split()
_TIME_SELECTOR = (
    '[itemprop="datePublished"], time[pubdate], header time[datetime], article time[datetime], time[datetime]'
)
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
MAX_AUTHORS = 30
_HEAD_ELEMENTS = ["html", "title", "meta", "script"]


@dataclass
class PageMetadata:
    """What a page says about itself. `is_free` is False when it says it is closed; `things`: its JSON-LD."""

    title: str = ""
    author: str = ""
    published_at: str = ""
    language: str = ""
    is_free: bool = True
    publication: Publication | None = None
    metas: dict[str, str] = field(default_factory=dict)
    things: list[dict[str, Any]] = field(default_factory=list)


def read_metadata(html: str, tree: LexborHTMLParser) -> PageMetadata:
    """The metadata of a page, from its head (BeautifulSoup), else from its parsed body."""
    from bs4 import BeautifulSoup  # imported here: it takes a tenth of a second
    from bs4.filter import SoupStrainer

    end = _HEAD_END.search(html, 0, MAX_HEAD_CHARACTERS)
    start = _DECLARATION.sub("", html[: end.start() if end else 4096])
    head = BeautifulSoup(start, "lxml", parse_only=SoupStrainer(_HEAD_ELEMENTS))
    found: dict[str, str] = {}
    for meta in head.find_all("meta"):
        names = (meta.get(key) for key in ("property", "name", "itemprop", "http-equiv"))
        name = next((str(name).strip().lower() for name in names if name), "")
        content = str(meta.get("content") or "").strip()
        if name and content:
            found.setdefault(name, content)
    metas = found
    things = read_json_ld(tree)
    stated = [thing["datePublished"] for thing in things if isinstance(thing.get("datePublished"), str)]
    stated += [metas[key] for key in _DATE_KEYS if key in metas]
    for node in tree.css(_TIME_SELECTOR)[:1]:
        attributes = node.attributes
        stated.append(attributes.get("datetime") or attributes.get("content") or node.text())
    return PageMetadata(
        title=_find_title(head, metas, tree),
        author=_find_author(things, metas, tree),
        published_at=next((day for day in map(normalize_date, stated) if day), ""),
        language=_find_language(metas, tree),
        is_free=not any(map(is_declared_closed, things)),
        publication=_find_publication(head, metas, things),
        metas=metas,
        things=things,
    )


def _find_publication(
    head: BeautifulSoup, metas: dict[str, str], things: list[dict[str, Any]]
) -> Publication | None:
    """The published work that a page says it is, by the tags that Google Scholar asks publishers for
    (scholar.google.com/intl/en/scholar/inclusion.html); None without them."""
    if not any(name.startswith("citation_") for name in metas):
        return None
    stated = head.find_all("meta", attrs={"name": re.compile(r"^citation_author$", re.IGNORECASE)})
    licences = [thing["license"] for thing in things if isinstance(thing.get("license"), str)]
    date = metas.get("citation_publication_date") or metas.get("citation_date") or ""
    year = _YEAR.search(date)
    return Publication(
        doi=find_doi(metas.get("citation_doi") or metas.get("dc.identifier") or ""),
        authors=[" ".join(str(meta.get("content") or "").split()) for meta in stated][:MAX_AUTHORS],
        journal=metas.get("citation_journal_title") or metas.get("citation_conference_title") or "",
        year=int(year[0]) if year else 0,
        licence=next(iter(licences), metas.get("dc.rights", ""))[:200],
    )


def _find_title(head: BeautifulSoup, metas: dict[str, str], tree: LexborHTMLParser) -> str:
    """The page's name: its one h1 where `<title>` only adds the site's name, else og:title or `<title>`."""
    stated = " ".join(head.title.get_text().split()) if head.title else ""
    tops = [flat_text(node) for node in tree.css("h1")[:3]]
    if len(tops) == 1 and tops[0] and (not stated or tops[0].lower() in stated.lower()):
        return tops[0]
    return " ".join(metas.get("og:title", "").split()) or stated or (tops[0] if tops else "")


def _find_author(things: list[dict[str, Any]], metas: dict[str, str], tree: LexborHTMLParser) -> str:
    names = [name for thing in things for name in read_authors(thing.get("author"))]
    names += [metas[key] for key in _AUTHOR_KEYS if key in metas and not metas[key].startswith("http")]
    if not names:
        node = tree.css_first('[rel="author"], [itemprop="author"], .byline, .author')
        text = flat_text(node) if node else ""
        names = [_BY.sub("", text)] if 0 < len(text) <= 80 else []
    return ", ".join(dict.fromkeys(name.strip() for name in names if name.strip()))[:200] if names else ""


def _find_language(metas: dict[str, str], tree: LexborHTMLParser) -> str:
    root = tree.root
    own = root.attributes.get("lang") if root is not None else ""
    stated = own or metas.get("content-language") or metas.get("og:locale") or ""
    return stated.split(",")[0].strip().replace("_", "-")[:12]
