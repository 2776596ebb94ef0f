"""Is a page's own text behind a paywall? A prompt to subscribe that stands in the page's body, after a text that breaks off.

A label beside a link ("For subscribers" on a teaser), a banner above a list of headlines, an offer below a whole article: none of
these make the page a paywall. What the page states of itself in its data (schema.org `isAccessibleForFree`) counts where the
text is short. Reads the tree before anything is taken out of it; knows no site by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent import urls
from agent.tools import metadata, postings
from agent.tools.metadata import Metadata

PREVIEW = 2_000
"""Characters of an article before a prompt, up to which it is a preview; a longer text is worth reading as it is."""
STATED = 1_200
"""Characters up to which the text of a page that says of itself that it is not free counts as a preview."""
BEHIND = 400
"""Characters of running text behind a prompt from which the page goes on after it: an offer in between, not a wall."""
PARAGRAPH = 80
LABEL = 60
"""Characters up to which a line that speaks of subscribers is a label."""
BLOCK = 400
CARD = 600
CLIMB = 6
HEADLINES = 4
"""Headlines of other pages from which a page that is no article is a front page."""
MOST = 400
_PROMPT = re.compile(
    r"(?:subscribe|sign up|register|log ?in|sign ?in|join|upgrade)\b[^.!?]{0,40}\bto (?:continue|keep) reading"
    r"|(?:subscribe|register|log ?in|sign ?in|join)\b[^.!?]{0,40}\bto (?:read|unlock|access|view) (?:this|the)"
    r" (?:full |rest|whole|entire|article|story|post)"
    r"|(?:subscribe|register|log ?in|sign ?in|join) (?:now |today |here )?to read\s*[.!]?$"
    r"|to (?:continue|keep) reading(?:,| this)|unlock (?:this|the full) (?:article|story)"
    r"|become a (?:paid )?(?:member|subscriber) to (?:continue|read|access)"
    r"|(?:article|story|content|post|page) (?:is|are) (?:only |exclusively |reserved )*(?:for|available to|open to)"
    r" (?:our |paying |paid )*(?:subscribers|members)"
    r"|(?:exclusive|reserved) (?:for|to) (?:our |paying |paid )*(?:subscribers|members)"
    r"|you(?:['’]ve| have) (?:reached|used|read) (?:your|all|the)\b.{0,40}free articles?"
    r"|(?:0|no) free articles? (?:left|remaining)|your free (?:articles?|preview) (?:has|have) ended"
    r"|um (?:den artikel |diesen artikel )?(?:weiterzulesen|weiter zu lesen)|(?:artikel|inhalt) (?:ist )?(?:nur|exklusiv) für (?:unsere )?abonnent"
    r"|jetzt (?:abonnieren|anmelden) und weiterlesen|weiterlesen mit (?:\w+ ?){1,2}(?:abo|plus)|mit (?:dem )?(?:\w+-?)?abo weiterlesen"
    r"|för att (?:fortsätta läsa|läsa (?:vidare|hela|mer av))|(?:artikeln|innehållet) är (?:bara |endast )?(?:för|låst)"
    r"|(?:article|contenu) (?:est )?(?:réservé|exclusif) (?:à nos |aux |pour les )abonnés"
    r"|(?:il vous reste|reste à lire) .{0,20}(?:de cet article|à lire)"
    r"|pour lire la suite|(?:artículo|contenido) (?:exclusivo )?(?:solo )?para suscriptores|para seguir leyendo",
    re.IGNORECASE,
)
"""Somebody is told to subscribe before they may read on."""
_LABEL = re.compile(
    r"\b(?:for|only) (?:our )?(?:subscribers|members)\b|\b(?:subscribers?|members?)[ -]only\b|already a (?:subscriber|member)\b"
    r"|\b(?:nur|exklusiv) für abonnent|\bför prenumeranter\b|\bréservé aux abonnés\b|\b(?:solo |exclusivo )?para suscriptores\b",
    re.IGNORECASE,
)
"""Words that name subscribers: on a page of its own they support a wall, beside a link they are about that link."""
_GATE = re.compile(
    r"(?:^|[\s_-])(?:pay-?wall|reg-?wall|metered?-?wall|subscriber-?(?:wall|gate)|article-?gate|premium-?(?:gate|wall)|locked-?(?:content|article))"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"subscri|abonn|prenumer|suscri|log ?in|sign ?(?:in|up)|register|account|plans?\b|offers?\b|trial|cancel|gift|newsletter|help|terms|privacy|price"
    r"|anmelden|konto|logga in|connecter|iniciar",
    re.IGNORECASE,
)
_WORDS = (
    "subscri", "abonn", "prenumer", "suscri", "keep reading", "continue reading", "unlock", "free article", "weiterles", "weiter zu lesen",
    "to read th", "to view th", "to access th", "member to", "members only", "for members", "our members",
    "läsa vidare", "läsa hela", "läsa mer", "fortsätta läsa",
    "låst", "lire la suite", "à lire", "leyendo", "paywall", "pay-wall", "regwall", "reg-wall", "-gate", "locked",
)  # fmt: skip
"""Without any of these in its source a page has no gate: most pages are done with after this look."""
_ASIDE = ("nav", "header", "footer", "aside")
_BROKEN_OFF = re.compile(r"(?:…|\.\.\.|\[…\]|\w)\s*$")
_SELECTOR = re.compile(r"[.#][\w-]{1,60}")


@dataclass(frozen=True)
class Gate:
    """What of a page asks for a subscription. `prompts` are the texts of prompts in its body, `labels` those of mere labels there."""

    prompts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    closed: bool = False
    """Does the page say of itself, in its data, that it is not free, and not bring the closed part all the same?"""
    front: bool = False
    """Is it a list of headlines and no article?"""


def look(tree: LexborHTMLParser, source: str, url: str, about: Metadata) -> Gate:
    """The gate of a parsed page at `url` (`source` is its source in lower case), an empty one when nothing speaks of a subscription."""
    body = tree.body
    if about.free and not any(word in source for word in _WORDS):
        return Gate()
    closed = _closed(tree, url, about)
    if body is None or not (closed or _PROMPT.search(text := body.text(separator="\n")) or _LABEL.search(text) or _gated(body)):
        return Gate()
    prompts: list[str] = []
    labels: list[str] = []
    for node in _speaking(body):
        if _beside(node) or _in_card(node, url):
            continue
        said = _said(node)
        (prompts if _PROMPT.search(said) or _is_gate(node) else labels).append(said)
    return Gate(tuple(prompts), tuple(labels), closed, not postings.states_article(tree) and _headlines(body, url) >= HEADLINES)


def shut(gate: Gate, text: str) -> bool:
    """Is the page's `text` (as it was read) only what stands before a paywall?"""
    if gate == Gate() or (gate.front and not gate.closed):
        return False
    asked = [*gate.prompts, *(gate.labels if gate.closed else [])]
    own, behind = _around(text, asked or list(gate.labels))
    if len(behind) >= BEHIND:
        return False
    if gate.prompts:
        return len(own) <= PREVIEW * (2 if gate.closed else 1)
    if gate.closed:
        return len(own) <= STATED or (bool(gate.labels) and len(own) <= PREVIEW)
    return bool(gate.labels) and len(own) <= STATED / 2 and bool(_BROKEN_OFF.search(own))


def _closed(tree: LexborHTMLParser, url: str, about: Metadata) -> bool:
    if about.metas.get("article:content_tier", "").lower() == "locked":
        return True
    stated = [thing for thing in metadata.linked_data(tree) if not _free(thing)] if not about.free else []
    own = [thing for thing in stated if _about_this(thing, url)]
    return len(own) == 1 and not _brought(tree, own[0])


def _free(thing: dict[str, Any]) -> bool:
    return str(thing.get("isAccessibleForFree", "")).lower() not in ("false", "http://schema.org/false", "https://schema.org/false")


def _about_this(thing: dict[str, Any], url: str) -> bool:
    """Is what is stated stated of this page? Data that names another address is about another."""
    entity = thing.get("mainEntityOfPage")
    named = [thing.get("url"), entity.get("@id") if isinstance(entity, dict) else entity]
    given = [urls.canonical(urls.absolute(url, name)) for name in named if isinstance(name, str) and name]
    return not given or urls.canonical(url) in given


def _brought(tree: LexborHTMLParser, thing: dict[str, Any]) -> bool:
    """Does the part that is said to be closed stand on the page all the same?"""
    parts = thing.get("hasPart")
    for part in parts if isinstance(parts, list) else [parts]:
        selector = part.get("cssSelector") if isinstance(part, dict) else None
        found = tree.css(selector.strip())[:20] if isinstance(selector, str) and _SELECTOR.fullmatch(selector.strip()) else []
        if any(len(_said(node)) > STATED and not _PROMPT.search(_said(node)) for node in found):
            return True
    return False


def _speaking(body: LexborNode) -> Iterator[LexborNode]:
    """The innermost blocks that speak of a subscription, or are called a gate."""
    for node in body.css("p, div, span, h1, h2, h3, h4, h5, strong, b, em, section, aside, form, dialog, li, td, button, label, a")[: MOST * 20]:
        said = _said(node)
        if not said or len(said) > BLOCK or not (_PROMPT.search(said) or (_LABEL.search(said) and len(said) <= LABEL) or _is_gate(node)):
            continue
        if not any(_PROMPT.search(_said(inner)) or _LABEL.search(_said(inner)) for inner in node.css("*") if inner.mem_id != node.mem_id):
            yield node


def _said(node: LexborNode) -> str:
    return " ".join(node.text(separator=" ").split())


def _is_gate(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(_GATE.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}")) and bool(_OFFER.search(_said(node)))


def _gated(body: LexborNode) -> bool:
    return any(_is_gate(node) for node in body.css('[class*="wall" i], [id*="wall" i], [class*="gate" i], [class*="locked" i]')[:MOST])


def _beside(node: LexborNode) -> bool:
    """Does it stand in a menu, header, footer or margin?"""
    level: LexborNode | None = node
    while level is not None and level.tag not in ("body", "html"):
        if _is_gate(level):
            return False
        if level.tag in _ASIDE and level.css_first("h1") is None:
            return True
        level = level.parent
    return False


def _in_card(node: LexborNode, url: str) -> bool:
    """Does it stand on a teaser: a small block with the headline of another page?"""
    level: LexborNode | None = node
    for _ in range(CLIMB):
        if level is None or level.tag in ("body", "html", "main") or level.css_first("h1") is not None or len(_said(level)) > CARD:
            return False
        if any(_is_headline(link, url) for link in ([level] if level.tag == "a" else level.css("a[href]"))):
            return True
        level = level.parent
    return False


def _headlines(body: LexborNode, url: str) -> int:
    """How many other pages' headlines stand in the body, menus and margins left out."""
    return len({link.attributes.get("href") for link in body.css("a[href]")[:MOST] if _is_headline(link, url) and not _beside(link)})


def _is_headline(link: LexborNode, url: str) -> bool:
    said, address = _LABEL.sub("", _said(link)), urls.absolute(url, link.attributes.get("href") or "")
    return len(said.split()) >= 3 and bool(address) and urls.canonical(address) != urls.canonical(url) and not _OFFER.search(said)


def _around(text: str, asked: list[str]) -> tuple[str, str]:
    """The running text before the first of the prompts and behind the last; all of it is before when none stands in the text."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    spoken = [(n, line) for n, line in enumerate(lines) if _PROMPT.search(line) or _LABEL.search(line)]
    at = [n for n, line in spoken if any(line in said or said in line for said in asked)]
    if not at:
        return "\n".join(lines), ""
    behind = [line for line in lines[at[-1] + 1 :] if len(line) >= PARAGRAPH and not _OFFER.search(line)]
    return "\n".join(lines[: at[0]]), "\n".join(behind)
