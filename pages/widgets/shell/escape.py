"""Untrusted text on its way to the screen: what came from the web, a model or a person never becomes markup.

Two ways in and no third: `html` for `st.html` (every character that could open a tag or an entity is
replaced) and `md` for labels that Streamlit reads as Markdown (every ASCII punctuation mark is escaped, so
that no image, link, formula, colour or icon can begin). `st.text` and `st.code` need neither."""

from __future__ import annotations

import html as _html
import re
from urllib.parse import quote, unquote, urlsplit

PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and the marks that turn the direction of writing: an address must read as it is."""


def html(text: object) -> str:
    """Text for `st.html`, between tags or inside a quoted attribute."""
    return _html.escape(CONTROL.sub("", str(text)), quote=True)


def md(text: object, limit: int = 0) -> str:
    """Text for a Markdown sink (labels, notices), on one line, cut to `limit` characters if given."""
    flat = " ".join(CONTROL.sub("", str(text)).split())
    return PUNCTUATION.sub(r"\\\1", shorten(flat, limit) if limit else flat)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters on one line, cut at a word when there is one near, with an ellipsis."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    cut = flat[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 0.6 else cut).rstrip(" ,;:.") + "…"


def href(url: str) -> str:
    """The address for a link, escaped; "" when it is not a plain web address (no scripts, files or data)."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return html(url.strip()) if parts.scheme.lower() in ("http", "https") and parts.netloc else ""


def host(url: str) -> str:
    """The host an address points at, without "www."; a document's name; else the address itself."""
    if url.startswith("file:"):
        return shorten(url.removeprefix("file:"), 60)
    try:
        name = urlsplit(url).hostname or ""
    except ValueError:
        name = ""
    return name.removeprefix("www.") or shorten(url, 60)


def shorten_url(url: str, limit: int = 70) -> str:
    """An address as a person reads it: no scheme, no closing slash, a long middle left out. Not escaped."""
    bare = unquote(re.sub(r"^(https?://(www\.)?|file:)", "", url.strip())).rstrip("/")
    keep = (limit - 1) // 2
    return bare if len(bare) <= limit else f"{bare[: limit - 1 - keep]}…{bare[-keep:]}"


def render_link(url: str, text: str = "", *, css: str = "") -> str:
    """An HTML link that opens in a new tab without a referrer; plain text when it may not be opened."""
    shown, target = html(text or shorten_url(url)), href(url)
    if not target:
        return f"<span>{shown}</span>"
    mark = f' class="{css}"' if css else ""
    return f'<a{mark} href="{target}" target="_blank" rel="noopener noreferrer nofollow">{shown}</a>'


def stored_page_url(run_id: str, page_id: str, fact_id: str = "") -> str:
    """The address of the screen of a stored page, escaped; relative, so that a path prefix is kept."""
    fact = f"&amp;fact={quote(fact_id, safe='')}" if fact_id else ""
    return f"page?run={quote(run_id, safe='')}&amp;id={quote(page_id, safe='')}{fact}"


def passage_url(page_id: str, start: int, end: int, run_id: str = "") -> str:
    """The address of a stored page's screen with the stretch between two offsets marked, escaped."""
    run = f"run={quote(run_id, safe='')}&amp;" if run_id else ""
    return f"page?{run}id={quote(page_id, safe='')}&amp;from={start:d}&amp;to={end:d}"
