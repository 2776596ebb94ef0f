"""Title, author, date and language as a page states them; what it does not state stays empty."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from selectolax.lexbor import LexborHTMLParser
from w3lib.html import replace_entities, replace_tags

from agent.text.dates import normalize_date
from agent.text.urls import find_doi
from agent.types import Publication
from agent.types.collection import Post
from agent.web.extract.nodes import flat_text

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

# What a page states in schema.org terms: its JSON-LD objects, whether it is an article or closed, and its
# posts (discussions, comments, questions and answers).

MAX_SCRIPTS = 20
MAX_POSTS = 2_000
PostRole = Literal["post", "question", "answer"]
_FIRST_POST_ROLES: dict[str, PostRole] = {
    "DiscussionForumPosting": "post",
    "SocialMediaPosting": "post",
    "Question": "question",
}


def read_json_ld(tree: LexborHTMLParser) -> list[dict[str, Any]]:
    """The objects of a page's JSON-LD, those inside a graph or a main entity too."""
    found: list[dict[str, Any]] = []
    for script in tree.css('script[type="application/ld+json"]')[:MAX_SCRIPTS]:
        try:
            waiting = [json.loads(script.text(), strict=False)]
        except (ValueError, RecursionError):
            continue
        while waiting:
            thing = waiting.pop(0)
            if isinstance(thing, list):
                waiting += thing
            elif isinstance(thing, dict):
                found.append(thing)
                inner = (thing.get(key) for key in ("@graph", "mainEntity"))
                waiting += [value for value in inner if isinstance(value, list | dict)]
    return found


def is_declared_closed(thing: dict[str, Any]) -> bool:
    """Whether the object says that what it describes is not free to read."""
    stated = str(thing.get("isAccessibleForFree", "")).lower()
    return stated.removeprefix("http://schema.org/").removeprefix("https://schema.org/") == "false"


def is_declared_article(tree: LexborHTMLParser, things: Iterable[dict[str, Any]]) -> bool:
    """Whether the page says it is an article (in its JSON-LD `things`, Open Graph or microdata)."""
    kinds = [str(kind) for thing in things for kind in _as_list(thing.get("@type"))]
    if any(kind.endswith(("Article", "BlogPosting", "Report")) for kind in kinds):
        return True
    meta = tree.css_first('meta[property="og:type"]')
    if meta is not None and (meta.attributes.get("content") or "").lower() == "article":
        return True
    return tree.css_first('[itemtype$="Article"], [itemtype$="BlogPosting"]') is not None


def find_stated_posts(things: Iterable[dict[str, Any]]) -> list[Post]:
    """The first discussion or question of a page's JSON-LD with its replies, in reading order; [] when it
    states fewer than two posts."""
    kinds = ((thing, kind) for thing in things for kind in _as_list(thing.get("@type")))
    first = next(
        ((thing, _FIRST_POST_ROLES[kind]) for thing, kind in kinds if kind in _FIRST_POST_ROLES), None
    )
    found: list[Post] = []
    waiting: list[tuple[dict[str, Any], PostRole]] = [first] if first else []
    while waiting and len(found) < MAX_POSTS:
        post, role = waiting.pop(0)
        said = post.get("text") or post.get("articleBody") or post.get("name")
        if (
            text := " ".join(replace_entities(replace_tags(said, " ")).split())
            if isinstance(said, str)
            else ""
        ):
            user = next(iter(read_authors(post.get("author"))), "")
            stated = (post.get(key) for key in ("datePublished", "dateCreated", "uploadDate"))
            days = (normalize_date(value) for value in stated if isinstance(value, str))
            found.append(Post(n=0, user=user[:100], date=next(filter(None, days), ""), text=text, role=role))
        replies: list[tuple[dict[str, Any], PostRole]] = [
            (reply, "answer" if key.endswith("Answer") else "post")
            for key in ("acceptedAnswer", "suggestedAnswer", "comment")
            for reply in _as_list(post.get(key))
            if isinstance(reply, dict)
        ]
        waiting = [*replies, *waiting]
    return found if len(found) > 1 else []


def read_authors(author: Any) -> list[str]:
    """The names of the people or organisations that an `author` states, without addresses."""
    names = [person.get("name") if isinstance(person, dict) else person for person in _as_list(author)]
    return [name.strip() for name in names if isinstance(name, str) and not name.startswith("http")]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


_DATE_KEYS = (
    "article:published_time datepublished citation_publication_date citation_date dc.date.issued "
    "dcterms.issued dc.date dcterms.date publish-date pubdate date parsely-pub-date sailthru.date"
).split()
_AUTHOR_KEYS = "author article:author citation_author dc.creator dcterms.creator parsely-author byl".split()
MAX_AUTHORS = 30
"""Authors that are kept of a paper: more than any citation style names (APA: 20)."""


@dataclass
class PageMetadata:
    """What a page says about itself; `things`: its JSON-LD."""

    title: str
    author: str
    published_at: str
    language: str
    publication: Publication | None
    metas: dict[str, str]
    things: list[dict[str, Any]]


def read_metadata(tree: LexborHTMLParser) -> PageMetadata:
    """The metadata of a page, from its head (BeautifulSoup), else from its parsed body."""
    from bs4 import BeautifulSoup  # imported here: it takes a tenth of a second
    from bs4.filter import SoupStrainer

    start = (tree.head.html or "") if tree.head is not None else ""
    head = BeautifulSoup(start, "lxml", parse_only=SoupStrainer(["title", "meta"]))
    metas: dict[str, str] = {}
    for meta in head.find_all("meta"):
        key = meta.get("property") or meta.get("name") or meta.get("itemprop") or meta.get("http-equiv")
        name, content = str(key or "").strip().lower(), str(meta.get("content") or "").strip()
        if name and content:
            metas.setdefault(name, content)
    things = read_json_ld(tree)
    stated, names = list[str](), list[str]()
    for thing in things:
        if isinstance(thing.get("datePublished"), str):
            stated.append(thing["datePublished"])
        names += read_authors(thing.get("author"))
    stated += [metas.get(key, "") for key in _DATE_KEYS]
    for key in _AUTHOR_KEYS:
        if key in metas and not metas[key].startswith("http"):
            names.append(metas[key])
    time = tree.css_first('[itemprop="datePublished"], time[pubdate], time[datetime]')
    if time is not None:
        stated.append(time.attributes.get("datetime") or time.attributes.get("content") or time.text())
    byline = None if names else tree.css_first('[rel="author"], [itemprop="author"], .byline, .author')
    if byline is not None and 0 < len(text := flat_text(byline)) <= 80:
        names = [re.sub(r"^(by|von|par|por)\s+", "", text, flags=re.IGNORECASE)]
    # the page's one h1 where `<title>` only adds the site's name, else og:title or `<title>`
    named = " ".join(head.title.get_text().split()) if head.title else ""
    tops = [flat_text(node) for node in tree.css("h1")[:3]]
    title = " ".join(metas.get("og:title", "").split()) or named or (tops[0] if tops else "")
    if len(tops) == 1 and tops[0] and tops[0].lower() in (named or tops[0]).lower():
        title = tops[0]
    own = tree.root.attributes.get("lang") if tree.root is not None else ""
    language = own or metas.get("content-language") or metas.get("og:locale") or ""
    return PageMetadata(
        title=title,
        author=", ".join(dict.fromkeys(filter(None, map(str.strip, names))))[:200],
        published_at=next(filter(None, map(normalize_date, stated)), ""),
        language=language.split(",")[0].strip().replace("_", "-"),
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
    authors = [" ".join(str(meta.get("content") or "").split()) for meta in stated][:MAX_AUTHORS]
    date = metas.get("citation_publication_date") or metas.get("citation_date") or ""
    year = re.search(r"(?<!\d)[12]\d{3}(?!\d)", date)
    return Publication(
        doi=find_doi(metas.get("citation_doi") or metas.get("dc.identifier") or ""),
        authors=authors,
        people={name: name for name in authors if name.count(", ") == 1},
        journal=metas.get("citation_journal_title") or metas.get("citation_conference_title") or "",
        year=int(year[0]) if year else 0,
        licence=next(iter(licences), metas.get("dc.rights", ""))[:200],
    )
