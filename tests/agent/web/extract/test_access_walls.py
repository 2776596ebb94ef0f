"""Pages that are none: named, with advice. And pages that only talk about such things."""

from __future__ import annotations

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
    "paywall": [
        "<h1>Dairy</h1><p>It began in 1921.</p><div>Subscribe now to continue reading.</div>",
        '<script type="application/ld+json">{"isAccessibleForFree": false}</script><h1>Dairy</h1><p>It began</p>',
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
