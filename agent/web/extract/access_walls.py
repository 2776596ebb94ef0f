"""Pages that arrive with status 200 and yet are no page: consent walls, logins, paywalls, captchas, pages
made by scripts.

Each is judged by what the page itself says and what is left when that is taken away: a long article may talk
about captchas as it likes, a short notice is a page, a long list of "purposes" to consent to is none.
Paywalls are judged in paywalls.py."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.web.extract import paywall
from agent.web.extract.metadata import PageMetadata
from agent.web.extract.paywall import PaywallEvidence

MIN_TEXT_CHARACTERS = 400
"""Characters of text below which next to nothing came."""
MAX_NOTICE_CHARACTERS = 800
"""Characters up to which a text that asks for a proof or a login is that request, and not a page that
mentions one."""
MIN_OWN_CHARACTERS = 200
"""Characters beside the talk of cookies from which a page says something of its own."""

MAX_CONTROLS = 60
"""Buttons and links of a page that are looked at for one that agrees: a consent form has few."""

_CAPTCHA_MARKERS = (
    "g-recaptcha",
    "h-captcha",
    "hcaptcha",
    "cf-challenge",
    "cf-turnstile",
    "challenge-platform",
    "captcha-delivery",
    "px-captcha",
    "verify you are human",
    "verify you are a human",
    "verify that you are human",
    "verify that you are a human",
    "are you a robot",
    "not a robot",
    "unusual traffic",
    "just a moment...",
    "checking your browser",
)
_CONSENT_REQUEST = re.compile(
    r"before you continue|accept (?:all )?cookies|accept all|we use cookies|use(?:s)? cookies|cookie (?:consent|settings|preferences)|"
    r"consent to|your consent|cookies? akzeptieren|alle akzeptieren|einwilligung|zustimmen|accepter (?:les cookies|et continuer)|tout accepter|"
    r"acceptera (?:alla|kakor|cookies)|godkänn|aceptar (?:todas|las cookies|y continuar)",
    re.IGNORECASE,
)
_CONSENT_TOPIC = re.compile(
    r"cookie|consent|partners?\b|vendors?\b|personal(?:i[sz]ed)? (?:data|ads|content|information)|privacy|legitimate interest|advertis|tracking|"
    r"your choices?|purposes?\b|on (?:a|your) device|accept|reject|agree|manage (?:options|settings)|before you continue|"
    r"datenschutz|einwilligung|zustimm|werbung|akzeptier|ablehnen|personenbezogen|weiterlesen|abo\b|abonnier|"
    r"samtyck|kakor|annonser|integritet|godkänn|publicit|consent|données|accepter|refuser|galletas|publicidad|aceptar|rechazar",
    re.IGNORECASE,
)
_AGREE_LABEL = re.compile(
    r"^(?:i )?(?:agree|accept|allow|consent|got it|ok)\b|accept (?:all|and)|(?:alle|alles) akzeptieren|zustimmen|einverstanden|akzeptieren|accepter"
    r"|acceptera|godkänn|aceptar",
    re.IGNORECASE,
)
_POLICY_TITLE = re.compile(
    r"policy|notice|declaration|statement|erklärung|richtlinie|politique|política|what are cookies|about cookies",
    re.IGNORECASE,
)
_LOGIN_WORDS = re.compile(
    r"(?:log|sign) ?in|anmelden|einloggen|se connecter|iniciar sesión|logga in", re.IGNORECASE
)
_NEEDS_JAVASCRIPT = re.compile(
    r"(?:enable|requires?|turn on|activate) javascript|javascript (?:is|must be|has to be) (?:disabled|enabled|required)",
    re.IGNORECASE,
)
_MADE_BY_JAVASCRIPT = "The page is made by JavaScript in a browser and came without its text. Open it yourself, or look for a copy."


@dataclass(frozen=True)
class WallEvidence:
    """What was seen before scripts and forms are taken out of the tree. `password`: a login in the body, not
    in a header or margin."""

    html: str

    has_captcha: bool
    has_login: bool
    script_count: int
    has_app_root: bool
    noscript: str
    paywall_evidence: PaywallEvidence = field(default_factory=PaywallEvidence)


def find_wall_evidence(tree: LexborHTMLParser, html: str, url: str, about: PageMetadata) -> WallEvidence:
    """The signs of a wall in a parsed page (`html` is its source, `about` what it says of itself)."""
    source = html.lower()
    return WallEvidence(
        html=html,
        has_captcha=_has_captcha_marker(source[:200_000]),
        has_login=any(not _is_in_margin(node) for node in tree.css('input[type="password"]')[:5]),
        script_count=len(tree.css("script")),
        has_app_root=tree.css_first("#root, #app, #__next, app-root, #___gatsby, #main-app") is not None,
        noscript=" ".join(node.text() for node in tree.css("noscript")[:5])[:500],
        paywall_evidence=paywall.find_paywall_evidence(tree, source, url, about),
    )


def describe_wall(signs: WallEvidence, about: PageMetadata, text: str) -> str:
    """A sentence that names the wall and what a person can do; "" when the page is a page."""
    size = len(text)
    if signs.has_captcha and (
        size < MIN_TEXT_CHARACTERS or (size <= MAX_NOTICE_CHARACTERS and _has_captcha_marker(text.lower()))
    ):
        return "The site asks visitors to prove that they are human. Open it yourself, or look for the same elsewhere."
    if paywall.is_behind_paywall(signs.paywall_evidence, text):
        return "The page is behind a paywall. Read it with your own subscription, or look for the same elsewhere."
    if signs.has_login and (
        size < MIN_TEXT_CHARACTERS or (size <= MAX_NOTICE_CHARACTERS and _LOGIN_WORDS.search(text))
    ):
        return "The page asks for a login. Log in with your own browser, or look for an open copy."
    if _is_only_consent(about.title, text) and (size < MIN_TEXT_CHARACTERS or _has_agree_button(signs.html)):
        return "Only a consent form for cookies came, not the page. Open it yourself, or look for the same elsewhere."
    if _NEEDS_JAVASCRIPT.search(text + " " + signs.noscript) and size < MIN_TEXT_CHARACTERS:
        return _MADE_BY_JAVASCRIPT
    if signs.script_count and signs.has_app_root and size < MIN_TEXT_CHARACTERS / 2:
        return _MADE_BY_JAVASCRIPT
    return ""


def _has_captcha_marker(source: str) -> bool:
    return any(word in source for word in _CAPTCHA_MARKERS)


def _is_only_consent(title: str, text: str) -> bool:
    """Does a text ask for consent, and say next to nothing besides? A page that explains its use of cookies
    is a page."""
    if not _CONSENT_REQUEST.search(text) or (len(text) > MIN_TEXT_CHARACTERS and _POLICY_TITLE.search(title)):
        return False
    other = sum(
        len(part)
        for part in re.split(r"\n|(?<=[.!?])\s+", text)
        if part.strip() and not _CONSENT_TOPIC.search(part)
    )
    return other < MIN_OWN_CHARACTERS and other < 0.5 * len(text)


def _has_agree_button(html: str) -> bool:
    """Has the page a button to agree to something?"""
    controls = LexborHTMLParser(html).css("button, a, [role=button]")[:MAX_CONTROLS]
    return any(_AGREE_LABEL.search(" ".join(node.text().split())[:60]) for node in controls)


def _is_in_margin(node: LexborNode) -> bool:
    level = node.parent
    while level is not None and level.tag not in ("body", "html"):
        if level.tag in ("header", "nav", "aside", "footer", "dialog"):
            return True
        level = level.parent
    return False
