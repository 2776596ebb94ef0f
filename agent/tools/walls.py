"""Pages that arrive with status 200 and yet are no page: consent walls, logins, paywalls, captchas, pages made by scripts.

Each is judged by what the page itself says and what is left when that is taken away: a long article may talk about captchas as it
likes, a short notice is a page, a long list of "purposes" to consent to is none. Paywalls are judged in paywalls.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.tools import paywalls
from agent.tools.metadata import Metadata
from agent.tools.paywalls import Gate

LITTLE = 400
"""Characters of text below which next to nothing came."""
SOME = 800
"""Characters up to which a text that asks for a proof or a login is that request, and not a page that mentions one."""
OWN = 200
"""Characters beside the talk of cookies from which a page says something of its own."""

CONTROLS = 60
"""Buttons and links of a page that are looked at for one that agrees: a consent form has few."""

_CAPTCHA = (
    "g-recaptcha", "h-captcha", "hcaptcha", "cf-challenge", "cf-turnstile", "challenge-platform", "captcha-delivery", "px-captcha",
    "verify you are human", "verify you are a human", "verify that you are human", "verify that you are a human", "are you a robot", "not a robot",
    "unusual traffic", "just a moment...", "checking your browser",
)  # fmt: skip
_CONSENT = re.compile(
    r"before you continue|accept (?:all )?cookies|accept all|we use cookies|use(?:s)? cookies|cookie (?:consent|settings|preferences)|"
    r"consent to|your consent|cookies? akzeptieren|alle akzeptieren|einwilligung|zustimmen|accepter (?:les cookies|et continuer)|tout accepter|"
    r"acceptera (?:alla|kakor|cookies)|godkänn|aceptar (?:todas|las cookies|y continuar)",
    re.IGNORECASE,
)
_OF_CONSENT = re.compile(
    r"cookie|consent|partners?\b|vendors?\b|personal(?:i[sz]ed)? (?:data|ads|content|information)|privacy|legitimate interest|advertis|tracking|"
    r"your choices?|purposes?\b|on (?:a|your) device|accept|reject|agree|manage (?:options|settings)|before you continue|"
    r"datenschutz|einwilligung|zustimm|werbung|akzeptier|ablehnen|personenbezogen|weiterlesen|abo\b|abonnier|"
    r"samtyck|kakor|annonser|integritet|godkänn|publicit|consent|données|accepter|refuser|galletas|publicidad|aceptar|rechazar",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"^(?:i )?(?:agree|accept|allow|consent|got it|ok)\b|accept (?:all|and)|(?:alle|alles) akzeptieren|zustimmen|einverstanden|akzeptieren|accepter"
    r"|acceptera|godkänn|aceptar",
    re.IGNORECASE,
)
_POLICY = re.compile(r"policy|notice|declaration|statement|erklärung|richtlinie|politique|política|what are cookies|about cookies", re.IGNORECASE)
_LOGIN = re.compile(r"(?:log|sign) ?in|anmelden|einloggen|se connecter|iniciar sesión|logga in", re.IGNORECASE)
_SCRIPTED = re.compile(
    r"(?:enable|requires?|turn on|activate) javascript|javascript (?:is|must be|has to be) (?:disabled|enabled|required)",
    re.IGNORECASE,
)
_BY_SCRIPT = "The page is made by JavaScript in a browser and came without its text. Open it yourself, or look for a copy."


@dataclass(frozen=True)
class Signs:
    """What was seen before scripts and forms are taken out of the tree. `password`: a login in the body, not in a header or margin."""

    html: str

    captcha: bool
    password: bool
    scripts: int
    mounts: bool
    noscript: str
    gate: Gate = field(default_factory=Gate)


def look(tree: LexborHTMLParser, html: str, url: str, about: Metadata) -> Signs:
    """The signs of a wall in a parsed page (`html` is its source, `about` what it says of itself)."""
    source = html.lower()
    return Signs(
        html=html,
        captcha=_asks_for_proof(source[:200_000]),
        password=any(not _in_margin(node) for node in tree.css('input[type="password"]')[:5]),
        scripts=len(tree.css("script")),
        mounts=tree.css_first("#root, #app, #__next, app-root, #___gatsby, #main-app") is not None,
        noscript=" ".join(node.text() for node in tree.css("noscript")[:5])[:500],
        gate=paywalls.look(tree, source, url, about),
    )


def judge(signs: Signs, about: Metadata, text: str) -> str:
    """A sentence that names the wall and what a person can do; "" when the page is a page."""
    size = len(text)
    if signs.captcha and (size < LITTLE or (size <= SOME and _asks_for_proof(text.lower()))):
        return "The site asks visitors to prove that they are human. Open it yourself, or look for the same elsewhere."
    if paywalls.shut(signs.gate, text):
        return "The page is behind a paywall. Read it with your own subscription, or look for the same elsewhere."
    if signs.password and (size < LITTLE or (size <= SOME and _LOGIN.search(text))):
        return "The page asks for a login. Log in with your own browser, or look for an open copy."
    if _only_consent(about.title, text) and (size < LITTLE or _agrees(signs.html)):
        return "Only a consent form for cookies came, not the page. Open it yourself, or look for the same elsewhere."
    if _SCRIPTED.search(text + " " + signs.noscript) and size < LITTLE:
        return _BY_SCRIPT
    if signs.scripts and signs.mounts and size < LITTLE / 2:
        return _BY_SCRIPT
    return ""


def _asks_for_proof(source: str) -> bool:
    return any(word in source for word in _CAPTCHA)


def _only_consent(title: str, text: str) -> bool:
    """Does a text ask for consent, and say next to nothing besides? A page that explains its use of cookies is a page."""
    if not _CONSENT.search(text) or (len(text) > LITTLE and _POLICY.search(title)):
        return False
    other = sum(len(part) for part in re.split(r"\n|(?<=[.!?])\s+", text) if part.strip() and not _OF_CONSENT.search(part))
    return other < OWN and other < 0.5 * len(text)


def _agrees(html: str) -> bool:
    """Has the page a button to agree to something?"""
    controls = LexborHTMLParser(html).css("button, a, [role=button]")[:CONTROLS]
    return any(_AGREES.search(" ".join(node.text().split())[:60]) for node in controls)


def _in_margin(node: LexborNode) -> bool:
    level = node.parent
    while level is not None and level.tag not in ("body", "html"):
        if level.tag in ("header", "nav", "aside", "footer", "dialog"):
            return True
        level = level.parent
    return False
