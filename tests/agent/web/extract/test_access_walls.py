"""Pages that are none: named, with advice. And pages that only talk about such things, judged by their own body,
in a few languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.types import Outcome
from agent.web.extract import html_page

PURPOSES = (
    "We and our 412 partners store cookies on your device. Personalised ads and content need your consent for these purposes. "
    * 12
)

WALLS = {
    "human": [
        "<title>Just a moment...</title><body><p>Checking your browser</p><div class=cf-turnstile></div>",
        "<p>Our systems have detected unusual traffic.</p>",
    ],
    "login": [
        "<h1>Sign in</h1><form><label>Name</label><input><input type=password></form>",
        f"<p>{'Members read their papers here. ' * 20}</p><form><input type=password></form>",
    ],
    "consent": [
        "<h1>Before you continue</h1><p>We use cookies and data.</p><button>Accept all</button>",
        f"<h1>Your privacy</h1><p>{PURPOSES}</p><button>Accept all</button><button>Reject</button>",
        "<h1>Mit Werbung weiterlesen</h1><p>Mit Cookies und Werbung kostenlos lesen, oder das Pur-Abo abonnieren.</p><a>Alle akzeptieren</a>",
    ],
    "JavaScript": [
        "<div id=root></div><script src=app.js></script>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><div></div>",
        "<p>Please enable JavaScript to continue.</p>",
    ],
}
ESSAY = (
    "<p>"
    + "A captcha asks you to verify you are human; cookie settings and paywalls say: subscribe to continue reading. "
    * 10
    + "</p>"
)


@pytest.mark.parametrize(("name", "html"), [(name, html) for name, pages in WALLS.items() for html in pages])
def test_a_wall_is_called_by_its_name(name: str, html: str) -> None:
    page = html_page.extract_html(html, "https://a.example.com/")
    assert page.outcome is Outcome.BLOCKED
    assert name in page.detail


@pytest.mark.parametrize(
    "html",
    [
        ESSAY,
        f"<div id=root>{ESSAY}</div><script src=app.js></script>",
        f"{ESSAY}<form>Log in <input type=password></form>",
        "<h1>Opening hours</h1><p>The dairy is open from 8 to 12.</p><script>track()</script>",
        "<h1>Dairy</h1><p>Closed.</p>",
        "<h1>Opening hours</h1><p>The dairy is open from 8 to 12.</p><div>We use cookies.</div><button>Accept all</button>",
        f"<title>Cookie policy</title><h1>Cookie policy</h1><p>{PURPOSES}</p><button>Accept all</button>",
        f"<h1>The law on consent</h1><p>{PURPOSES}</p>"
        + "<p>The court in Stenfors has ruled on it in June, and the town must pay for it.</p>" * 5
        + "<button>Accept all</button>",
        "<header><form>Log in <input type=password></form></header><h1>Closed today</h1><p>The library is closed.</p>",
    ],
)
def test_a_page_is_a_page(html: str) -> None:
    assert html_page.extract_html(html, "https://a.example.com/").outcome is Outcome.OK


HERE = "https://paper.example/2026/11/roof"
LINE = "The council met on a dark evening in February, and what it heard of the loan that paid for the roof was not what it had hoped for. "
LEDE = f"<p>{LINE}</p>"
WHOLE = "".join(f"<p>{LINE * 3}{n}</p>" for n in range(9))
PROMPT = "<div class=offer><h3>Subscribe to continue reading</h3><p>The first month costs 1 kr.</p><button>Subscribe</button></div>"


def stated(**more: object) -> str:
    data = {"@type": "NewsArticle", "headline": "The roof", "isAccessibleForFree": False, **more}
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def card(n: int, label: str = "") -> str:
    return f'<div class="teaser"><h2><a href="/2026/11/{n}">The story of day number {n}</a></h2><p>What happened, in brief.</p>{label}</div>'


PAYWALLS = {
    "a preview and a prompt": f"<article><h1>The roof</h1>{LEDE}{LEDE}{PROMPT}</article>",
    "stated in the data, and short": stated() + f"<article><h1>The roof</h1>{LEDE}</article>",
    "stated for this very address": stated(mainEntityOfPage={"@id": HERE}) + f"<h1>The roof</h1>{LEDE}",
    "stated as locked": f'<meta property="article:content_tier" content="locked"><h1>The roof</h1>{LEDE}',
    "stated and labelled": stated() + f"<h1>The roof</h1>{LEDE * 10}<p>For subscribers</p>",
    "a gate called so": f'<h1>The roof</h1>{LEDE}<div class="paywall"><p>Get the whole story with a plan from 9 kr.</p></div>',
    "a gate in the margin": f'<h1>The roof</h1>{LEDE}<aside class="regwall">Register to read this article for free.</aside>',
    "with headlines of others below": f"<article><h1>The roof</h1>{LEDE}{PROMPT}</article>"
    + "".join(map(card, range(6)))
    + '<meta property="og:type" content="article">',
    "the free articles are used up": f"<h1>The roof</h1>{LEDE}<p>You have read all of your 3 free articles this month.</p>",
    "it breaks off at a label": "<h1>The roof</h1><p>When the board met there were five chairs and six people …</p><p>For subscribers only</p>",
    "German": f"<h1>Das Dach</h1>{LEDE}<p>Jetzt abonnieren und weiterlesen</p>",
    "Swedish": f"<h1>Taket</h1>{LEDE}<p>Logga in eller bli kund för att läsa vidare.</p>",
    "Spanish": f"<h1>El tejado</h1>{LEDE}<p>Contenido exclusivo para suscriptores</p>",
}
OPEN_PAGES = {
    "a front page with a teaser for subscribers": "<main><h1>The Courier</h1><p>News from the lake.</p>"
    + card(1)
    + card(2)
    + card(3, "<p>For subscribers.</p>")
    + "</main>",
    "a front page of nothing but teasers for subscribers": "<h1>Premium</h1>"
    + "".join(card(n, "<b>Only for members</b>") for n in range(5)),
    "a banner above the headlines": f"<h1>The Courier</h1>{PROMPT}" + "".join(map(card, range(5))),
    "data about the teasers": stated(url="/2026/11/1")
    + stated(url="/2026/11/2")
    + "<h1>The Courier</h1>"
    + card(1)
    + card(2),
    "a whole article with an offer below": f"<article><h1>The roof</h1>{WHOLE}{PROMPT}</article>",
    "a whole article with an offer in its middle": f"<article><h1>The roof</h1>{LEDE}{PROMPT}{WHOLE}</article>",
    "an article that is not free and stands here whole": stated()
    + f"<article><h1>The roof</h1>{WHOLE}</article>",
    "a short notice and a login in the header": "<header>Already a subscriber? <form>Log in<input type=password></form></header>"
    "<h1>Closed today</h1><p>The library is closed today.</p>",
    "a text about paywalls": f"<h1>The price of news</h1><p>{LINE}Readers must subscribe to continue reading, and most leave. {LINE * 4}</p>",
    "an order page": "<h1>Our plans</h1><p>A subscription costs 129 kr a month. You can cancel at any time, and read on for the month you paid.</p>",
}


@pytest.mark.parametrize("name", PAYWALLS)
def test_a_paywall_is_told(name: str) -> None:
    page = html_page.extract_html(f"<title>The roof</title>{PAYWALLS[name]}", HERE)
    assert (page.outcome, "paywall" in page.detail) == (Outcome.BLOCKED, True), page.text


@pytest.mark.parametrize("name", OPEN_PAGES)
def test_what_speaks_of_subscribers_is_a_page_all_the_same(name: str) -> None:
    page = html_page.extract_html(f"<title>The roof</title>{OPEN_PAGES[name]}", HERE)
    assert page.outcome is Outcome.OK, page.detail


def test_the_front_page_of_the_demo_newspaper_is_free_and_its_loans_are_not() -> None:
    docs = map(
        json.loads,
        (Path(__file__).parents[4] / "demo" / "docs.jsonl").read_text(encoding="utf-8").splitlines(),
    )
    outcomes = {
        doc["url"]: html_page.extract_html(doc["html"], doc["url"]).outcome
        for doc in docs
        if doc.get("html") and "courier" in doc["url"]
    }
    assert [url for url, outcome in outcomes.items() if outcome is not Outcome.OK] == [
        "https://granvattnet-courier.example/premium/2026/10/22/dairy-loans"
    ]
    assert "https://granvattnet-courier.example/" in outcomes
