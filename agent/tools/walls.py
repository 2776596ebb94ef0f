"""Pages that arrive with status 200 and yet are no page: consent walls, logins, paywalls, captchas, pages made by scripts.

Only pages with next to no text are ever called walls: a long article may talk about captchas as it likes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from agent.tools.metadata import Metadata

SHORT = 800
"""Characters of text above which a page is a page, whatever else stands on it."""

_CAPTCHA = re.compile(
    r"g-recaptcha|h-captcha|hcaptcha|cf-challenge|cf-turnstile|challenge-platform|captcha-delivery|px-captcha|"
    r"verify (?:that )?you are (?:a )?human|are you a robot|not a robot|unusual traffic|just a moment\.\.\.|checking your browser",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"before you continue|accept (?:all )?cookies|we use cookies|cookie (?:consent|settings|preferences)|"
    r"consent to the use of cookies|cookies akzeptieren|alle akzeptieren|accepter les cookies",
    re.IGNORECASE,
)
_PAYWALL = re.compile(
    r"subscribe (?:now )?to (?:continue|read|keep reading)|subscribers? only|for subscribers|already a subscriber|"
    r"to continue reading|unlock this (?:article|story)|become a member to read|nur für abonnenten|réservé aux abonnés",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"(?:log|sign) ?in|anmelden|einloggen|se connecter|iniciar sesión", re.IGNORECASE)
_SCRIPTED = re.compile(
    r"(?:enable|requires?|turn on|activate) javascript|javascript (?:is|must be|has to be) (?:disabled|enabled|required)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Signs:
    """What was seen before scripts and forms are taken out of the tree."""

    captcha: bool
    password: bool
    scripts: int
    mounts: bool
    noscript: str


def look(tree: LexborHTMLParser, html: str) -> Signs:
    """The signs of a wall in a parsed page (`html` is its source)."""
    return Signs(
        captcha=bool(_CAPTCHA.search(html, 0, 200_000)),
        password=tree.css_first('input[type="password"]') is not None,
        scripts=len(tree.css("script")),
        mounts=tree.css_first("#root, #app, #__next, app-root, #___gatsby, #main-app") is not None,
        noscript=" ".join(node.text() for node in tree.css("noscript")[:5])[:500],
    )


def judge(signs: Signs, about: Metadata, text: str) -> str:
    """A sentence that names the wall and what a person can do; "" when the page is a page."""
    if len(text) > SHORT:
        return ""
    if signs.captcha and (len(text) < SHORT / 2 or _CAPTCHA.search(text)):
        return "The site asks visitors to prove that they are human. Open it yourself, or look for the same elsewhere."
    if not about.free or _PAYWALL.search(text):
        return "The page is behind a paywall. Read it with your own subscription, or look for the same elsewhere."
    if signs.password and (_LOGIN.search(text) or len(text) < SHORT / 2):
        return "The page asks for a login. Log in with your own browser, or look for an open copy."
    if _CONSENT.search(text) and len(text) < SHORT / 2:
        return "Only a consent form for cookies came, not the page. Open it yourself, or look for the same elsewhere."
    if _SCRIPTED.search(text + " " + signs.noscript) and len(text) < SHORT / 2:
        return _BY_SCRIPT
    if signs.scripts and signs.mounts and len(text) < SHORT / 4:
        return _BY_SCRIPT
    return ""


_BY_SCRIPT = "The page is made by JavaScript in a browser and came without its text. Open it yourself, or look for a copy."
