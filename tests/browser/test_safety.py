"""What a hostile page, model or question writes stays text in a real browser: nothing is loaded, executed or
linked where it should not."""

from __future__ import annotations

import http.client
import sqlite3
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from agent.settings import config as configuration
from agent.types import Settings
from agent.workbench import Workbench
from tests.browser.screen import Screen, Tab
from tests.browser.served import Served
from tests.web.folders import page as doc
from tests.web.folders import write_world
from tests.web.site import Site, html

FORMS = (
    "![a]({leak}/1)",
    "\\![a]({leak}/2)",
    "![a][ref]\n\n[ref]: {leak}/3",
    '<img src="{leak}/4" onerror="alert(4)">',
    "<script>alert(5)</script>",
    "<svg onload=alert(6)><image href='{leak}/6'/></svg>",
    "[a](javascript:alert(7))",
    "[a](data:text/html,<script>alert(8)</script>)",
    '<iframe src="{leak}/9"></iframe>',
    "<style>body{{background:url({leak}/10)}}</style>",
    '<link rel=stylesheet href="{leak}/11">',
    "$\\href{{javascript:alert(12)}}{{x}}$ $\\includegraphics{{{leak}/12}}$",
    ":red[![a]({leak}/13)]",
    "`![a]({leak}/14)`",
    "{leak}/15.png",
    '"><img src={leak}/16>',
    "</details></div><img src={leak}/17>",
    "<meta http-equiv=refresh content='0;url={leak}/18'>",
    '<a href="file:///etc/passwd">a</a>',
    "[![a]({leak}/20)]({leak}/20)",
    "<form action={leak}/21><button>a</button></form>",
    "<video src={leak}/22 autoplay></video>",
    "<object data={leak}/23></object>",
    "\u202e![a]({leak}/24)",
    "{{b|{leak}/25}}",
)
"""Ways to have something loaded or run without a click, in Markdown, HTML, CSS, formulas and chart labels."""


def _world(folder: Path, leak: str) -> str:
    facts = [
        f"The harbour master of Lerviken keeps {number} boats {form.format(leak=leak)} in the old harbour."
        for number, form in enumerate(FORMS)
    ]
    title = f"Lerviken harbour {FORMS[0].format(leak=leak)} {FORMS[3].format(leak=leak)}"
    pages = [
        doc(
            f"https://harbour{n}.example/lerviken",
            title,
            "\n\n".join(facts[start : start + 7]),
            links=[f"{leak}/link", "javascript:alert(99)"],
        )
        for n, start in enumerate(range(0, len(facts), 7))
    ]
    return write_world(folder, pages)


@pytest.fixture
def hostile(server: Served, tmp_path: Path):
    """A run over a hostile world, in the server's own store; gives its id and the site that counts what is
    loaded."""
    with Site({"/": html("leaked")}) as site:
        bench = Workbench(configuration.read_config({"TOUCHSTONE_DATA": str(server.data)}))
        question = (
            "Who keeps the boats of the harbour master of Lerviken? "
            f"{FORMS[3].format(leak=site.url('/q'))} {FORMS[0].format(leak=site.url('/q'))}"
        )
        run_id = bench.start(
            question.split(" <img")[0],
            Settings(world=_world(tmp_path / "world", site.url("").rstrip("/")), model="keyless"),
        )
        bench.drive(run_id)
        shown_only = bench.start(question, Settings(world="demo", model="keyless", mode="step"))
        bench.drive(shown_only)
        yield bench, run_id, shown_only, site
        bench.shutdown()


def _harmless(page: Page) -> None:
    links = page.locator(".stMain a[href]").evaluate_all(
        "links => links.map(a => [a.protocol, a.rel, a.host])"
    )
    for protocol, rel, host in links:
        assert protocol in ("http:", "https:"), f"a link with {protocol}"
        assert host.startswith(("127.0.0.1", "localhost")) or "noopener" in rel, (
            f"a link to {host} that tells where it comes from"
        )
    assert (
        page.locator(
            ".stMain img, .stMain iframe, .stMain script, .stMain object, .stMain "
            "video, .stMain form, .stMain svg image"
        ).count()
        == 0
    )


def test_hostile_texts_stay_texts_on_every_screen(server: Served, tab: Tab, hostile) -> None:
    bench, run_id, shown_only, site = hostile
    page = tab()
    screen = Screen(page, server.url).open(run_id)
    screen.stands("Answer to review")
    _harmless(page)
    for name in ("Sources", "Facts", "Conflicts", "Plan", "Activity"):
        screen.tab(name)
        _harmless(page)
    expect(page.locator(".answer")).to_contain_text("harbour master of Lerviken")

    fact = next(fact for fact in bench.snapshot(run_id).state.facts.values() if fact.page_id)
    page.goto(f"{server.url}page?run={run_id}&id={fact.page_id}&fact={fact.id}")
    expect(page.locator("mark").first).to_be_visible()
    expect(page.locator(".paper").last).to_contain_text("![a](")
    _harmless(page)

    screen.open(shown_only)
    screen.stands("Waiting for you")
    expect(page.locator(".ts-question")).to_contain_text("<img src=")
    _harmless(page)
    page.goto(f"{server.url}runs")
    expect(page.get_by_role("link", name="harbour master").first).to_be_visible()
    _harmless(page)
    screen.open()
    expect(page.get_by_role("link", name="harbour master").first).to_be_visible()
    _harmless(page)
    assert site.paths() == []


def test_a_screen_that_fails_says_so_without_a_trace_and_comes_back(
    served: Callable[..., Served], tab: Tab
) -> None:
    own = served()
    with sqlite3.connect(own.data / "touchstone.db") as connection:
        connection.execute("ALTER TABLE drafts RENAME TO away")
    page = tab()
    page.goto(own.url)
    expect(page.get_by_text("This screen could not be drawn: the database could not be used")).to_be_visible()
    shown = page.locator("body").inner_text()
    assert "Traceback" not in shown and "sqlite" not in shown.lower() and str(own.data) not in shown
    assert "no such table: drafts" in own.log()
    connection.execute("ALTER TABLE away RENAME TO drafts")
    connection.close()
    expect(page.get_by_role("heading", name="Research you can check.")).to_be_visible()


def test_headers_keep_the_browser_at_home(server: Served) -> None:
    with urllib.request.urlopen(server.url) as answer:
        headers = {name.lower(): value for name, value in answer.headers.items()}
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'self'" in policy
    assert "object-src 'none'" in policy
    script = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe-inline" not in script and "unsafe-eval'" not in script.replace("wasm-unsafe-eval'", "")
    assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "same-origin"


def test_another_host_name_may_not_open_a_session(server: Served) -> None:
    for host, status in ((f"127.0.0.1:{server.port}", 101), ("evil.example", 403)):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request(
            "GET",
            "/_stcore/stream",
            headers={
                "Host": host,
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Protocol": "streamlit, x",
            },
        )
        assert connection.getresponse().status == status, host
        connection.close()
