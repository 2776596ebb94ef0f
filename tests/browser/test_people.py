"""Two people at once on one server with a login, against a real OpenID provider on this machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.forked import ForkedServed
from tests.browser.served import Served

QUESTION = "On what date did the Stenfors bridge reopen to traffic?"
Person = Callable[[str], Page]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server, and a provider that knows Ann and Bo."""
    users = [
        User(sub=name, claims={"email": f"{name}@example.org", "name": name.title(), "email_verified": True})
        for name in ("ann", "bo")
    ]
    with run_server_in_thread(user_claims=users) as provider:
        served = ForkedServed(tmp_path_factory.mktemp("team") / "data", STEP_GAP="0.05")
        served.settings |= {
            "OIDC_DISCOVERY_URL": f"http://localhost:{provider.server_port}/.well-known/openid-configuration",
            "OIDC_CLIENT_ID": "touchstone",
            "OIDC_CLIENT_SECRET": "known-to-both",
            "OIDC_REDIRECT_URI": f"{served.url}oauth2callback",
        }
        yield served.start()
        served.stop()


@pytest.fixture(scope="module")
def browsers() -> Iterator[dict[str, BrowserContext]]:
    """A browser of each person, once they have signed in."""
    opened: dict[str, BrowserContext] = {}
    yield opened
    for context in opened.values():
        context.close()


@pytest.fixture
def person(team: Served, browser: Browser, browsers: dict[str, BrowserContext]) -> Person:
    """A tab of someone with a browser of their own, signed in: `person("ann")`."""

    def signed_in(name: str) -> Page:
        if name in browsers:
            return browsers[name].new_page()
        browsers[name] = browser.new_context(base_url=team.url, accept_downloads=True)
        page = browsers[name].new_page()
        sign_in(page, name)
        return page

    return signed_in


def sign_in(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=name, exact=True).first.click()
    expect(page.get_by_text("Research you can check.")).to_be_visible()


def ask(page: Page, question: str) -> str:
    """Ask the demo world; returns the address of the run when it has its answer."""
    page.goto("/")
    page.get_by_role("button", name=question).first.click()
    expect(page.get_by_role("button", name="Share")).to_be_visible()
    return page.url


def test_two_people_at_once_see_their_own_and_what_is_shared_with_them(team: Served, person: Person) -> None:
    ann, bo = person("ann"), person("bo")
    mine = ask(ann, "How old are the children")
    run_path = mine.removeprefix(team.url)

    # a deep link to the run of another leads nowhere
    bo.goto(f"/{run_path}")
    expect(bo.get_by_text("There is no run called")).to_be_visible()
    bo.goto("/runs")
    expect(bo.get_by_text("No runs yet")).to_be_visible()
    bo.goto("/people")
    expect(bo.get_by_text("No such screen")).to_be_visible()

    # a link to read
    ann.get_by_role("button", name="Share").click()
    ann.get_by_role("button", name="Link to read").click()
    address = ann.locator("code", has_text="/shared?key=").inner_text()
    bo.goto(address)
    frame = bo.frame_locator("iframe")
    expect(frame.get_by_role("heading", name=re.compile("How old")).first).to_be_visible()

    # taken back
    ann.goto(mine)
    ann.get_by_role("button", name="Share").click()
    ann.get_by_role("button", name="Take back").click()
    expect(ann.get_by_text("The link opens nothing any more.").first).to_be_visible()
    bo.goto(address)
    expect(bo.get_by_text("There is no such shared run")).to_be_visible()


def test_a_token_is_shown_once_and_answers_until_it_is_revoked(team: Served, person: Person) -> None:
    ann = person("ann")
    ann.goto("/you")
    ann.get_by_label("What will use it").fill("help bot")
    ann.get_by_label("What will use it").press("Enter")
    ann.get_by_role("combobox", name="For").click()
    ann.get_by_text("POST /reply: answer a conversation").click()
    ann.keyboard.press("Escape")
    ann.get_by_role("button", name="Make a token").click()
    token = ann.locator("code", has_text="tst_").inner_text()
    ask_reply = lambda: ann.request.post(  # noqa: E731
        "/reply",
        data={"conversation": [{"role": "user", "text": "When do backups run?"}]},
        headers={"authorization": f"Bearer {token}"},
    )
    assert ask_reply().status == 200
    assert ann.request.post("/reply", data={}).status == 401, "the cookie of a login is no token"
    ann.reload()
    expect(ann.get_by_text("help bot")).to_be_visible()
    assert ann.locator("code", has_text="tst_").count() == 0
    ann.get_by_role("button", name="Revoke").click()
    expect(ann.get_by_text("revoked", exact=True)).to_be_visible()
    assert ask_reply().status == 401


def test_a_download_is_for_whom_it_was_made(team: Served, person: Person) -> None:
    ann, bo = person("ann"), person("bo")
    ask(ann, "How old are the children")
    ann.get_by_role("button", name="Export").click()
    urls: list[str] = []
    ann.on("request", lambda request: urls.append(request.url) if "/media/" in request.url else None)
    with ann.expect_download() as download:
        ann.get_by_role("button", name="Markdown", exact=True).click()
    assert "How old" in Path(download.value.path()).read_text(encoding="utf-8")
    address = next(iter(urls), download.value.url)
    assert "/media/" in address
    assert ann.request.get(address).status == 200
    assert bo.request.get(address).status == 404
    with_none = bo.context.browser.new_context()
    assert with_none.request.get(address).status == 404
    with_none.close()


def test_signing_out_everywhere_ends_the_other_tabs_and_nobody_else(team: Served, person: Person) -> None:
    ann, bo = person("ann"), person("bo")
    other = ann.context.new_page()
    other.goto("/runs")
    expect(other.get_by_role("heading", name="Runs")).to_be_visible()
    ann.goto("/you")
    ann.get_by_role("button", name="Sign out everywhere").click()
    ann.wait_for_url(re.compile("end_session"))  # the provider's own page to sign out there, too
    ann.goto("/you")
    expect(ann.get_by_role("button", name="Sign in")).to_be_visible()
    other.get_by_text("Show deleted").click()
    expect(other.get_by_role("button", name="Sign in")).to_be_visible()
    bo.goto("/runs")
    expect(bo.get_by_role("heading", name="Runs")).to_be_visible()

    # signed in, they are where the link led that they had opened
    ann.goto("/?run=none-such")
    ann.get_by_role("button", name="Sign in").click()
    ann.get_by_role("button", name="ann", exact=True).first.click()
    expect(ann.get_by_text("There is no run called")).to_be_visible()
    ann.wait_for_url(re.compile(r"/\?run=none-such$"))
