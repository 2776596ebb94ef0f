"""How the login asks its provider: within the limits of a policy, and without a redirect. Of the answer it
keeps what fits into one cookie: Streamlit would split more into several, each signed by itself, and parts of
several sign-ins could be put together into one that nobody made.

Streamlit makes authlib's client anew for each step of a sign-in and lets nobody name another; the class of it
is an attribute that authlib keeps for that."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlsplit

from agent.accounts.sign_in import pick_claims
from agent.net.exchange import Connections
from agent.net.httpx_transport import make_transport
from agent.net.policies import SIGN_IN

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
