"""Access tokens of the login's provider: those issued for this server hold, by HTTP and by MCP, and no other."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OctKey, RSAKey
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agent.accounts.accounts import Accounts
from agent.accounts.provider_tokens import ProviderTokens
from agent.mcp.server import McpHttp
from tests.agent.accounts.conftest import BEGAN, find_caller
from tests.agent.http.conftest import DEMO, QUESTION, Server
from tests.agent.http.conftest import serve as serve  # a fixture
from tests.web.login import LOGIN, sign_in
from tests.web.site import Reply, Site

ISSUER, HERE = "https://login.example", "https://touchstone.example"
KEYS: dict[str, Key] = {
    "RS256": RSAKey.generate_key(2048, {"kid": "rsa"}),
    "ES256": ECKey.generate_key("P-256", {"kid": "ec"}),
}
FOREIGN = RSAKey.generate_key(2048, {"kid": "rsa"})
STARTS = {"research", "site", "collect", "check", "library", "read"}


def issue(key: Key | None = None, *, typ: str = "at+jwt", alg: str = "RS256", **more: Any) -> str:
    """A token of Ann's for this server, with what is otherwise; None leaves a claim out."""
    claims = {
        "iss": ISSUER,
        "sub": "ann",
        "aud": f"{HERE}/mcp",
        "iat": int(time.time()) - 10,
        "exp": int(time.time()) + 600,
        "client_id": "an assistant",
    }
    claims = {name: value for name, value in (claims | more).items() if value is not None}
    signer = key or KEYS[alg]
    return jwt.encode({"alg": alg, "kid": signer.kid, "typ": typ}, claims, signer, [alg])


@pytest.fixture
def provider() -> Iterator[Site]:
    shown = [key.as_dict(private=False) for key in KEYS.values()]
    pages = {"/keys": Reply(200, json.dumps({"keys": [*shown, {"kty": "new", "kid": "odd"}]}).encode())}
    with Site(pages) as site:
        told = {"issuer": ISSUER, "jwks_uri": site.url("/keys")}
        site.pages["/.well-known/openid-configuration"] = Reply(200, json.dumps(told).encode())
        yield site


@pytest.fixture
def server(serve, provider: Site) -> Server:
    made: Server = serve(
        **LOGIN
        | {
            "OIDC_DISCOVERY_URL": provider.url("/.well-known/openid-configuration"),
            "OIDC_REDIRECT_URI": f"{HERE}/oauth2callback",
        }
    )
    sign_in(made.benches, "ann")
    return made


def test_a_token_that_was_issued_for_here_is_for_its_person(server: Server) -> None:
    caller = server.call(issue())
    made = caller.post("/runs", json={"question": QUESTION, "settings": DEMO})
    assert made.status_code == 201 and made.json()["program"] == "an assistant"
    assert [run.id for run in server.bench(sign_in(server.benches, "ann")).runs()] == [made.json()["id"]]
    again = server.call(issue(alg="ES256", typ="JWT", aud=["other", HERE]))
    assert again.get("/runs").json()["runs"][0]["id"] == made.json()["id"]
    hook = caller.post("/webhooks", json={"url": "https://8.8.8.8/"})
    assert hook.status_code == 403 and "on the screen You" in hook.json()["detail"]


@pytest.mark.parametrize(
    ("stated", "scopes"),
    [
        ({}, STARTS),
        ({"scope": "openid email"}, STARTS),
        ({"scope": "openid read"}, {"read"}),
        ({"scp": ["research", "decide"]}, {"research", "decide"}),
    ],
)
def test_it_has_the_scopes_that_it_names_and_decides_only_where_it_says_so(
    server: Server, stated: dict[str, Any], scopes: set[str]
) -> None:
    found = server.benches.find_program(issue(**stated))
    assert found and set(found[0].scopes) == scopes and found[1].subject == "ann"
    accounts = server.benches.accounts
    assert accounts and find_caller(accounts, issue(**stated), "reply") is None


HOLDS_NOT = {
    "another audience": lambda: issue(aud="https://other.example"),
    "an ID token": lambda: issue(aud="touchstone", nonce="n"),
    "no audience": lambda: issue(aud=None),
    "another issuer": lambda: issue(iss="https://evil.example"),
    "expired": lambda: issue(exp=int(time.time()) - 1),
    "no end": lambda: issue(exp=None),
    "not yet": lambda: issue(nbf=int(time.time()) + 4_000),
    "from the future": lambda: issue(iat=int(time.time()) + 4_000),
    "a foreign key": lambda: issue(FOREIGN),
    "unknown key": lambda: issue(RSAKey.generate_key(2048, {"kid": "none"})),
    "unsigned": lambda: issue().rpartition(".")[0] + ".",
    "alg none": lambda: "eyJhbGciOiJub25lIn0." + issue().split(".")[1] + ".",
    "a shared secret": lambda: issue(OctKey.import_key(b"k" * 40, {"kid": "rsa"}), alg="HS256"),
    "another kind": lambda: issue(typ="logout+jwt"),
    "bound to a proof": lambda: issue(cnf={"jkt": "x"}),
    "somebody unknown": lambda: issue(sub="cy"),
    "no subject": lambda: issue(sub=None),
    "a number": lambda: issue(sub=5),
    "ended": lambda: issue(iat=BEGAN),
    "nonsense": lambda: "a.b.c",
    "odd": lambda: "eyJhbGciOlsxXX0.W10.eA",
    "long": lambda: "." * 9_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", HOLDS_NOT)
def test_any_other_does_not_hold(server: Server, what: str) -> None:
    accounts = server.benches.accounts
    assert accounts
    ann = sign_in(server.benches, "ann")
    accounts.people.sign_out_everywhere(ann, ann.id)
    refused = server.call(HOLDS_NOT[what]()).get("/runs")
    assert refused.status_code == 401 and "send a token that holds" in refused.json()["detail"]
    assert server.call(issue()).get("/runs").status_code == 200


def test_who_is_blocked_or_not_let_in_any_more_is_refused_at_once(server: Server, monkeypatch) -> None:
    accounts, ann, bo = server.benches.accounts, *(sign_in(server.benches, one) for one in ("ann", "bo"))
    assert accounts
    caller = server.call(issue(sub="bo"))
    assert caller.get("/runs").status_code == 200
    accounts.people.set_blocked(ann, bo.id, blocked=True)
    assert caller.get("/runs").status_code == 401
    accounts.people.set_blocked(ann, bo.id, blocked=False)
    assert server.call(issue(sub="bo", iat=int(time.time()) - 60)).get("/runs").status_code == 401, (
        "from before"
    )
    monkeypatch.setattr(accounts.people.rules, "allowed", frozenset({"bo@example.org"}))
    assert server.call(issue()).get("/runs").status_code == 401


def test_new_keys_are_learned_and_old_ones_hold_while_the_provider_is_away(
    server: Server, provider: Site, monkeypatch
) -> None:
    accounts = server.benches.accounts
    assert accounts and accounts.provider and server.call(issue()).get("/runs").status_code == 200
    new = RSAKey.generate_key(2048, {"kid": "new"})
    provider.pages["/keys"] = Reply(200, json.dumps({"keys": [new.as_dict(private=False)]}).encode())
    asked = len(provider.asked)
    for _ in range(3):
        assert server.call(issue(new)).get("/runs").status_code == 401
    assert len(provider.asked) == asked, "it is asked once a minute at most"
    monkeypatch.setattr(accounts.provider, "_rates", type(accounts.provider._rates)(0))
    assert server.call(issue(new)).get("/runs").status_code == 200
    assert server.call(issue()).get("/runs").status_code == 401, "a key that the provider took back"
    provider.pages["/keys"] = Reply(500)
    monkeypatch.setattr(accounts.provider, "_old_at", 0.0)
    assert server.call(issue(new)).get("/runs").status_code == 200


def test_a_provider_that_was_never_reached_is_told(server: Server, provider: Site) -> None:
    provider.pages["/keys"] = Reply(500)
    away = server.call(issue()).get("/runs")
    assert away.status_code == 503 and "ask again in a minute" in away.json()["detail"]
    own = server.make_token(sign_in(server.benches, "ann"))
    assert server.call(own).get("/runs").status_code == 200


def test_where_nobody_signs_in_there_is_no_provider(serve) -> None:
    local: Server = serve()
    assert local.call(issue()).get("/runs").status_code == 401
    assert (
        isinstance(local.benches.token_accounts, Accounts) and local.benches.token_accounts.provider is None
    )


def test_mcp_names_the_provider_and_takes_its_tokens(server: Server) -> None:
    client = TestClient(Starlette(routes=McpHttp(lambda: server.benches).routes))
    metadata = client.get("/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["resource"] == f"{HERE}/mcp" and metadata["authorization_servers"] == [ISSUER]
    assert isinstance(server.benches.accounts and server.benches.accounts.provider, ProviderTokens)
    refused = client.post("/mcp", json={}, headers={"authorization": f"Bearer {issue(aud='x')}"})
    assert refused.status_code == 401 and HERE in refused.headers["www-authenticate"]
