"""Cases of robots.txt, the pace of a host, and traps for crawlers."""

from __future__ import annotations

import ast
import itertools
import re
import time
from collections.abc import Callable, Iterator

from agent.net import exchange
from agent.settings import config as configuration
from agent.types import CollectLimits, Settings, SiteLimits, Status
from agent.web.robots import RobotsCache, can_fetch, parse_rules
from agent.workbench import Workbench
from bench.trust.scorecard import Bench, Result, case
from tests.web.site import Asked, Reply, Site, html, sends_to


def _expectations(text: str) -> Iterator[tuple[bytes, str, str, bool, bool]]:
    """(robots.txt, address, agent, allowed, is of Google only) of a textproto file of the specification."""
    token = re.compile(r'"(?:[^"\\]|\\.)*"|[\w:]+|[{}\[\]]')
    robots, fields, key = b"", dict[str, str](), ""
    held = bytearray()
    for found in token.findall(re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)):
        if found.startswith('"'):
            held += ast.literal_eval(
                "b" + re.sub(r"[^\x00-\x7f]", lambda m: "".join(f"\\x{b:02x}" for b in m[0].encode()), found)
            )
            if key == "robotstxt":
                robots = bytes(held)
            else:
                fields[key] = bytes(held).decode("utf-8", "surrogateescape")
        elif found.endswith(":"):
            key, held = found[:-1], bytearray()
        elif found in ("ALLOWED", "DISALLOWED", "GOOGLE_SPECIFIC", "STANDARD"):
            fields[key] = found
        elif found == "}" and "testurl" in fields:
            allowed, only = (
                fields["expected_outcome"] == "ALLOWED",
                fields.get("test_type") == "GOOGLE_SPECIFIC",
            )
            yield robots, fields["testurl"], fields.get("useragent", ""), allowed, only
            fields = {}


@case("S2.9", "robots.txt by the specification's test (Google)", ">= 379 of 400, standard 124 of 124")
def robots(bench: Bench) -> Result:
    right, standard, misses = 0, [0, 0], []
    total = 0
    for name, body in bench.archive("robots/robotstxt-spec-test.tar.gz").items():
        if not name.endswith(".textproto"):
            continue
        for text, url, agent, allowed, only in _expectations(body.decode()):
            try:
                said = can_fetch(parse_rules(text), url, agent)
            except Exception as error:
                said, url = not allowed, f"{url} {type(error).__name__}"
            is_standard = name.startswith("correctness") and not only
            total, right = total + 1, right + (said == allowed)
            standard = [standard[0] + (is_standard and said == allowed), standard[1] + is_standard]
            if said != allowed:
                kind = "standard" if is_standard else "Google's own" if only else "stress"
                misses.append(
                    f"{kind}, {name}: {url} for {agent!r} should be {'allowed' if allowed else 'disallowed'}"
                )
    passed = right >= 379 and standard[0] == standard[1]
    return Result(total, f"{right} of {total}; standard {standard[0]} of {standard[1]}", misses, passed)


@case("S2.10", "Real robots.txt files", "0 exceptions, <= 50 ms each")
def real_robots(bench: Bench) -> Result:
    folder = bench.corpus("robots/real")
    misses, slowest, files = [], 0.0, sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        began = time.thread_time()
        try:
            rules = RobotsCache().get_rules(
                "https://a.test/", lambda _u, p=path: exchange.Reply(200, {}, p.read_bytes())
            )
            rules.explain_refusal("https://a.test/some/page?x=1")
        except Exception as error:
            misses.append(f"{path.name}: {type(error).__name__}")
        slowest = max(slowest, took := time.thread_time() - began)
        misses += [f"{path.name}: {took * 1000:.0f} ms"] if took > 0.05 else []
    return Result(len(files), f"slowest {slowest * 1000:.0f} ms", misses)


def _trap(kind: str) -> Callable[[Asked], Reply]:
    """Pages without end: each links to more of its kind, all of them new."""

    def reply(asked: Asked) -> Reply:
        number = int((re.findall(r"\d+", asked.path) or ["0"])[-1])
        words = f"<p>The harbour ledger of day {number} lists boats and nets.</p>"
        links = {
            "calendar": "".join(
                f"<a href='/t/calendar/{number + n}'>Day {number + n}</a>" for n in (1, 2, 3)
            ),
            "session": f"<a href='/t/session/{number + 1}?sid={number:08x}'>Ledger</a>",
            "facets": "".join(
                f"<a href='/t/facets/{number + n}?a={n}&b={number}&c=1'>Boats {n}</a>" for n in range(1, 9)
            ),
            "soft 404": "".join(
                f"<a href='/t/soft/{number * 7 + n}/ledger'>Ledger {n}</a>" for n in range(1, 5)
            ),
        }.get(kind, "")
        if kind == "redirects":
            return (
                sends_to(f"/t/redirects/{number + 1}")
                if number % 5
                else html(f"{words}<a href='/t/redirects/{number + 1}'>Next</a>")
            )
        return html(f"<title>Ledger {number}</title><main>{words}{links}</main>")

    return reply


class _Trap(dict[str, Callable[[Asked], Reply]]):
    """Every path is a page of the trap."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def get(self, path: str, default: object = None) -> object:  # type: ignore[override]
        if path == "/robots.txt":
            return Reply(200, b"User-agent: *\nAllow: /\n")
        if path.endswith(".xml"):
            more = f"<sitemap><loc>/s{abs(hash(path)) % 10**6}.xml</loc></sitemap>" * (
                self.kind == "sitemaps"
            )
            return Reply(200, f"<sitemapindex>{more}</sitemapindex>".encode(), {"Content-Type": "text/xml"})
        return _trap(self.kind)


@case(
    "S2.14",
    "Traps: calendar, session ids, facets, sitemaps of sitemaps, soft 404, redirects",
    "within the page limit",
)
def traps(bench: Bench) -> Result:
    limit, misses, asked = 30, [], {}
    limits = {"site": SiteLimits(max_pages=limit), "collect": CollectLimits(max_pages=limit)}
    for kind, flow in itertools.product(
        ("calendar", "session", "facets", "sitemaps", "soft 404", "redirects"), ("site", "collect")
    ):
        opened = Workbench(configuration.read_config({"FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0"}))
        with Site({}) as site:
            site.pages = _Trap(kind)
            settings = Settings(
                flow=flow,
                world="live",
                model="keyless",
                start_urls=[site.url("/t/0")],
                **{flow: limits[flow]},
            )
            run_id = opened.start("What does the harbour ledger of day 3 list?", settings)
            status = opened.drive(run_id)
            pages = [path for path in site.paths() if not path.endswith((".xml", ".txt"))]
            maps = len(site.paths()) - len(pages)
            asked[kind, flow] = len(pages)
            hops = 11 if kind == "redirects" else 1
            if status is Status.FAILED or len(pages) > limit * hops + 10 or maps > 50:
                misses.append(f"{kind}, {flow}: {len(pages)} pages and {maps} maps asked for, {status.value}")
        opened.shutdown()
    return Result(len(asked), f"most requests {max(asked.values())} at a limit of {limit} pages", misses)
