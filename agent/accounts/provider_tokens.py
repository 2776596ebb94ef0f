"""Access tokens of the login's provider that were issued for this server (RFC 8707, RFC 9068), as tokens of
programs: who has one acts for the person who let it."""

from __future__ import annotations

import logging
import math
import threading
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from agent.accounts.people import LOCAL, People, Person
from agent.accounts.quotas import RequestRates
from agent.accounts.sign_in import CLOCK_SKEW_S
from agent.accounts.tokens import SCOPES, ApiToken
from agent.net.deadline import NoAnswer
from agent.net.exchange import Connections
from agent.net.policies import SIGN_IN
from agent.settings.config import Config
from agent.text.plurals import clip

log = logging.getLogger(__name__)


class ProviderTokens:
    """Checks them with the provider's keys, which are asked for when they are needed, once a minute at most.
    Thread-safe."""

    algorithms = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()
    """Signatures that are checked with a public key."""

    def __init__(self, config: Config, people: People) -> None:
        self.address = config.OIDC_REDIRECT_URI.removesuffix("/oauth2callback")
        """The address of this server, for which a token has to be issued, or for a part of it."""
        self._url, self._people = config.OIDC_DISCOVERY_URL, people
        self._rates, self._lock = RequestRates(1), threading.Lock()
        self._issuer, self._keys, self._old_at = "", KeySet([]), -math.inf

    def read_issuer(self) -> str:
        """The provider, by the name it gives itself. Raises NoAnswer."""
        with self._lock:
            if time.monotonic() > self._old_at:
                self._ask()
            if not self._issuer:
                raise NoAnswer("the login's provider does not tell its keys: ask again in a minute")
            return self._issuer

    def find(self, text: str) -> tuple[ApiToken | None, Person]:
        """The token of this text, and whom it acts for; None and LOCAL for one that does not hold. It has the
        scopes that it names, and when it names none of ours, those to start runs and to read, never `decide`.
        Raises NoAnswer when the provider does not tell its keys."""
        try:
            claims = self._check(text)
        except (JoseError, ValueError):
            return None, LOCAL
        person = self._people.find_admitted(claims["iss"], claims["sub"], int(claims["iat"]))
        if person is None:
            return None, LOCAL
        stated = claims.get("scope") or claims.get("scp") or ""
        named = stated.split() if isinstance(stated, str) else stated if isinstance(stated, list) else ()
        scopes = [one for one in SCOPES if one in named]
        scopes = scopes or [one for one in SCOPES if one not in ("decide", "reply", "messages")]
        client = str(claims.get("client_id") or claims.get("azp") or "an app of the login's provider")
        token_id = uuid5(NAMESPACE_URL, f"{claims['iss']} {claims['sub']} {client}").hex
        return ApiToken(token_id, person.id, clip(client), tuple(scopes), "", "", ""), person

    def _check(self, text: str) -> dict[str, Any]:
        """The claims of a token that holds. Raises JoseError or ValueError for any other, NoAnswer."""
        issuer = self.read_issuer()
        with self._lock:
            try:
                token = jwt.decode(text, self._keys, self.algorithms)
            except InvalidKeyIdError:  # the provider may have new ones
                self._ask()
                token = jwt.decode(text, self._keys, self.algorithms)
        ours = [f"{self.address}{part}" for part in ("", "/", "/mcp", "/api/v1")]
        needed: dict[str, Any] = {name: {"essential": True} for name in ("iss", "aud", "sub", "iat", "exp")}
        needed["iss"]["value"], needed["aud"]["values"] = issuer, ours
        jwt.JWTClaimsRegistry(leeway=CLOCK_SKEW_S, **needed).validate(token.claims)
        kind = str(token.header.get("typ", "jwt")).lower().removeprefix("application/")
        # `cnf`: it holds together with a proof of its owner alone, which is not asked for here
        if kind not in ("jwt", "at+jwt") or token.claims["exp"] <= time.time() or "cnf" in token.claims:
            raise ValueError("no access token that holds now")
        return token.claims

    def _ask(self) -> None:
        """Ask the provider for its name and keys, unless that was within the last minute; when it does not
        answer, those known hold on."""
        if self._rates.take(""):
            return
        connections = Connections([urlsplit(self._url).hostname or ""])
        try:
            told = connections.exchange(SIGN_IN, self._url).json()
            keys = connections.exchange(SIGN_IN, told["jwks_uri"]).json()["keys"]
            public = [key for key in keys if key["kty"] in ("RSA", "EC", "OKP")]
            self._keys, self._issuer = KeySet.import_key_set({"keys": public}), str(told["issuer"])
            self._old_at = time.monotonic() + timedelta(hours=1).total_seconds()
        except (NoAnswer, JoseError, ValueError, KeyError, TypeError) as odd:
            log.error("the login's provider does not tell its keys", exc_info=odd)
        finally:
            connections.close()
