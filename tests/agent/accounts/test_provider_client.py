"""What the login asks of its provider is held to a limit, whatever the provider sends."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator
from dataclasses import replace

import pytest
from authlib.integrations import starlette_client

from agent.accounts import sign_in
from agent.net.deadline import DeadlineExceeded
from agent.net.exchange import AnswerUnusable
from agent.net.ssrf_guard import FetchRefused
from tests.web.site import Reply, Site, sends_to

PATH = "/.well-known/openid-configuration"


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    former = starlette_client.StarletteOAuth2App.client_cls
    yield
    starlette_client.StarletteOAuth2App.client_cls = former


def describe(site: Site, host: str = "127.0.0.1") -> dict[str, object]:
    """What the login learns at this site, whose provider is at the host."""
    sign_in.bound_provider_client(f"http://{host}/")
    oauth = starlette_client.OAuth()
    oauth.register("here", client_id="touchstone", server_metadata_url=site.url(PATH))
    return asyncio.run(oauth.create_client("here").load_server_metadata())  # type: ignore[no-any-return]


def test_an_honest_description_is_read() -> None:
    with Site({PATH: Reply(200, b'{"issuer": "https://id.example"}')}) as site:
        assert describe(site)["issuer"] == "https://id.example"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(200, b" " * 2_000_000), AnswerUnusable),
        (Reply(200, gzip.compress(b" " * 50_000_000), {"Content-Encoding": "gzip"}), AnswerUnusable),
        (Reply(200, b"x", {"Content-Encoding": "br"}), AnswerUnusable),
        (Reply(200, b"{", ends="drips"), DeadlineExceeded),
        (Reply(200, b"{", ends="stalls"), DeadlineExceeded),
        (Reply(200, b"[" * 200_000), RecursionError),
    ],
    ids=["long", "gzip", "br", "drips", "stalls", "deep"],
)
def test_a_hostile_description_ends(
    reply: Reply, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "SIGN_IN", replace(sign_in.SIGN_IN, seconds=1.0))
    with Site({PATH: reply}) as site, pytest.raises(error):
        describe(site)


def test_a_redirect_is_not_followed() -> None:
    with Site({PATH: sends_to("/inner"), "/inner": Reply(200, b"{}")}) as site:
        with pytest.raises(Exception, match="302"):
            describe(site)
        assert site.paths() == [PATH]


def test_another_host_that_it_names_is_public() -> None:
    with Site({}) as site, pytest.raises(FetchRefused):
        describe(site, "id.example")
    assert site.asked == []
