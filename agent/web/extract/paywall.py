"""Is a page's own text behind a paywall? A prompt to subscribe that stands in the page's body, after a text
that breaks off.

A label beside a link ("For subscribers" on a teaser), a banner above a list of headlines, an offer below a
whole article: none of these make the page a paywall. What the page states of itself in its data (schema.org
`isAccessibleForFree`) counts where the text is short. Reads the tree before anything is taken out of it;
knows no site by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.web.extract import metadata, schema_org
from agent.web.extract.metadata import PageMetadata

MAX_PREVIEW_CHARACTERS = 2_000
"""Characters of an article before a prompt, up to which it is a preview; a longer text is worth reading as it
is."""
MAX_DECLARED_PREVIEW_CHARACTERS = 1_200
"""Characters up to which the text of a page that says of itself that it is not free counts as a preview."""
MIN_CONTINUATION_CHARACTERS = 400
"""Characters of running text behind a prompt from which the page goes on after it: an offer in between, not a
wall."""
MIN_PARAGRAPH_CHARACTERS = 80
MAX_LABEL_CHARACTERS = 60
"""Characters up to which a line that speaks of subscribers is a label."""
MAX_BLOCK_CHARACTERS = 400
MAX_CARD_CHARACTERS = 600
MAX_LEVELS = 6
MIN_FRONT_PAGE_HEADLINES = 4
"""Headlines of other pages from which a page that is no article is a front page."""
MAX_ELEMENTS = 400
_SUBSCRIBE_PROMPT = re.compile(
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
_SUBSCRIBER_LABEL = re.compile(
    r"\b(?:for|only) (?:our )?(?:subscribers|members)\b|\b(?:subscribers?|members?)[ -]only\b|already a (?:subscriber|member)\b"
    r"|\b(?:nur|exklusiv) für abonnent|\bför prenumeranter\b|\bréservé aux abonnés\b|\b(?:solo |exclusivo )?para suscriptores\b",
    re.IGNORECASE,
)
"""Words that name subscribers: on a page of its own they support a wall, beside a link they are about that
link."""
_PAYWALL_CLASS = re.compile(
    r"(?:^|[\s_-])(?:pay-?wall|reg-?wall|metered?-?wall|subscriber-?(?:wall|gate)|article-?gate|premium-?(?:gate|wall)|locked-?(?:content|article))"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_OFFER_WORDS = re.compile(
    r"subscri|abonn|prenumer|suscri|log ?in|sign ?(?:in|up)|register|account|plans?\b|offers?\b|trial|cancel|gift|newsletter|help|terms|privacy|price"
    r"|anmelden|konto|logga in|connecter|iniciar",
    re.IGNORECASE,
)
_PAYWALL_HINTS = (
    "subscri",
    "abonn",
    "prenumer",
    "suscri",
    "keep reading",
    "continue reading",
    "unlock",
    "free article",
    "weiterles",
    "weiter zu lesen",
    "to read th",
    "to view th",
    "to access th",
    "member to",
    "members only",
    "for members",
    "our members",
    "läsa vidare",
    "läsa hela",
    "läsa mer",
    "fortsätta läsa",
    "låst",
    "lire la suite",
    "à lire",
    "leyendo",
    "paywall",
    "pay-wall",
    "regwall",
    "reg-wall",
    "-gate",
    "locked",
)
"""Without any of these in its source a page has no gate: most pages are done with after this look."""
_MARGIN_TAGS = ("nav", "header", "footer", "aside")
_TRUNCATED_END = re.compile(r"(?:…|\.\.\.|\[…\]|\w)\s*$")
_SIMPLE_SELECTOR = re.compile(r"[.#][\w-]{1,60}")


@dataclass(frozen=True)
class PaywallEvidence:
    """What of a page asks for a subscription. `prompts` are the texts of prompts in its body, `labels` those
    of mere labels there."""

    prompts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    is_declared_paid: bool = False
    """Does the page say of itself, in its data, that it is not free, and not bring the closed part all the
    same?"""
    is_front_page: bool = False
    """Is it a list of headlines and no article?"""


def find_paywall_evidence(
    tree: LexborHTMLParser, source: str, url: str, about: PageMetadata
) -> PaywallEvidence:
    """The gate of a parsed page at `url` (`source` is its source in lower case), an empty one when nothing
    speaks of a subscription."""
    body = tree.body
    if about.is_free and not any(word in source for word in _PAYWALL_HINTS):
        return PaywallEvidence()
    closed = _is_declared_paid(tree, url, about)
    if body is None or not (
        closed
        or _SUBSCRIBE_PROMPT.search(text := body.text(separator="\n"))
        or _SUBSCRIBER_LABEL.search(text)
        or _has_paywall_element(body)
    ):
        return PaywallEvidence()
    prompts: list[str] = []
    labels: list[str] = []
    for node in _find_prompt_blocks(body):
        if _is_in_margin(node) or _is_in_card(node, url):
            continue
        said = _collapsed_text(node)
        (prompts if _SUBSCRIBE_PROMPT.search(said) or _is_paywall_element(node) else labels).append(said)
    return PaywallEvidence(
        tuple(prompts),
        tuple(labels),
        closed,
        not schema_org.is_declared_article(tree) and _count_headlines(body, url) >= MIN_FRONT_PAGE_HEADLINES,
    )


def is_behind_paywall(gate: PaywallEvidence, text: str) -> bool:
    """Is the page's `text` (as it was read) only what stands before a paywall?"""
    if gate == PaywallEvidence() or (gate.is_front_page and not gate.is_declared_paid):
        return False
    asked = [*gate.prompts, *(gate.labels if gate.is_declared_paid else [])]
    own, behind = _split_around_prompts(text, asked or list(gate.labels))
    if len(behind) >= MIN_CONTINUATION_CHARACTERS:
        return False
    if gate.prompts:
        return len(own) <= MAX_PREVIEW_CHARACTERS * (2 if gate.is_declared_paid else 1)
    if gate.is_declared_paid:
        return len(own) <= MAX_DECLARED_PREVIEW_CHARACTERS or (
            bool(gate.labels) and len(own) <= MAX_PREVIEW_CHARACTERS
        )
    return (
        bool(gate.labels)
        and len(own) <= MAX_DECLARED_PREVIEW_CHARACTERS / 2
        and bool(_TRUNCATED_END.search(own))
    )


def _is_declared_paid(tree: LexborHTMLParser, url: str, about: PageMetadata) -> bool:
    if about.metas.get("article:content_tier", "").lower() == "locked":
        return True
    stated = (
        [thing for thing in metadata.iterate_json_ld(tree) if not _is_declared_free(thing)]
        if not about.is_free
        else []
    )
    own = [thing for thing in stated if _is_about_page(thing, url)]
    return len(own) == 1 and not _has_paid_part(tree, own[0])


def _is_declared_free(thing: dict[str, Any]) -> bool:
    return str(thing.get("isAccessibleForFree", "")).lower() not in (
        "false",
        "http://schema.org/false",
        "https://schema.org/false",
    )


def _is_about_page(thing: dict[str, Any], url: str) -> bool:
    """Is what is stated stated of this page? Data that names another address is about another."""
    entity = thing.get("mainEntityOfPage")
    named = [thing.get("url"), entity.get("@id") if isinstance(entity, dict) else entity]
    given = [urls.canonicalize(urls.resolve(url, name)) for name in named if isinstance(name, str) and name]
    return not given or urls.canonicalize(url) in given


def _has_paid_part(tree: LexborHTMLParser, thing: dict[str, Any]) -> bool:
    """Does the part that is said to be closed stand on the page all the same?"""
    parts = thing.get("hasPart")
    for part in parts if isinstance(parts, list) else [parts]:
        selector = part.get("cssSelector") if isinstance(part, dict) else None
        found = (
            tree.css(selector.strip())[:20]
            if isinstance(selector, str) and _SIMPLE_SELECTOR.fullmatch(selector.strip())
            else []
        )
        if any(
            len(_collapsed_text(node)) > MAX_DECLARED_PREVIEW_CHARACTERS
            and not _SUBSCRIBE_PROMPT.search(_collapsed_text(node))
            for node in found
        ):
            return True
    return False


def _find_prompt_blocks(body: LexborNode) -> Iterator[LexborNode]:
    """The innermost blocks that speak of a subscription, or are called a gate."""
    for node in body.css(
        "p, div, span, h1, h2, h3, h4, h5, strong, b, em, section, aside, form, dialog, li, td, button, label, a"
    )[: MAX_ELEMENTS * 20]:
        said = _collapsed_text(node)
        if (
            not said
            or len(said) > MAX_BLOCK_CHARACTERS
            or not (
                _SUBSCRIBE_PROMPT.search(said)
                or (_SUBSCRIBER_LABEL.search(said) and len(said) <= MAX_LABEL_CHARACTERS)
                or _is_paywall_element(node)
            )
        ):
            continue
        if not any(
            _SUBSCRIBE_PROMPT.search(_collapsed_text(inner))
            or _SUBSCRIBER_LABEL.search(_collapsed_text(inner))
            for inner in node.css("*")
            if inner.mem_id != node.mem_id
        ):
            yield node


def _collapsed_text(node: LexborNode) -> str:
    return " ".join(node.text(separator=" ").split())


def _is_paywall_element(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(
        _PAYWALL_CLASS.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}")
    ) and bool(_OFFER_WORDS.search(_collapsed_text(node)))


def _has_paywall_element(body: LexborNode) -> bool:
    return any(
        _is_paywall_element(node)
        for node in body.css('[class*="wall" i], [id*="wall" i], [class*="gate" i], [class*="locked" i]')[
            :MAX_ELEMENTS
        ]
    )


def _is_in_margin(node: LexborNode) -> bool:
    """Does it stand in a menu, header, footer or margin?"""
    level: LexborNode | None = node
    while level is not None and level.tag not in ("body", "html"):
        if _is_paywall_element(level):
            return False
        if level.tag in _MARGIN_TAGS and level.css_first("h1") is None:
            return True
        level = level.parent
    return False


def _is_in_card(node: LexborNode, url: str) -> bool:
    """Does it stand on a teaser: a small block with the headline of another page?"""
    level: LexborNode | None = node
    for _ in range(MAX_LEVELS):
        if (
            level is None
            or level.tag in ("body", "html", "main")
            or level.css_first("h1") is not None
            or len(_collapsed_text(level)) > MAX_CARD_CHARACTERS
        ):
            return False
        if any(_is_headline(link, url) for link in ([level] if level.tag == "a" else level.css("a[href]"))):
            return True
        level = level.parent
    return False


def _count_headlines(body: LexborNode, url: str) -> int:
    """How many other pages' headlines stand in the body, menus and margins left out."""
    return len(
        {
            link.attributes.get("href")
            for link in body.css("a[href]")[:MAX_ELEMENTS]
            if _is_headline(link, url) and not _is_in_margin(link)
        }
    )


def _is_headline(link: LexborNode, url: str) -> bool:
    said, address = (
        _SUBSCRIBER_LABEL.sub("", _collapsed_text(link)),
        urls.resolve(url, link.attributes.get("href") or ""),
    )
    return (
        len(said.split()) >= 3
        and bool(address)
        and urls.canonicalize(address) != urls.canonicalize(url)
        and not _OFFER_WORDS.search(said)
    )


def _split_around_prompts(text: str, asked: list[str]) -> tuple[str, str]:
    """The running text before the first of the prompts and behind the last; all of it is before when none
    stands in the text."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    spoken = [
        (n, line)
        for n, line in enumerate(lines)
        if _SUBSCRIBE_PROMPT.search(line) or _SUBSCRIBER_LABEL.search(line)
    ]
    at = [n for n, line in spoken if any(line in said or said in line for said in asked)]
    if not at:
        return "\n".join(lines), ""
    behind = [
        line
        for line in lines[at[-1] + 1 :]
        if len(line) >= MIN_PARAGRAPH_CHARACTERS and not _OFFER_WORDS.search(line)
    ]
    return "\n".join(lines[: at[0]]), "\n".join(behind)
