"""Posts as a page states them in schema.org terms: JSON-LD and microdata of discussions, comments, questions and answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.tools import metadata
from agent.tools.blocks import Blocks, flat
from agent.types.collected import Post

_OPENING = {"DiscussionForumPosting": "post", "SocialMediaPosting": "post", "Question": "question"}
_REPLIES = ("acceptedAnswer", "suggestedAnswer", "comment")
_TYPES = re.compile(r"schema\.org/(DiscussionForumPosting|SocialMediaPosting|Comment|UserComments|Question|Answer)\s*$", re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
MOST = 2_000


def stated(tree: LexborHTMLParser) -> list[Post]:
    """The posts a page states, JSON-LD first; [] when it states fewer than two."""
    found = list(_from_json(tree)) or list(_from_microdata(tree))
    return found if len(found) > 1 else []


def states_article(tree: LexborHTMLParser) -> bool:
    """Does the page say that it is an article (JSON-LD, Open Graph or microdata)?"""
    kinds = [kind for thing in metadata.linked_data(tree) for kind in _listed(thing.get("@type"))]
    if any(str(kind).endswith(("Article", "BlogPosting", "Report")) for kind in kinds):
        return True
    meta = tree.css_first('meta[property="og:type"]')
    if meta is not None and (meta.attributes.get("content") or "").lower() == "article":
        return True
    return tree.css_first('[itemtype$="Article"], [itemtype$="BlogPosting"]') is not None


def _from_json(tree: LexborHTMLParser) -> Iterator[Post]:
    for thing in metadata.linked_data(tree):
        opening = next((_OPENING[kind] for kind in _listed(thing.get("@type")) if kind in _OPENING), "")
        if opening:
            waiting: list[tuple[Any, str]] = [(thing, opening)]
            for _ in range(MOST):
                if not waiting:
                    break
                said, role = waiting.pop(0)
                text = _plain(said.get("text") or said.get("articleBody") or said.get("name") or "")
                if text:
                    yield Post(n=0, user=_who(said.get("author")), date=_when(said), text=text, role=role)  # type: ignore[arg-type]
                replies = [(reply, "answer" if key.endswith("Answer") else "post") for key in _REPLIES for reply in _listed(said.get(key))]
                waiting = [(reply, role) for reply, role in replies if isinstance(reply, dict)] + waiting
            return


def _when(said: dict[str, Any]) -> str:
    return next(
        (day for key in ("datePublished", "dateCreated", "uploadDate") if isinstance(said.get(key), str) and (day := metadata.when(said[key]))), ""
    )


def _who(author: Any) -> str:
    person = author[0] if isinstance(author, list) and author else author
    name = person.get("name") if isinstance(person, dict) else person
    return str(name).strip()[:100] if isinstance(name, str) else ""


def _plain(text: Any) -> str:
    return " ".join(unescape(_TAG.sub(" ", text)).split()) if isinstance(text, str) else ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _from_microdata(tree: LexborHTMLParser) -> Iterator[Post]:
    for node in tree.css("[itemtype]"):
        kind = _TYPES.search(node.attributes.get("itemtype") or "")
        body = node.css_first('[itemprop="text"], [itemprop="articleBody"], [itemprop="commentText"]') if kind else None
        if kind is None or body is None:
            continue
        role = {"question": "question", "answer": "answer"}.get(kind[1].lower(), "post")
        text = flat(body) if body.tag in ("td", "th") else Blocks(body).text.strip()
        if text:
            yield Post(n=0, user=_prop(node, "author"), date=_date(node), text=text, role=role)  # type: ignore[arg-type]


def _prop(node: LexborNode, name: str) -> str:
    found = node.css_first(f'[itemprop="{name}"] [itemprop="name"]') or node.css_first(f'[itemprop="{name}"]')
    return flat(found)[:100] if found is not None else ""


def _date(node: LexborNode) -> str:
    found = node.css_first('[itemprop="datePublished"], [itemprop="dateCreated"]')
    if found is None:
        return ""
    return metadata.when(found.attributes.get("datetime") or found.attributes.get("content") or found.text())
