"""Posts as a page states them in schema.org terms: JSON-LD and microdata of discussions, comments, questions
and answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.types.collection import Post
from agent.web.extract import metadata
from agent.web.extract.text_blocks import TextBlocks, inline_text

_FIRST_POST_ROLES = {"DiscussionForumPosting": "post", "SocialMediaPosting": "post", "Question": "question"}
_REPLY_KEYS = ("acceptedAnswer", "suggestedAnswer", "comment")
_POST_TYPE = re.compile(
    r"schema\.org/(DiscussionForumPosting|SocialMediaPosting|Comment|UserComments|Question|Answer)\s*$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]+>")
MAX_POSTS = 2_000


def find_stated_posts(tree: LexborHTMLParser) -> list[Post]:
    """The posts a page states, JSON-LD first; [] when it states fewer than two."""
    found = list(_read_json_ld(tree)) or list(_read_microdata(tree))
    return found if len(found) > 1 else []


def is_declared_article(tree: LexborHTMLParser) -> bool:
    """Does the page say that it is an article (JSON-LD, Open Graph or microdata)?"""
    kinds = [kind for thing in metadata.iterate_json_ld(tree) for kind in _as_list(thing.get("@type"))]
    if any(str(kind).endswith(("Article", "BlogPosting", "Report")) for kind in kinds):
        return True
    meta = tree.css_first('meta[property="og:type"]')
    if meta is not None and (meta.attributes.get("content") or "").lower() == "article":
        return True
    return tree.css_first('[itemtype$="Article"], [itemtype$="BlogPosting"]') is not None


def _read_json_ld(tree: LexborHTMLParser) -> Iterator[Post]:
    for thing in metadata.iterate_json_ld(tree):
        opening = next(
            (_FIRST_POST_ROLES[kind] for kind in _as_list(thing.get("@type")) if kind in _FIRST_POST_ROLES),
            "",
        )
        if opening:
            waiting: list[tuple[Any, str]] = [(thing, opening)]
            for _ in range(MAX_POSTS):
                if not waiting:
                    break
                said, role = waiting.pop(0)
                text = _strip_markup(said.get("text") or said.get("articleBody") or said.get("name") or "")
                if text:
                    yield Post(
                        n=0,
                        user=_read_author(said.get("author")),
                        date=_read_date(said),
                        text=text,
                        role=role,  # type: ignore[arg-type]
                    )  # type: ignore[arg-type]
                replies = [
                    (reply, "answer" if key.endswith("Answer") else "post")
                    for key in _REPLY_KEYS
                    for reply in _as_list(said.get(key))
                ]
                waiting = [(reply, role) for reply, role in replies if isinstance(reply, dict)] + waiting
            return


def _read_date(said: dict[str, Any]) -> str:
    return next(
        (
            day
            for key in ("datePublished", "dateCreated", "uploadDate")
            if isinstance(said.get(key), str) and (day := metadata.normalize_date(said[key]))
        ),
        "",
    )


def _read_author(author: Any) -> str:
    person = author[0] if isinstance(author, list) and author else author
    name = person.get("name") if isinstance(person, dict) else person
    return str(name).strip()[:100] if isinstance(name, str) else ""


def _strip_markup(text: Any) -> str:
    return " ".join(unescape(_TAG.sub(" ", text)).split()) if isinstance(text, str) else ""


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _read_microdata(tree: LexborHTMLParser) -> Iterator[Post]:
    for node in tree.css("[itemtype]"):
        kind = _POST_TYPE.search(node.attributes.get("itemtype") or "")
        body = (
            node.css_first('[itemprop="text"], [itemprop="articleBody"], [itemprop="commentText"]')
            if kind
            else None
        )
        if kind is None or body is None:
            continue
        role = {"question": "question", "answer": "answer"}.get(kind[1].lower(), "post")
        text = inline_text(body) if body.tag in ("td", "th") else TextBlocks(body).text.strip()
        if text:
            yield Post(
                n=0,
                user=_read_property(node, "author"),
                date=_read_microdata_date(node),
                text=text,
                role=role,  # type: ignore[arg-type]
            )  # type: ignore[arg-type]


def _read_property(node: LexborNode, name: str) -> str:
    found = node.css_first(f'[itemprop="{name}"] [itemprop="name"]') or node.css_first(f'[itemprop="{name}"]')
    return inline_text(found)[:100] if found is not None else ""


def _read_microdata_date(node: LexborNode) -> str:
    found = node.css_first('[itemprop="datePublished"], [itemprop="dateCreated"]')
    if found is None:
        return ""
    return metadata.normalize_date(
        found.attributes.get("datetime") or found.attributes.get("content") or found.text()
    )
