"""Pages that arrive with status 200 and are none: captchas, paywalls, logins, consent forms, pages made by
scripts.

Each is judged by what the page says and by the text that is left: a long article may talk about captchas, a
short notice is a page, a long list of "purposes" to consent to is none."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.text import urls
from agent.text.word_lists import compile_any, compile_names, read_lists
from agent.web.extract.metadata import PageMetadata, is_declared_article, is_declared_closed
from agent.web.extract.nodes import ancestors, flat_text, names_of

MAX_NOTICE_CHARACTERS = 400
"""A text up to this length is next to nothing; so much prose behind a prompt means that the page goes on, and
a longer block of text is none of the signs."""
MAX_PREVIEW_CHARACTERS = 2_000
"""Up to this length the text before a paywall is a preview; a longer text is worth reading as it is."""
MIN_PARAGRAPH_CHARACTERS = 80
MIN_FRONT_PAGE_HEADLINES = 4
"""From this many headlines of other pages on, a page that is no article is a front page."""

_LISTS = read_lists("walls")
_SUBSCRIBE_PROMPT = compile_any(_LISTS["subscribe_prompt"])
_SUBSCRIBER_LABEL = compile_any(_LISTS["subscriber_label"])
_OFFER = compile_any(_LISTS["offer"])
_CONSENT_REQUEST = compile_any(_LISTS["consent_request"])
_CONSENT_TOPIC = compile_any(_LISTS["consent_topic"])
_AGREE = compile_any(_LISTS["agree_label"])
_POLICY = compile_any(_LISTS["policy_title"])
_NEEDS_SCRIPTS = compile_any(_LISTS["needs_javascript"])
_PAYWALL_NAMES = compile_names(_LISTS["paywall_names"])
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s+")


def describe_wall(html: str, url: str, about: PageMetadata, text: str) -> str:
    """A sentence that names the wall of a page and what a person can do; "" when the page is a page. `text`
    is what was extracted of it."""
    source, is_short = html.lower(), len(text) <= MAX_NOTICE_CHARACTERS
    may_ask = len(text) <= 2 * MAX_NOTICE_CHARACTERS
    if may_ask and any(marker in source for marker in _LISTS["captcha"]):
        human = "The site asks visitors to prove that they are human."
        return f"{human} Open it yourself, or look for the same elsewhere."
    may_be_closed = any(map(is_declared_closed, about.things)) or any(
        hint in source for hint in _LISTS["paywall_hints"]
    )
    asks_consent = _CONSENT_REQUEST.search(text) and not _POLICY.search(about.title)
    if not (may_ask or may_be_closed or asks_consent):
        return ""
    tree = LexborHTMLParser(html)
    if may_be_closed and _is_behind_paywall(tree, url, about, text):
        advice = "Read it with your own subscription, or look for the same elsewhere."
        return f"The page is behind a paywall. {advice}"
    if may_ask and any(not _is_in_margin(node) for node in tree.css('input[type="password"]')):
        return "The page asks for a login. Log in with your own browser, or look for an open copy."
    controls = tree.css("button, a, [role=button]")
    if asks_consent and (is_short or any(_asks(flat_text(node), _AGREE) for node in controls)):
        # it asks for consent and says little else
        other = [part for part in _SENTENCE_END.split(text) if not _CONSENT_TOPIC.search(part)]
        if len(" ".join(other)) < min(MAX_NOTICE_CHARACTERS, len(text)) / 2:
            only = "Only a consent form for cookies came, not the page."
            return f"{only} Open it yourself, or look for the same elsewhere."
    said = text + "".join(node.text() for node in tree.css("noscript"))
    roots = "#root, #app, #__next, app-root, #___gatsby, #main-app"
    is_application = tree.css_first("script") is not None and tree.css_first(roots) is not None
    needs_scripts = is_application and len(text) <= MAX_NOTICE_CHARACTERS / 2
    if needs_scripts or (is_short and _NEEDS_SCRIPTS.search(said)):
        made = "The page is made by JavaScript in a browser and came without its text."
        return f"{made} Open it yourself, or look for a copy."
    return ""


def _is_behind_paywall(tree: LexborHTMLParser, url: str, about: PageMetadata, text: str) -> bool:
    """Whether the text is only what comes before a prompt to subscribe, or the page declares that it is not
    free. A label beside a teaser ("For subscribers"), a banner above headlines, or an offer below a whole
    article is no wall."""
    is_paid = _is_declared_paid(url, about)
    nodes = tree.css(
        "p, div, span, h1, h2, h3, h4, h5, strong, b, section, aside, form, dialog, li, td, button, a"
    )
    whole = tree.body.text(separator=" ") if tree.body is not None else ""
    prompts = list(filter(_is_gate, nodes))
    if not (is_paid or prompts or _SUBSCRIBE_PROMPT.search(whole) or _SUBSCRIBER_LABEL.search(whole)):
        return False
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    asks = [n for n, line in enumerate(lines) if _asks(line, _SUBSCRIBE_PROMPT)]
    labels = [n for n, line in enumerate(lines) if _asks(line, _SUBSCRIBER_LABEL)]
    breaks_off = any(n and lines[n - 1].endswith(("…", "...", "[…]")) for n in labels)
    prompts += [node for node in nodes if _asks(flat_text(node, " "), _SUBSCRIBE_PROMPT)]
    has_prompt = breaks_off or asks or not all(map(_is_in_margin, prompts))
    if not is_paid and (not has_prompt or _is_front_page(tree, url, about)):
        return False
    asks = sorted({*asks, *labels}) or [len(lines)]
    behind = [line for line in lines[asks[-1] + 1 :] if len(line) >= MIN_PARAGRAPH_CHARACTERS]
    goes_on = sum(len(line) for line in behind if not _OFFER.search(line)) >= MAX_NOTICE_CHARACTERS
    most = MAX_PREVIEW_CHARACTERS if has_prompt or labels else 3 * MAX_NOTICE_CHARACTERS
    return not goes_on and len("\n".join(lines[: asks[0]])) <= most


def _asks(line: str, pattern: re.Pattern[str]) -> bool:
    return len(line) <= MAX_NOTICE_CHARACTERS and bool(pattern.search(line))


def _is_front_page(tree: LexborHTMLParser, url: str, about: PageMetadata) -> bool:
    """Whether it is no article and has the headlines of several others."""
    headlines = {
        urls.canonicalize(urls.resolve(url, link.attributes.get("href") or ""))
        for link in tree.css("a[href]")
        if len(_SUBSCRIBER_LABEL.sub("", flat_text(link, " ")).split()) > 2
        and not _OFFER.search(flat_text(link, " "))
        and not _is_in_margin(link)
    }
    is_list = len(headlines - {urls.canonicalize(url), ""}) >= MIN_FRONT_PAGE_HEADLINES
    return is_list and not is_declared_article(tree, about.things)


def _is_declared_paid(url: str, about: PageMetadata) -> bool:
    """Whether the data that describes this page says that it is closed. Data that names another address is
    about another page."""
    if about.metas.get("article:content_tier", "").lower() == "locked":
        return True
    own = []
    for thing in filter(is_declared_closed, about.things):
        entity = thing.get("mainEntityOfPage")
        named = (thing.get("url"), entity.get("@id") if isinstance(entity, dict) else entity)
        spelled = [urls.canonicalize(urls.resolve(url, name)) for name in named if isinstance(name, str)]
        own += [thing] if not any(spelled) or urls.canonicalize(url) in spelled else []
    return len(own) == 1


def _is_gate(node: LexborNode) -> bool:
    return bool(_PAYWALL_NAMES.search(names_of(node))) and bool(_OFFER.search(flat_text(node, " ")))


def _is_in_margin(node: LexborNode) -> bool:
    """Whether it is in a menu, header, footer or margin that is no gate."""
    for level in ancestors(node, with_node=True):
        if _is_gate(level):
            return False
        is_margin = level.tag in ("nav", "header", "footer", "aside", "dialog")
        if is_margin and level.css_first("h1") is None:
            return True
    return False
