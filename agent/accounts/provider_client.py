"""How the login asks its provider: within the limits of a policy, and without a redirect.

Streamlit makes authlib's client anew for each step of a sign-in and lets nobody name another; the class of it
is an attribute that authlib keeps for that."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from agent.net.exchange import Connections
from agent.net.httpx_transport import make_transport
from agent.net.policies import SIGN_IN


def bound_provider_client(discovery_url: str) -> None:
    """Hold all that is asked from now on of the provider (its description, keys, tokens, people) to the
    policy. The provider's own host may be an inner one; other hosts that it names are public."""
    from authlib.integrations.starlette_client import StarletteOAuth2App
    from authlib.integrations.starlette_client.apps import AsyncOAuth2Client

    transport = make_transport(Connections([urlsplit(discovery_url).hostname or ""]), SIGN_IN)
    StarletteOAuth2App.client_cls = partial(AsyncOAuth2Client, transport=transport, trust_env=False)
