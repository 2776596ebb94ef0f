"""A server with a login for tests: its settings, and people who sign in."""

from __future__ import annotations

from typing import Any

from agent.accounts.people import Person
from agent.workbenches import Workbenches
from tests.agent.accounts.conftest import make_claims

LOGIN = {
    "OIDC_DISCOVERY_URL": "http://127.0.0.1:9/.well-known/openid-configuration",
    "OIDC_CLIENT_ID": "touchstone",
    "OIDC_CLIENT_SECRET": "client-secret-4711",
    "OIDC_COOKIE_SECRET": "cookie-secret-of-the-tests-0123456789",
    "OIDC_REDIRECT_URI": "http://127.0.0.1:8501/oauth2callback",
}


def sign_in(benches: Workbenches, name: str, at: int = 100, **more: Any) -> Person:
    """A person signs in at this server."""
    assert benches.accounts is not None
    return benches.accounts.people.recognize(make_claims(name, at) | more)
