"""Cases of addresses: what no fetch may connect to, by spelling, by redirect, by any way out."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
from typing import Any
from urllib.parse import urlsplit

from urllib3.util import parse_url

from agent.net.deadline import Deadline, use_deadline
from agent.net.exchange import Connections
from agent.net.policies import SIGN_IN
from agent.net.ssrf_guard import FetchRefused, HostUnreachable, SsrfGuard
from agent.settings import config as configuration
from agent.text import urls
from agent.types import Outcome
from agent.web.fetcher import ANY_SOURCE
from agent.web.image_fetcher import ImageFetcher
from agent.web.unpaywall import Unpaywall
from agent.web.world import build_engines
from bench.trust.nets import INNER, Net
from bench.trust.scorecard import Bench, Result, case
from tests.corpora.ssrf_urls import attacks
from tests.web.site import Reply, Site, html, sends_to


def images_over(net: Net) -> ImageFetcher:
    """The product's reader of pictures over a network of a case."""
    images = ImageFetcher(configuration.read_config({}), timeout_s=5, retries=0, take_page=lambda _: "")
    lead_over(net, images._connections)
    return images


def lead_over(net: Net, connections: Connections) -> Connections:
    """The same connections, over a network of a case."""
    connections.__init__(guard=net.guard())  # type: ignore[misc]
    return connections


@case(
    "S1.1", "Forbidden addresses in every spelling, as page and as picture", "0 of 2,847 reached", quick=True
)
def forbidden_addresses(bench: Bench) -> Result:
    own = [(group, form, url) for group, form, url in attacks()]
    corpus = json.loads(bench.corpus("ssrf.json").read_text(encoding="utf-8")) if bench.corpora else []
    cases = bench.thin([*corpus, *own], 600)
    misses: list[str] = []
    for group, form, url in cases:
        net = Net()
        try:
            page = net.fetcher().fetch(url)
            images_over(net).fetch(url)
        except Exception as error:
            misses.append(f"{group} {form} {url}: {type(error).__name__}: {error}")
            continue
        misses += [f"{group} {form} {url}: connected to {peer}" for peer in net.inner_peers()]
        misses += [f"{url}: a page came back"] if page.outcome is Outcome.OK else []
    measured = f"{len(misses)} reached or raised ({len(corpus):,} of the corpus, {len(own):,} own, 2 readers)"
    return Result(len(cases), measured, misses, note="" if corpus else "corpus not given")


REDIRECTS = (300, 301, 302, 303, 305, 307, 308)
TARGETS = (
    *INNER,
    "[::1]",
    "[::ffff:169.254.169.254]",
    "0x7f.1",
    "2130706433",
    "localhost",
    "metadata.internal",
)
LOCATIONS: tuple[str, ...] = (
    "http://{}/",
    "//{}/",
    "HTTPS://{}:443/a?b#c",
    "http://public.example.com@{}/",
    "http:\\\\{}\\",
)


@case("S1.2", "Redirects that lead inside, of every kind", "0 of 456 reached, <= 10 hops", quick=True)
def redirects(bench: Bench) -> Result:
    kinds: list[tuple[str, Reply]] = []
    for target in TARGETS:
        for status, form in itertools.product(REDIRECTS, LOCATIONS):
            kinds.append((f"{status} {form}", Reply(status, b"", {"Location": form.format(target)})))
        url = f"http://{target}/"
        meta = f'<meta http-equiv="refresh" content="0; url={url}"><p>Moved.</p>'
        kinds.append(("Refresh", html("<p>Moved.</p>", Refresh=f"0; url={url}")))
        kinds.append(("meta refresh", html(meta)))
        kinds.append(("Content-Location", html("<p>Here.</p>", Content_Location=url)))
    kinds = bench.thin(kinds, 90)
    misses = []
    for name, reply in kinds:
        with Site({"/": reply}) as site:
            net = Net(served=int(urlsplit(site.url()).port or 0))
            page = net.fetcher().fetch("http://start.example.com/")
            misses += [f"{name} {reply.headers}: {peer}" for peer in net.inner_peers()]
            misses += [f"{name}: {len(site.paths())} requests"] if len(site.paths()) > 11 else []
            if page.outcome is Outcome.OK and name[:1] in "3":
                misses.append(f"{name}: taken for a page")
    return Result(len(kinds), f"{len(misses)} reached", misses)


@case(
    "S1.2c", "Cookies set on a redirect: who sees them on the next hop", "no other host or port", quick=True
)
def cookies(bench: Bench) -> Result:
    set_by = [
        "ok=1",
        "ok=1; Domain=example.com",
        "ok=1; Domain=.example.com",
        "ok=1; Path=/",
        "ok=1; Domain=com",
    ]
    next_hops = ["http://other.example.com/b", "http://start.example.com:8080/b", "http://else.example.org/b"]
    misses = []
    for cookie, hop in itertools.product(set_by, next_hops):
        pages = {"/": Reply(302, b"", {"Location": hop, "Set-Cookie": cookie}), "/b": html("<p>There.</p>")}
        with Site(pages) as site:
            net = Net(served=int(urlsplit(site.url()).port or 0))
            net.fetcher().fetch("http://start.example.com/")
            seen = [asked.headers for asked in site.asked if asked.path == "/b"]
            misses += [f"{cookie} seen at {hop}" for headers in seen if "Cookie" in headers]
            misses += [] if seen else [f"{hop} was not asked"]
    return Result(len(set_by) * len(next_hops), f"{len(misses)} seen elsewhere", misses)


PORTS = [22, 25, 3306, 5432, 6379, 9200, 11211, 1, 21, 23, 53, 110, 143, 389, 445, 465, 587, 631, 993, 2049]


@case("S1.4", "Ports of other services on public hosts", "all refused", quick=True)
def ports(bench: Bench) -> Result:
    tried = sorted({*PORTS, *range(7, 1024, 15), 3389, 5900, 6000, 6666, 8000, 9000, 10080, 27017})
    net = Net()
    for port in tried:
        net.fetcher().fetch(f"http://public.example.com:{port}/")
    return Result(len(tried), f"{len(net.peers)} connected", [str(peer) for peer in net.peers])


@case("S1.7", "Public pages wrongly refused", "0", quick=True)
def false_blocks(bench: Bench) -> Result:
    hosts = "en.wikipedia.org www.gov.uk bücher.de my_site.example.com 1.1.1.1 xn--mnchen-3ya.de a.b.c.d.e.example.co.uk"
    paths = [
        "/", "/wiki/A_(b)", "/a?b=c&d=%20", "/~me/x.html#top", "/ü/ö", "/a//b/../c", "/@user/1", "/?url=http://127.0.0.1/",
        "/x;y=1,2", "/127.0.0.1", "/a%2Fb", "/" + "long/" * 300, "/?q=localhost", "/[1]", "/'quoted'", "/a\u00a0b"
    ]  # fmt: skip
    cases = [
        f"{scheme}://{host}{port}{path}"
        for scheme, host, port, path in itertools.product(
            ("http", "https", "HTTPS"), hosts.split(), ("", ":8080"), paths
        )
    ]
    misses = []
    for url in cases:
        net = Net()
        page = net.fetcher().fetch(url)
        misses += [f"{url}: {page.detail}"] if not net.peers else []
    return Result(len(cases), f"{len(misses)} refused", misses)


@case("S1.8", "What a refusal tells about the inside", "one message, no address in it", quick=True)
def oracle(bench: Bench) -> Result:
    net = Net({f"h{n}.example.com": [inner] for n, inner in enumerate(INNER * 2)})
    tried = [f"http://h{n}.example.com:{port}/" for n in range(12) for port in (80, 443, 8080)]
    details = {net.fetcher().fetch(url).detail for url in tried}
    told = [detail for detail in details if any(inner in detail for inner in INNER)]
    misses = told + ([f"{len(details)} messages"] if len(details) > 1 else [])
    return Result(len(tried), f"{len(details)} message", misses)


SCHEMES = ("http", "https", "HTTP", "hTTps", "http:", "", "ftp")
SEPARATORS = ("://", ":/", ":\\\\", ":///", "://\t", "")
LABELS = (
    "example",
    "EXAMPLE",
    "1",
    "0x7f",
    "127",
    "a_b",
    "-a",
    "xn--bcher-kva",
    "bücher",
    "ⓔxample",
    "%31",
    "a b",
    "",
)
ENDS = (
    "",
    ".",
    "..",
    ":80",
    ":443",
    ":",
    ":0",
    ":65536",
    ":8080@h.org",
    "%00",
    "\\",
    "#",
    "?",
    "/..",
    ";x",
    "\u200b",
)
USERS = ("", "", "", "u@", "u:p@", "a@b@", "h.org\\@", "h.org%40", "h.org:80@", "[::1]@")
TAILS = ("", "/", "/a/../b", "?x=@h.org", "#@h.org", "/\\h.org", "/%2e%2e/", "//h.org/", "/ü?ö#ä")


def make_url(dice: random.Random) -> str:
    """An address by chance, near enough to a real one that parsers may differ about its host."""
    labels = LABELS if dice.random() < 0.4 else LABELS[:6]
    host = ".".join(dice.choice(labels) for _ in range(dice.randint(1, 4)))
    if dice.random() < 0.15:
        host = dice.choice(
            ["[::1]", "[::ffff:7f00:1]", "[fe80::1%25eth0]", "[1::2::3]", "[v1.a]", "[2606:2800::1]"]
        )
    parts = [
        dice.choice(SCHEMES[:4]) if dice.random() < 0.9 else dice.choice(SCHEMES),
        "://" if dice.random() < 0.9 else dice.choice(SEPARATORS),
        dice.choice(USERS) if dice.random() < 0.3 else "",
        host if dice.random() < 0.5 else f"{host}.com",
        dice.choice(ENDS) if dice.random() < 0.35 else "",
        dice.choice(TAILS),
    ]
    url = "".join(parts)
    if dice.random() < 0.1:
        at = dice.randrange(len(url) + 1)
        url = url[:at] + dice.choice("\\@:/?#[]%\t\n \x00.\u3002\u2100\uff0f") + url[at:]
    return url


@case(
    "S1.10", "Random addresses: the guard and the client mean the same host", "0 of 10,000 differ", quick=True
)
def parser_agreement(bench: Bench) -> Result:
    count, accepted, misses = bench.pick(10_000, 1_500), 0, []
    for seed in range(count):
        url = make_url(random.Random(seed))
        net = Net()
        guard = SsrfGuard(resolver=lambda host, port, net=net: net.resolve(host, port), connector=net.connect)
        try:
            safe = guard.check_url(url)
        except FetchRefused:
            continue
        except Exception as error:
            misses.append(f"seed {seed} {url!r}: {type(error).__name__}: {error}")
            continue
        accepted += 1
        host = (urlsplit(safe).hostname or "").rstrip(".")
        with use_deadline(Deadline(5)):
            try:
                Connections(guard=guard).exchange(SIGN_IN, safe)
            except Exception as error:
                problem = type(error).__name__ if not net.resolved else ""
                misses += [f"seed {seed} {url!r}: accepted, then {problem}: {error}"] if problem else []
        asked = {name.strip("[]").rstrip(".") for name in net.resolved}
        parsers = {parse_url(safe).host, urls.host(safe)}
        others = {(name or "").strip("[]").rstrip(".").removeprefix("www.") for name in parsers}
        if asked != {host} or others != {host.removeprefix("www.")}:
            misses.append(f"seed {seed} {url!r}: guard {host}, client {asked}, others {others}")
        misses += [f"seed {seed} {url!r}: {peer}" for peer in net.inner_peers()]
    return Result(count, f"{len(misses)} differ; {accepted:,} were accepted by the guard", misses)


SINKS = ("page", "redirect", "robots", "picture", "picture redirect", "refresh")
APIS = ("brave", "tavily", "wikipedia", "openalex", "crossref", "arxiv", "semanticscholar", "europepmc")
SERVICES = ("duckduckgo", "google", "searxng", *APIS, "unpaywall", "sign-in")
"""Each with an address that is inner, and with one that redirects inside."""


def ask_service(name: str, net: Net, address: str) -> list[str]:
    """Ask the service, at this address, over a network of a case; the hits it gave."""
    own = {
        "DDG_ENDPOINT": address,
        "GOOGLE_ENDPOINT": address,
        "SEARXNG_URL": address,
        "CONTACT_EMAIL": "a@b.org",
    }
    own |= dict.fromkeys(("GOOGLE_API_KEY", "GOOGLE_CSE_ID", "BRAVE_API_KEY", "TAVILY_API_KEY"), "k")
    named = ",".join(f"{one}={address}" for one in (*APIS, "unpaywall"))
    config = configuration.read_config({**own, "ENGINE_URLS": named})
    if name == "unpaywall":
        unpaywall = Unpaywall(config)
        lead_over(net, unpaywall._client._connections)
        unpaywall.find_copy("10.1000/182")
        return []
    if name == "sign-in":
        with contextlib.suppress(FetchRefused, HostUnreachable):
            lead_over(net, Connections()).exchange(SIGN_IN, address)
        return []
    engine: Any = next(one for one in build_engines(config)[0] if one.name == name)
    if name == "duckduckgo":
        engine._guard = net.guard()
    else:
        lead_over(net, engine._connections if name == "google" else engine.client._connections)
    return [hit.url for hit in engine.search("milk", 3, ANY_SOURCE).hits]


@case("S1.6", "Every way out goes through the same guard", "0 reached in 32 ways x 40", quick=True)
def ways_out(bench: Bench) -> Result:
    targets = bench.thin([url for _, _, url in attacks() if url.startswith("http://")][::12][:40], 4)
    misses = []
    for sink, target in itertools.product(SINKS, targets):
        moved = Reply(302, b"", {"Location": target})
        pages: dict[str, Reply] = {
            "/": html("<p>Milk.</p>") if sink == "robots" else moved,
            "/robots.txt": moved if sink == "robots" else Reply(404),
        }
        if sink == "refresh":
            pages["/"] = html(f"<meta http-equiv=refresh content='0;url={target}'>")
        with Site(pages) as site:
            net = Net(served=int(urlsplit(site.url()).port or 0))
            address = target if sink in ("page", "picture") else "http://start.example.com/"
            reader = images_over(net) if "picture" in sink else net.fetcher()
            reader.fetch(address)
            misses += [f"{sink} {target!r}: {peer}" for peer in net.inner_peers()]
    asked = set()
    for service, target in itertools.product(SERVICES, targets):
        moved = sends_to(target.encode().decode("latin-1"))
        with Site(dict.fromkeys(("/", "/search", "/customsearch/v1", "/10.1000/182"), moved)) as site:
            nets = [Net(served=int(urlsplit(site.url()).port or 0)) for _ in range(2)]
            hits = ask_service(service, nets[0], target)
            hits += ask_service(service, nets[1], "http://start.example.com/")
            misses += [f"{service} {target!r}: {peer}" for net in nets for peer in net.inner_peers()]
            misses += [f"{service} {target!r}: {hit}" for hit in hits]
            asked |= {service} if site.asked else set()
    misses += [f"{service} was not asked" for service in SERVICES if service not in asked]
    ways = len(SINKS) + 2 * len(SERVICES)
    return Result(ways * len(targets), f"{len(misses)} reached", misses)
