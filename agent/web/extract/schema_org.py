"""What a page states in schema.org terms: its JSON-LD objects, whether it is an article or closed, and its
posts (discussions, comments, questions and answers) from JSON-LD or microdata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any, Literal

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.types.collection import Post
from agent.web.extract.page_dates import normalize_date
from agent.web.extract.text_blocks import inline_text, readable_text

MAX_SCRIPTS = 20
MAX_POSTS = 2_000
PostRole = Literal["post", "question", "answer"]
_FIRST_POST_ROLES: dict[str, PostRole] = {
    "DiscussionForumPosting": "post",
    "SocialMediaPosting": "post",
    "Question": "question",
}
_REPLY_KEYS = ("acceptedAnswer", "suggestedAnswer", "comment")
_POST_TYPE = re.compile(
    r"schema\.org/(DiscussionForumPosting|SocialMediaPosting|Comment|UserComments|Question|Answer)\s*$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]+>")
_FALSE = ("false", "http://schema.org/false", "https://schema.org/false")


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
    return str(thing.get("isAccessibleForFree", "")).lower() in _FALSE


def is_declared_article(tree: LexborHTMLParser, things: Iterable[dict[str, Any]]) -> bool:
    """Whether the page says it is an article (in its JSON-LD `things`, Open Graph or microdata)."""
    kinds = [str(kind) for thing in things for kind in _as_list(thing.get("@type"))]
    if any(kind.endswith(("Article", "BlogPosting", "Report")) for kind in kinds):
        return True
    meta = tree.css_first('meta[property="og:type"]')
    if meta is not None and (meta.attributes.get("content") or "").lower() == "article":
        return True
    return tree.css_first('[itemtype$="Article"], [itemtype$="BlogPosting"]') is not None


def find_stated_posts(tree: LexborHTMLParser, things: Iterable[dict[str, Any]]) -> list[Post]:
    """The posts a page states, JSON-LD first; [] when it states fewer than two."""
    found = list(_read_json_ld_posts(things)) or list(_read_microdata_posts(tree))
    return found if len(found) > 1 else []


def _read_json_ld_posts(things: Iterable[dict[str, Any]]) -> Iterator[Post]:
    """The first discussion or question of the page with its replies, in reading order."""
    for thing in things:
        roles = [
            _FIRST_POST_ROLES[kind] for kind in _as_list(thing.get("@type")) if kind in _FIRST_POST_ROLES
        ]
        waiting: list[tuple[dict[str, Any], PostRole]] = [(thing, role) for role in roles[:1]]
        for _ in range(MAX_POSTS):
            if not waiting:
                break
            post, role = waiting.pop(0)
            if text := _strip_markup(post.get("text") or post.get("articleBody") or post.get("name")):
                user = next(iter(read_authors(post.get("author"))), "")[:100]
                stated = (post.get(key) for key in ("datePublished", "dateCreated", "uploadDate"))
                yield Post(
                    n=0,
                    user=user,
                    date=next(
                        (
                            day
                            for value in stated
                            if isinstance(value, str) and (day := normalize_date(value))
                        ),
                        "",
                    ),
                    text=text,
                    role=role,
                )
            waiting = [*_replies(post), *waiting]
        if roles:
            return


def _replies(post: dict[str, Any]) -> Iterator[tuple[dict[str, Any], PostRole]]:
    for key in _REPLY_KEYS:
        for reply in _as_list(post.get(key)):
            if isinstance(reply, dict):
                yield reply, "answer" if key.endswith("Answer") else "post"


def read_authors(author: Any) -> list[str]:
    """The names of the people or organisations that an `author` states, without addresses."""
    names = [person.get("name") if isinstance(person, dict) else person for person in _as_list(author)]
    return [name.strip() for name in names if isinstance(name, str) and not name.startswith("http")]


def _strip_markup(text: Any) -> str:
    return " ".join(unescape(_TAG.sub(" ", text)).split()) if isinstance(text, str) else ""


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _read_microdata_posts(tree: LexborHTMLParser) -> Iterator[Post]:
    for node in tree.css("[itemtype]"):
        if not (kind := _POST_TYPE.search(node.attributes.get("itemtype") or "")):
            continue
        body = node.css_first('[itemprop="text"], [itemprop="articleBody"], [itemprop="commentText"]')
        if body is None or not (text := readable_text(body)):
            continue
        name = node.css_first('[itemprop="author"] [itemprop="name"]') or node.css_first(
            '[itemprop="author"]'
        )
        date = node.css_first('[itemprop="datePublished"], [itemprop="dateCreated"]')
        roles: dict[str, PostRole] = {"question": "question", "answer": "answer"}
        yield Post(
            n=0,
            user=inline_text(name)[:100] if name is not None else "",
            date=_stated_date(date) if date is not None else "",
            text=text,
            role=roles.get(kind[1].lower(), "post"),
        )


def _stated_date(node: LexborNode) -> str:
    return normalize_date(node.attributes.get("datetime") or node.attributes.get("content") or node.text())
