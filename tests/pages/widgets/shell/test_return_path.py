"""After signing in a person is on the screen whose link they had opened, and never on another server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.widgets.shell.return_path import COOKIE, ReturnPathMiddleware

HOST = "https://r.example"


@pytest.fixture
def browser() -> Iterator[TestClient]:
    """A browser at a server whose login does as Streamlit's: off to the provider, back to the first screen."""

    def login(_request: Request) -> RedirectResponse:
        return RedirectResponse("https://provider.example/authorize", status_code=302)

    def back(_request: Request) -> RedirectResponse:
        return RedirectResponse("/", status_code=302)

    routes = [Route("/auth/login", login), Route("/oauth2callback", back), Route("/auth/logout", back)]
    app = Starlette(routes=routes, middleware=[Middleware(ReturnPathMiddleware)])
    with TestClient(
        app, base_url=HOST, follow_redirects=False
    ) as opened:  # begins and ends the server's life
        yield opened


def sign_in_from(browser: TestClient, referer: str) -> str:
    """Where the browser is led after it signed in on the page with this address."""
    sent = browser.get("/auth/login", headers={"referer": referer})
    assert sent.headers["location"] == "https://provider.example/authorize"
    return browser.get("/oauth2callback?code=1").headers["location"]


@pytest.mark.parametrize("place", ["/?run=20261122-1&view=facts", "/shared?key=a-B_9%2F", "/runs", "/"])
def test_the_way_back_leads_where_the_person_was_going(browser: TestClient, place: str) -> None:
    assert sign_in_from(browser, HOST + place) == place
    assert not browser.cookies.get(COOKIE)
    assert browser.get("/oauth2callback?code=2").headers["location"] == "/"


@pytest.mark.parametrize(
    "referer",
    ["", "https://evil.example/runs", "https://r.example.evil.example/", f"{HOST}//evil.example", f"{HOST}/auth/logout",
     f"{HOST}/oauth2callback?code=1", f"{HOST}/?x={'x' * 3000}", f"{HOST}/?a=1;Path=/x", "https://r.example@evil.example/",
     "http://[r.example", f"{HOST}.evil.example/", "https://rxexample/runs"]
)  # fmt: skip
def test_no_other_address_is_kept(browser: TestClient, referer: str) -> None:
    assert sign_in_from(browser, referer) == "/"


@pytest.mark.parametrize(
    "planted",
    ["//evil.example", "https://evil.example/", "/\\evil.example", "/%09/evil.example", "/./../x", "/auth/logout",
     "javascript:alert(1)", "evil.example", "/runs//evil.example"]
)  # fmt: skip
def test_a_planted_cookie_leads_nowhere(browser: TestClient, planted: str) -> None:
    headers = {"cookie": f"{COOKIE}={planted}"}
    assert browser.get("/oauth2callback?code=1", headers=headers).headers["location"] == "/"


def test_signing_out_leads_as_before(browser: TestClient) -> None:
    assert browser.get("/auth/logout", headers={"referer": f"{HOST}/runs"}).headers["location"] == "/"
