"""Pages that arrive with status 200 and are none: consent walls, logins, paywalls, captchas, pages made by
scripts.

Each is judged by what the page says and by the text that is left: a long article may talk about captchas, a
short notice is a page, a long list of "purposes" to consent to is none. Paywalls are judged in `paywall`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.web.extract.metadata import PageMetadata, is_declared_article, is_declared_closed
from agent.web.extract.nodes import ancestors, flat_text, names_of
from agent.web.patterns import compile_any, compile_names, read_lists

# Whether a page's own text is behind a paywall: a prompt to subscribe in its body, after a text that breaks
# off.
#
# A label beside a link ("For subscribers" on a teaser), a banner above a list of headlines, or an offer
# below a whole article does not make the page a paywall. What the page declares (schema.org
# `isAccessibleForFree`) counts where the text is short. Reads the tree before anything is removed; knows no
# site.

MAX_PREVIEW_CHARACTERS = 2_000
"""Up to this length the text before a prompt is a preview; a longer text is worth reading as it is."""
MAX_DECLARED_PREVIEW_CHARACTERS = 1_200
"""The same for a page that declares that it is not free."""
MIN_CONTINUATION_CHARACTERS = 400
"""From this length on, running text behind a prompt means that the page goes on: an offer, not a wall."""
MIN_PARAGRAPH_CHARACTERS = 80
MAX_LABEL_CHARACTERS = 60
"""Up to this length a line that names subscribers is a label."""
MAX_BLOCK_CHARACTERS = 400
MAX_CARD_CHARACTERS = 600
MAX_LEVELS = 6
MIN_FRONT_PAGE_HEADLINES = 4
"""From this many headlines of other pages on, a page that is no article is a front page."""
MAX_ELEMENTS = 400

_LISTS = read_lists("walls")
_SUBSCRIBE_PROMPT = compile_any(_LISTS["subscribe_prompt"])
_SUBSCRIBER_LABEL = compile_any(_LISTS["subscriber_label"])
_PAYWALL_NAMES = compile_names(_LISTS["paywall_names"])
_OFFER_WORDS = compile_any(_LISTS["offer"])
_MARGIN_TAGS = ("nav", "header", "footer", "aside")
_BLOCKS = (
    "p, div, span, h1, h2, h3, h4, h5, strong, b, em, section, aside, form, dialog, li, td, button, label, a"
)
_NAMED_BLOCKS = '[class*="wall" i], [id*="wall" i], [class*="gate" i], [class*="locked" i]'
_TRUNCATED_END = re.compile(r"(?:…|\.\.\.|\[…\]|\w)\s*$")
_SIMPLE_SELECTOR = re.compile(r"[.#][\w-]{1,60}")


@dataclass(frozen=True)
class WallEvidence:
    """What a page shows with scripts and forms, and what of it asks for a subscription. `has_login`: a
    password field outside the margins."""

    has_captcha: bool
    has_login: bool
    has_agree_button: bool
    script_count: int
    has_app_root: bool
    noscript: str
    prompts: tuple[str, ...] = ()
    """The texts in its body that ask to subscribe."""
    labels: tuple[str, ...] = ()
    """Texts that merely name subscribers."""
    is_declared_paid: bool = False
    """The page's data says that it is not free, and the closed part is not on the page."""
    is_front_page: bool = False
    """It is a list of headlines and no article."""


def _find_subscription(tree: LexborHTMLParser, source: str, url: str, about: PageMetadata) -> dict[str, Any]:
    """The last four fields of a page's WallEvidence; {} where nothing asks for a subscription."""
    body = tree.body
    if body is None or (about.is_free and not any(hint in source for hint in _LISTS["paywall_hints"])):
        return {}
    paid = _is_declared_paid(tree, url, about)
    if not (
        paid
        or _speaks_of_subscription(body.text(separator="\n"))
        or any(_is_paywall_element(node) for node in body.css(_NAMED_BLOCKS)[:MAX_ELEMENTS])
    ):
        return {}
    prompts: list[str] = []
    labels: list[str] = []
    for node in body.css(_BLOCKS)[: MAX_ELEMENTS * 20]:
        text = _text(node)
        if not text or len(text) > MAX_BLOCK_CHARACTERS:
            continue
        is_prompt = bool(_SUBSCRIBE_PROMPT.search(text)) or _is_paywall_element(node)
        is_label = len(text) <= MAX_LABEL_CHARACTERS and _SUBSCRIBER_LABEL.search(text)
        if (is_prompt or is_label) and not (
            any(_speaks_of_subscription(_text(one)) for one in node.css("*") if one.mem_id != node.mem_id)
            or _is_in_margin(node)
            or _is_in_card(node, url)
        ):
            (prompts if is_prompt else labels).append(text)
    headlines = {
        link.attributes.get("href")
        for link in body.css("a[href]")[:MAX_ELEMENTS]
        if _is_headline(link, url) and not _is_in_margin(link)
    }
    is_list = len(headlines) >= MIN_FRONT_PAGE_HEADLINES and not is_declared_article(tree, about.things)
    texts = {"prompts": tuple(prompts), "labels": tuple(labels)}
    return {**texts, "is_declared_paid": paid, "is_front_page": is_list}


def _is_behind_paywall(signs: WallEvidence, text: str) -> bool:
    """Whether the page's extracted `text` is only what comes before a paywall."""
    labels, paid = signs.labels, signs.is_declared_paid
    if not (signs.prompts or labels or paid) or (signs.is_front_page and not paid):
        return False
    prompts = [*signs.prompts, *(labels if paid or not signs.prompts else ())]
    lines = [" ".join(line.split()) for line in text.split("\n")]
    asking = [(n, line) for n, line in enumerate(lines) if _speaks_of_subscription(line)]
    at = [n for n, line in asking if any(line in prompt or prompt in line for prompt in prompts)]
    behind = lines[at[-1] + 1 :] if at else []
    running = [
        line for line in behind if len(line) >= MIN_PARAGRAPH_CHARACTERS and not _OFFER_WORDS.search(line)
    ]
    if len("\n".join(running)) >= MIN_CONTINUATION_CHARACTERS:
        return False
    own = "\n".join(lines[: at[0]] if at else lines)
    if signs.prompts:
        return len(own) <= MAX_PREVIEW_CHARACTERS * (2 if paid else 1)
    if paid:
        return len(own) <= (MAX_PREVIEW_CHARACTERS if labels else MAX_DECLARED_PREVIEW_CHARACTERS)
    return len(own) <= MAX_DECLARED_PREVIEW_CHARACTERS / 2 and bool(_TRUNCATED_END.search(own))


def _text(node: LexborNode) -> str:
    return flat_text(node, " ")


def _speaks_of_subscription(text: str) -> bool:
    return bool(_SUBSCRIBE_PROMPT.search(text) or _SUBSCRIBER_LABEL.search(text))


def _is_declared_paid(tree: LexborHTMLParser, url: str, about: PageMetadata) -> bool:
    """Whether the data that describes this page says that it is closed, and the closed part is not on the
    page all the same. Data that names another address is about another page."""
    if about.metas.get("article:content_tier", "").lower() == "locked":
        return True
    closed: list[dict[str, Any]] = []
    for thing in filter(is_declared_closed, about.things):
        entity = thing.get("mainEntityOfPage")
        named = [thing.get("url"), entity.get("@id") if isinstance(entity, dict) else entity]
        spelled = [
            urls.canonicalize(urls.resolve(url, name)) for name in named if isinstance(name, str) and name
        ]
        if not spelled or urls.canonicalize(url) in spelled:
            closed.append(thing)
    if len(closed) != 1:
        return False
    parts = closed[0].get("hasPart")
    for part in parts if isinstance(parts, list) else [parts]:
        selector = part.get("cssSelector") if isinstance(part, dict) else None
        if isinstance(selector, str) and _SIMPLE_SELECTOR.fullmatch(selector.strip()):
            for text in map(_text, tree.css(selector.strip())[:20]):
                if len(text) > MAX_DECLARED_PREVIEW_CHARACTERS and not _SUBSCRIBE_PROMPT.search(text):
                    return False
    return True


def _is_paywall_element(node: LexborNode) -> bool:
    return bool(_PAYWALL_NAMES.search(names_of(node))) and bool(_OFFER_WORDS.search(_text(node)))


def _is_in_margin(node: LexborNode) -> bool:
    """Whether it is in a menu, header, footer or margin."""
    for level in ancestors(node, with_node=True):
        if _is_paywall_element(level):
            return False
        if level.tag in _MARGIN_TAGS and level.css_first("h1") is None:
            return True
    return False


def _is_in_card(node: LexborNode, url: str) -> bool:
    """Whether it is on a teaser: a small block with the headline of another page."""
    for n, level in enumerate(ancestors(node, with_node=True)):
        too_large = level.css_first("h1") is not None or len(_text(level)) > MAX_CARD_CHARACTERS
        if n == MAX_LEVELS or level.tag == "main" or too_large:
            return False
        if any(_is_headline(link, url) for link in ([level] if level.tag == "a" else level.css("a[href]"))):
            return True
    return False


def _is_headline(link: LexborNode, url: str) -> bool:
    text = _SUBSCRIBER_LABEL.sub("", _text(link))
    if len(text.split()) < 3 or _OFFER_WORDS.search(text):
        return False
    address = urls.resolve(url, link.attributes.get("href") or "")
    return bool(address) and urls.canonicalize(address) != urls.canonicalize(url)


MIN_TEXT_CHARACTERS = 400
"""A shorter text counts as next to nothing."""
MAX_NOTICE_CHARACTERS = 800
"""Up to this length a text that asks for a proof or a login is that request, not a page that mentions one."""
MIN_OWN_CHARACTERS = 200
"""From this length on, the text beside the talk of cookies is content."""
MAX_CONTROLS = 60
"""Buttons and links that are checked for one that agrees: a consent form has few."""
MARGIN_TAGS = ("header", "nav", "aside", "footer", "dialog")

_CONSENT_REQUEST = compile_any(_LISTS["consent_request"])
_CONSENT_TOPIC = compile_any(_LISTS["consent_topic"])
_AGREE_LABEL = compile_any(_LISTS["agree_label"])
_POLICY_TITLE = compile_any(_LISTS["policy_title"])
_LOGIN_WORDS = compile_any(_LISTS["login"])
_NEEDS_JAVASCRIPT = compile_any(_LISTS["needs_javascript"])
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s+")
_CAPTCHA = (
    "The site asks visitors to prove that they are human. Open it yourself, or look for the same elsewhere."
)
_PAYWALL = "The page is behind a paywall. Read it with your own subscription, or look for the same elsewhere."
_LOGIN = "The page asks for a login. Log in with your own browser, or look for an open copy."
_CONSENT = (
    "Only a consent form for cookies came, not the page. Open it yourself, or look for the same elsewhere."
)
_JAVASCRIPT = (
    "The page is made by JavaScript in a browser and came without its text. Open it yourself, or look "
    "for a copy."
)


def find_wall_evidence(tree: LexborHTMLParser, html: str, url: str, about: PageMetadata) -> WallEvidence:
    """The signs of a wall in a parsed page (`html` is its source)."""
    source = html.lower()
    controls = tree.css("button, a, [role=button]")[:MAX_CONTROLS]
    passwords = tree.css('input[type="password"]')[:5]
    return WallEvidence(
        has_captcha=_has_captcha_marker(source[:200_000]),
        has_login=any(not any(a.tag in MARGIN_TAGS for a in ancestors(node)) for node in passwords),
        has_agree_button=any(_AGREE_LABEL.search(flat_text(node)[:60]) for node in controls),
        script_count=len(tree.css("script")),
        has_app_root=tree.css_first("#root, #app, #__next, app-root, #___gatsby, #main-app") is not None,
        noscript=" ".join(node.text() for node in tree.css("noscript")[:5])[:500],
        **_find_subscription(tree, source, url, about),
    )


def describe_wall(signs: WallEvidence, about: PageMetadata, text: str) -> str:
    """A sentence that names the wall and what a person can do; "" when the page is a page."""
    size = len(text)
    is_short, is_notice = size < MIN_TEXT_CHARACTERS, size <= MAX_NOTICE_CHARACTERS
    if signs.has_captcha and (is_short or (is_notice and _has_captcha_marker(text.lower()))):
        return _CAPTCHA
    if _is_behind_paywall(signs, text):
        return _PAYWALL
    if signs.has_login and (is_short or (is_notice and _LOGIN_WORDS.search(text))):
        return _LOGIN
    # it asks for consent and says little else; a page that explains its cookies is a page
    is_policy = len(text) > MIN_TEXT_CHARACTERS and _POLICY_TITLE.search(about.title)
    if _CONSENT_REQUEST.search(text) and not is_policy and (is_short or signs.has_agree_button):
        parts = (part for part in _SENTENCE_END.split(text) if part.strip())
        other = sum(len(part) for part in parts if not _CONSENT_TOPIC.search(part))
        if other < MIN_OWN_CHARACTERS and other < 0.5 * size:
            return _CONSENT
    if _NEEDS_JAVASCRIPT.search(text + " " + signs.noscript) and is_short:
        return _JAVASCRIPT
    return _JAVASCRIPT if signs.script_count and signs.has_app_root and size < MIN_TEXT_CHARACTERS / 2 else ""


def _has_captcha_marker(source: str) -> bool:
    return any(marker in source for marker in _LISTS["captcha"])
