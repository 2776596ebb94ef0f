"""Paywalls and what only looks like one: judged by the page's own body, in a few languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.types import Outcome
from agent.web.extract import html_page

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


WALLS = {
    "a preview and a prompt": f"<article><h1>The roof</h1>{LEDE}{LEDE}{PROMPT}</article>",
    "a preview longer than a screen": f"<article><h1>The roof</h1>{LEDE * 9}{PROMPT}</article>",
    "stated in the data, and short": stated() + f"<article><h1>The roof</h1>{LEDE}</article>",
    "stated in the data as text": stated(isAccessibleForFree="False") + f"<h1>The roof</h1>{LEDE}",
    "stated for this very address": stated(mainEntityOfPage={"@id": HERE}) + f"<h1>The roof</h1>{LEDE}",
    "stated as locked": f'<meta property="article:content_tier" content="locked"><h1>The roof</h1>{LEDE}',
    "stated and labelled": stated() + f"<h1>The roof</h1>{LEDE * 10}<p>For subscribers</p>",
    "a gate called so": f'<h1>The roof</h1>{LEDE}<div class="paywall"><p>Get the whole story with a plan from 9 kr.</p></div>',
    "a gate in the margin": f'<h1>The roof</h1>{LEDE}<aside class="regwall">Register to read this article for free.</aside>',
    "with headlines of others below": f"<article><h1>The roof</h1>{LEDE}{PROMPT}</article>"
    + "".join(map(card, range(6)))
    + '<meta property="og:type" content="article">',
    "the prompt alone": "<h1>Subscribe to continue reading</h1><p>Log in or choose a plan.</p>",
    "the free articles are used up": f"<h1>The roof</h1>{LEDE}<p>You have read all of your 3 free articles this month.</p>",
    "it breaks off at a label": "<h1>The roof</h1><p>When the board met there were five chairs and six people …</p><p>For subscribers only</p>",
    "German": f"<h1>Das Dach</h1>{LEDE}<p>Jetzt abonnieren und weiterlesen</p>",
    "German, reserved": f"<h1>Das Dach</h1>{LEDE}<p>Dieser Artikel ist exklusiv für Abonnenten.</p>",
    "Swedish": f"<h1>Taket</h1>{LEDE}<p>Logga in eller bli kund för att läsa vidare.</p>",
    "French": f"<h1>Le toit</h1>{LEDE}<p>Article réservé aux abonnés. Il vous reste 80 % de cet article à lire.</p>",
    "Spanish": f"<h1>El tejado</h1>{LEDE}<p>Contenido exclusivo para suscriptores</p>",
}
PAGES = {
    "a front page with a teaser for subscribers": "<main><h1>The Courier</h1><p>News from the lake.</p>"
    + card(1)
    + card(2)
    + card(3, "<p>For subscribers.</p>")
    + "</main>",
    "teasers labelled within their link": "<h1>The Courier</h1>"
    + "".join(
        f'<a href="/p/{n}"><span>Subscribers only</span><h3>How the dairy paid for it</h3></a>'
        for n in range(4)
    ),
    "a front page of nothing but teasers for subscribers": "<h1>Premium</h1>"
    + "".join(card(n, "<b>Only for members</b>") for n in range(5)),
    "a banner above the headlines": f"<h1>The Courier</h1>{PROMPT}" + "".join(map(card, range(5))),
    "a banner below the headlines": "<h1>The Courier</h1>" + "".join(map(card, range(5))) + PROMPT,
    "data about the teasers": stated(url="/2026/11/1")
    + stated(url="/2026/11/2")
    + "<h1>The Courier</h1>"
    + card(1)
    + card(2),
    "data about two unnamed others": stated() + stated() + "<h1>The Courier</h1>" + card(1) + card(2),
    "a whole article with an offer below": f"<article><h1>The roof</h1>{WHOLE}{PROMPT}</article>",
    "a whole article with an offer in its middle": f"<article><h1>The roof</h1>{LEDE}{PROMPT}{WHOLE}</article>",
    "an article that is not free and stands here whole": stated()
    + f"<article><h1>The roof</h1>{WHOLE}</article>",
    "the closed part is there": stated(hasPart={"isAccessibleForFree": False, "cssSelector": ".body"})
    + f"<article><h1>The roof</h1><div class=body>{WHOLE}</div><p>For subscribers</p></article>",
    "a short notice and a login in the header": "<header>Already a subscriber? <form>Log in<input type=password></form></header>"
    "<h1>Closed today</h1><p>The library is closed today.</p>",
    "a call at the end of a short article": f"<article><h1>Snow</h1>{LEDE}<p>Subscribe to read more stories like this one.</p></article>",
    "a text about paywalls": f"<h1>The price of news</h1><p>{LINE}Readers must subscribe to continue reading, and most leave. {LINE * 4}</p>",
    "a menu item": f"<nav><a href=/premium>For subscribers</a></nav><h1>The roof</h1>{LEDE}",
    "an order page": "<h1>Our plans</h1><p>A subscription costs 129 kr a month. You can cancel at any time, and read on for the month you paid.</p>",
}


@pytest.mark.parametrize("name", WALLS)
def test_a_paywall_is_told(name: str) -> None:
    page = html_page.extract_html(f"<title>The roof</title>{WALLS[name]}", HERE)
    assert (page.outcome, "paywall" in page.detail) == (Outcome.BLOCKED, True), page.text


@pytest.mark.parametrize("name", PAGES)
def test_what_speaks_of_subscribers_is_a_page_all_the_same(name: str) -> None:
    page = html_page.extract_html(f"<title>The roof</title>{PAGES[name]}", HERE)
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
