"""Addresses: the canonical form, host and site, by which everybody agrees that two addresses are the same."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit, urlunsplit

import idna

from agent.text.short_cache import cache_short

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MAX_URL = 4096
"""Characters of an address; what is longer is none."""
FILE_SCHEME = "file:"
"""What the address of a document that was added begins with; the rest is its name."""

_TRACKING_PARAMETER = re.compile(r"^(utm_\w+|gclid|fbclid|mc_cid|mc_eid|msclkid|igshid|ref_src)$")
_PERCENT_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNESCAPED = frozenset(string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@")
_BARE_HOST = re.compile(r"(?:[\w-]+\.)+(?!\d)[\w-]{2,}\.?(?::\d{1,5})?(?:[/?#]\S*)?\Z")
_PAGE_LIST = re.compile(
    r"/robots\.txt$|/sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$|\.(?:rss|atom)$|/(?:rss|atom|feed|index)\.xml$",
    re.IGNORECASE,
)
"""The usual names of robots.txt (RFC 9309), sitemaps (sitemaps.org) and feeds."""
_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>?#&]+)", re.IGNORECASE)
"""As Crossref recommends to find a DOI (www.crossref.org/blog/dois-and-matching-regular-expressions), without
the characters that end it in an address."""
_URL_IN_TEXT = re.compile(r"https?://[^\s<>\"'\]\[{}|\\^`]+", re.IGNORECASE)
_LINK_IN_TEXT = re.compile(rf"(?P<link>\]\()?(?P<url>{_URL_IN_TEXT.pattern})", re.IGNORECASE)


@cache_short(65536)
def canonicalize(url: str) -> str:
    """The spelling under which an address counts as visited.

    Scheme and host are lowercased, the fragment, default port, trailing slash and tracking parameters go,
    percent-escapes are unified. Returns "" for what is not an absolute http(s) address, or endless."""
    if len(url) > MAX_URL:
        return ""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    scheme = parts.scheme.lower()
    if scheme not in ("http", "https") or not host or "\\" in parts.netloc:
        return ""
    host = f"[{host}]" if ":" in host else host
    netloc = host if port in (None, 80 if scheme == "http" else 443) else f"{host}:{port}"
    path = quote(_PERCENT_ESCAPE.sub(_unify_escape, parts.path), safe="/:@!$&'()*+,;=%")
    query = urlencode(
        [kv for kv in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING_PARAMETER.match(kv[0])]
    )
    return urlunsplit((scheme, netloc, path.rstrip("/"), query, ""))


def _unify_escape(escape: re.Match[str]) -> str:
    """A percent-escape in its one spelling: the plain letter where a path allows it, else upper case."""
    letter = chr(int(escape[1], 16)) if escape[1] else "%"
    return letter if letter in _UNESCAPED else f"%{ord(letter):02X}"


def resolve(base: str, href: str) -> str:
    """`href` on the page at `base`, absolute and without its fragment; "" when it is not http(s)."""
    try:
        joined = urljoin(base, href.strip()).split("#", 1)[0]
    except ValueError:
        return ""
    return joined if canonicalize(joined) else ""


def complete_typed_url(text: str) -> str:
    """A typed address, with https:// before a bare host name ("example.org/faq")."""
    said = text.strip()
    return f"https://{said}" if _BARE_HOST.match(said) else said


@cache_short(8192)
def host(url: str) -> str:
    """The host of an address, lowercased; "" when there is none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def origin(url: str) -> str:
    """Scheme, host and port of an address, as it spells them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@cache
def _suffix_list() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # imported here: it reads 10,000 suffixes

    return PublicSuffixList()


@cache_short(8192)
def site(url: str) -> str:
    """The registrable domain ("bbc.co.uk") of an address, by the public-suffix list; the host itself where
    there is none.

    Facts from one site are one source. A document (`file:<name>`) is its own site: its name."""
    if url.startswith(FILE_SCHEME):
        return url.removeprefix(FILE_SCHEME)
    name = host(url)
    return (
        name if ":" in name or name.replace(".", "").isdigit() else _suffix_list().privatesuffix(name) or name
    )


def has_public_suffix(name: str) -> bool:
    """Whether a host ends in a suffix under which names are registered ("example.com"; not "setup.cfg")."""
    return bool(_suffix_list().publicsuffix(name.lower(), accept_unknown=False))


def is_in_scope(url: str, allowed: list[str]) -> bool:
    """Is the address on an allowed host ("example.com", "*.example.com" with subdomains)? [] allows all."""
    name = _to_ascii(host(url))
    return not allowed or any(
        name == _to_ascii(bare := entry.removeprefix("*."))
        or (entry.startswith("*.") and name.endswith(f".{_to_ascii(bare)}"))
        for entry in allowed
    )


@cache_short(8192)
def _to_ascii(name: str) -> str:
    """A host as it goes over the wire: "höganäs.example" and its punycode are one."""
    try:
        return name.lower() if name.isascii() else idna.encode(name, uts46=True).decode()
    except idna.IDNAError:
        return name.lower()


def find_urls(text: str) -> list[str]:
    """The addresses written in a text, in order, without the punctuation that ends a sentence."""
    found = [match.group().rstrip(".,;:!?)") for match in _URL_IN_TEXT.finditer(text)]
    return list(dict.fromkeys(url for url in found if canonicalize(url)))


def map_spellings(urls: Iterable[str]) -> dict[str, str]:
    """Recorded addresses by canonical form; the last spelling of each."""
    return {canonicalize(url): url for url in urls if canonicalize(url)}


def remove_unknown_urls(text: str, known: Iterable[str]) -> str:
    """The text without the addresses that are not among `known`, and with the known ones as `known` spells
    them; a link in Markdown keeps its label."""
    recorded = map_spellings(known)

    def replace(match: re.Match[str]) -> str:
        url = match["url"].rstrip(".,;:!?)")
        opening, rest = match["link"] or "", match["url"][len(url) :]
        if spelled := recorded.get(canonicalize(url)):
            return f"{opening}{spelled}{rest}"
        return f"]{rest.removeprefix(')')}" if opening else f"[address removed]{rest}"

    return _LINK_IN_TEXT.sub(replace, text)


def is_page_list(url: str) -> bool:
    """Whether an address is by its name a list of pages for programs: robots.txt, a sitemap, a feed."""
    try:
        return bool(_PAGE_LIST.search(urlsplit(url).path))
    except ValueError:
        return False


def is_excluded(url: str, excluded: Iterable[str]) -> bool:
    """Is the address excluded, or on an excluded host or below it? Who excludes "example.com" means
    www.example.com, too."""
    name, spelled = _to_ascii(host(url)), canonicalize(url)
    for entry in excluded:
        bare = _to_ascii(entry.removeprefix("*."))
        if spelled == entry or name == bare or name.endswith(f".{bare}"):
            return True
    return False


def find_doi(text: str) -> str:
    """The first DOI in a text or an address, in lower case; "" for none."""
    found = _DOI.search(text)
    return found[1].rstrip(".,;:)]}'").lower() if found else ""
