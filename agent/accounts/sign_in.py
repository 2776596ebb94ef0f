"""A sign-in as its provider states it, read strictly, and whom this server lets in."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import idna

from agent.errors import SignInRefused, UsageError
from agent.net.exchange import Connections, make_transport
from agent.net.policies import SIGN_IN
from agent.settings.config import Config
from agent.text.plurals import clip

MAX_ADDRESS_CHARS = 254
_NAMES = ("name", "preferred_username")
CLAIMS = {"iss", "sub", "iat", "exp", "auth_time", "email", "email_verified", *_NAMES}
"""What is read of a sign-in."""
MAX_CLAIM_CHARS = 260
"""Characters of a claim as JSON; all of them, each as long as that, fit into one cookie."""
MAX_TIME = 2**40
"""Seconds since 1970 that are still a date."""
CLOCK_SKEW_S = 300
"""Seconds by which the provider's clock may be ahead of this server's."""
DAY_S = 86_400


@dataclass(frozen=True)
class SignIn:
    """Who signed in at which provider, and when (seconds since 1970, on its clock). `email` is an address
    that is proven to be theirs, `stated_email` one that need not be; "" for none."""

    issuer: str
    subject: str
    email: str
    stated_email: str
    name: str
    issued: int


class SignInRules:
    """Whom this server lets in, by its settings. Raises UsageError for an entry that is no address."""

    def __init__(self, config: Config) -> None:
        self.admins = _read_addresses("ADMIN_EMAILS", config.ADMIN_EMAILS)
        self.allowed = _read_addresses("ALLOWED_EMAILS", config.ALLOWED_EMAILS)
        """Addresses and @domains that may sign in; empty: all."""
        self.trusted_issuers, self.days = frozenset(config.SIGN_IN_TRUSTED_ISSUERS), config.SIGN_IN_DAYS

    def admits(self, email: str) -> bool:
        """May whoever has this proven address use the server?"""
        return not self.allowed or bool({email, f"@{email.partition('@')[2]}"} & self.allowed)

    def read(self, claims: Mapping[str, Any]) -> SignIn:
        """The sign-in that these claims of an ID token state. Raises SignInRefused when it does not hold."""
        issuer, subject = claims.get("iss"), claims.get("sub")
        if not (isinstance(issuer, str) and isinstance(subject, str) and issuer and subject):
            raise SignInRefused("sign in first")
        times, now = {name: claims.get(name, 0) for name in ("iat", "exp", "auth_time")}, time.time()
        wrong = [
            name
            for name, value in times.items()
            if type(value) not in (int, float) or not 0 <= value <= MAX_TIME
        ]
        if wrong or not 0 < times["iat"] <= now + CLOCK_SKEW_S:
            raise SignInRefused(
                f"your sign-in states no time that can be used ({(wrong or ['iat'])[0]}): sign in again, and "
                "tell who runs this server if that does not help"
            )
        if now >= (times["iat"] + self.days * DAY_S if self.days else times["exp"]):
            raise SignInRefused("your sign-in has ended: sign in again")
        verified = claims.get("email_verified")
        is_trusted = "email_verified" not in claims and issuer in self.trusted_issuers
        is_proven = verified is True or verified == "true" or is_trusted
        stated = normalize_address(claims.get("email"))
        email = stated if is_proven else ""
        if not self.admits(email):
            raise SignInRefused(
                "this server admits certain addresses only: ask its admin to add yours"
                if is_proven
                else "this server admits certain addresses only, and your provider does not say that yours "
                "is verified: verify it there, or ask who runs this server (SIGN_IN_TRUSTED_ISSUERS)"
            )
        names = (claims.get(key) for key in _NAMES)
        name = next((text for text in names if isinstance(text, str) and text), "")
        return SignIn(issuer, subject, email, stated, name, int(times["iat"]))


def pick_claims(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Those claims of an ID token that are read here; None stands for one that is too long."""
    return {
        claim: claims[claim] if len(json.dumps(claims[claim])) <= MAX_CLAIM_CHARS else None
        for claim in CLAIMS & claims.keys()
    }


def normalize_address(given: object) -> str:
    """An e-mail address in the one form in which addresses are compared: ASCII letters small, the domain as
    it goes over the wire, nothing else changed; "" for what is none."""
    if not isinstance(given, str) or len(given) > MAX_ADDRESS_CHARS or given.count("@") != 1:
        return ""
    local, domain = "".join(char.lower() if char.isascii() else char for char in given).split("@")
    try:
        domain = ".".join(idna.alabel(label).decode() for label in domain.split("."))
    except idna.IDNAError:
        return ""
    is_whole = local and all(char.isprintable() and not char.isspace() for char in local)
    return f"{local}@{domain}" if is_whole else ""


def _read_addresses(setting: str, entries: Iterable[str]) -> frozenset[str]:
    """The addresses and @domains of a setting. Raises UsageError."""
    found = set()
    for entry in entries:
        is_domain = entry.startswith("@") and setting == "ALLOWED_EMAILS"
        address = normalize_address(f"any{entry}" if is_domain else entry)
        if not address:
            raise UsageError(
                f"{setting} has {clip(entry)!r}: write e-mail addresses or @domains, with commas"
            )
        found.add(address.removeprefix("any") if is_domain else address)
    return frozenset(found)


# How the login asks its provider: within the limits of a policy, and without a redirect. Of the answer it
# keeps what fits into one cookie: Streamlit would split more into several, each signed by itself, and parts
# of several sign-ins could be put together into one that nobody made.
#
# Streamlit makes authlib's client anew for each step of a sign-in and lets nobody name another; the class
# of it is an attribute that authlib keeps for that.

MAX_HINT_CHARS = 2_500
"""An ID token is kept up to this size: some providers want it back when somebody signs out."""


def bound_provider_client(discovery_url: str) -> None:
    """Hold all that is asked from now on of the provider (its description, keys, tokens, people) to the
    policy. The provider's own host may be an inner one; other hosts that it names are public."""
    from authlib.integrations.starlette_client import StarletteOAuth2App
    from authlib.integrations.starlette_client.apps import AsyncOAuth2Client

    transport = make_transport(Connections([urlsplit(discovery_url).hostname or ""]), SIGN_IN)
    StarletteOAuth2App.client_cls = partial(AsyncOAuth2Client, transport=transport, trust_env=False)
    ask = StarletteOAuth2App.authorize_access_token

    async def authorize(app: StarletteOAuth2App, request: Any, **options: Any) -> dict[str, Any]:
        token = await ask(app, request, **options)
        hint = token.get("id_token", "")
        picked = pick_claims(token.get("userinfo") or {})
        return {"userinfo": picked, "id_token": hint if len(hint) <= MAX_HINT_CHARS else ""}

    StarletteOAuth2App.authorize_access_token = authorize
