"""Pages that arrive with status 200 and are none: consent walls, logins, paywalls, captchas, pages made by
scripts.

Each is judged by what the page says and by the text that is left: a long article may talk about captchas, a
short notice is a page, a long list of "purposes" to consent to is none. Paywalls are judged in `paywall`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser

from agent.web.extract import paywall
from agent.web.extract.metadata import PageMetadata
from agent.web.extract.nodes import ancestors, flat_text
from agent.web.extract.paywall import PaywallEvidence
from agent.web.patterns import compile_any, read_lists

MIN_TEXT_CHARACTERS = 400
"""A shorter text counts as next to nothing."""
MAX_NOTICE_CHARACTERS = 800
"""Up to this length a text that asks for a proof or a login is that request, not a page that mentions one."""
MIN_OWN_CHARACTERS = 200
"""From this length on, the text beside the talk of cookies is content."""
MAX_CONTROLS = 60
"""Buttons and links that are checked for one that agrees: a consent form has few."""
MARGIN_TAGS = ("header", "nav", "aside", "footer", "dialog")

_LISTS = read_lists("walls")
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


@dataclass(frozen=True)
class WallEvidence:
    """What a page shows with scripts and forms. `has_login`: a password field outside the margins."""

    has_captcha: bool
    has_login: bool
    has_agree_button: bool
    script_count: int
    has_app_root: bool
    noscript: str
    paywall_evidence: PaywallEvidence = field(default_factory=PaywallEvidence)


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
        paywall_evidence=paywall.find_paywall_evidence(tree, source, url, about),
    )


def describe_wall(signs: WallEvidence, about: PageMetadata, text: str) -> str:
    """A sentence that names the wall and what a person can do; "" when the page is a page."""
    size = len(text)
    is_short, is_notice = size < MIN_TEXT_CHARACTERS, size <= MAX_NOTICE_CHARACTERS
    if signs.has_captcha and (is_short or (is_notice and _has_captcha_marker(text.lower()))):
        return _CAPTCHA
    if paywall.is_behind_paywall(signs.paywall_evidence, text):
        return _PAYWALL
    if signs.has_login and (is_short or (is_notice and _LOGIN_WORDS.search(text))):
        return _LOGIN
    if _is_only_consent(about.title, text) and (is_short or signs.has_agree_button):
        return _CONSENT
    if _NEEDS_JAVASCRIPT.search(text + " " + signs.noscript) and is_short:
        return _JAVASCRIPT
    return _JAVASCRIPT if signs.script_count and signs.has_app_root and size < MIN_TEXT_CHARACTERS / 2 else ""


def _has_captcha_marker(source: str) -> bool:
    return any(marker in source for marker in _LISTS["captcha"])


def _is_only_consent(title: str, text: str) -> bool:
    """Whether a text asks for consent and says little else. A page that explains its cookies is a page."""
    if not _CONSENT_REQUEST.search(text) or (len(text) > MIN_TEXT_CHARACTERS and _POLICY_TITLE.search(title)):
        return False
    parts = _SENTENCE_END.split(text)
    other = sum(len(part) for part in parts if part.strip() and not _CONSENT_TOPIC.search(part))
    return other < MIN_OWN_CHARACTERS and other < 0.5 * len(text)
