"""Quotas where the work is done: starts, replies over HTTP and fetches, side by side."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agent.accounts.quotas import DayUse
from agent.answering.pages import read_open_copy
from agent.bot.http import ReplyHttp
from agent.bot.responder import ReplyService
from agent.errors import UsageError
from agent.settings.config import read_config
from agent.types import Outcome, Page, Publication, Settings
from agent.workbench import CHECKS_A_MINUTE, Workbench
from agent.workbenches import Workbenches
from tests.agent.bot.replies import PNG, says
from tests.web import model_server as web
from tests.web.login import LOGIN, sign_in
from tests.web.model_server import ModelServer
from tests.web.replying_model import stocked
from tests.web.site import Reply, Site, html, sends_to

pytestmark = pytest.mark.slow

Open = Callable[..., Workbenches]
DEMO = Settings(world="demo", model="keyless")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """A server with a login and these settings, without workers."""
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    opened: list[Workbenches] = []

    def opening(**settings: str) -> Workbenches:
        opened.append(Workbenches(read_config({**LOGIN, **settings})))
        return opened[-1]

    yield opening
    for benches in opened:
        benches.close()


def at_once(count: int, do: Callable[[], object]) -> list[object]:
    """What so many threads get that begin together."""
    begin = threading.Barrier(count)

    def run(_: int) -> object:
        begin.wait()
        return do()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def test_of_twenty_starts_at_once_two_are_accepted(server: Open) -> None:
    benches = server(QUOTA_RUNS="2")
    bench = benches.open(sign_in(benches, "ann"))

    def start() -> object:
        try:
            return bench.start("When?", DEMO)
        except UsageError as refused:
            return refused

    told = at_once(20, start)
    assert sum(isinstance(one, str) for one in told) == 2 == len(bench.runs())
    assert all("is your quota" in str(one) for one in told if isinstance(one, UsageError))


@pytest.mark.parametrize("stored", [False, True])
def test_of_sixteen_replies_at_once_one_asks_the_model(stored: bool, server: Open, tmp_path: Path) -> None:
    usage = {"prompt_tokens": 6_000, "completion_tokens": 1000, "total_tokens": 7_000}
    completion = json.loads(web.says('{"should_reply": false, "reason": "no question"}').body)
    with ModelServer(lambda _: web.sends(completion | {"usage": usage})) as model:
        file = {"ai_response": {"llm": {"base_url": model.url, "model": "m"}, "store_conversations": stored}}
        (tmp_path / "config.yaml").write_text(json.dumps(file), encoding="utf-8")
        benches = server(CONFIG_FILE=str(tmp_path / "config.yaml"), QUOTA_TOKENS="100", QUOTA_RUNS="100")
        ann = sign_in(benches, "ann")
        stocked(benches.open(ann))
        _, text = benches.accounts.tokens.create(ann, "bot", ["reply"])  # type: ignore[union-attr]
        routes = ReplyHttp(lambda: benches, lambda _: True)
        asked = {"conversation": [{"role": "user", "text": "When do backups run?"}]}
        with TestClient(Starlette(routes=list(routes.routes))) as http:
            header = {"authorization": f"Bearer {text}"}
            answers = at_once(16, lambda: http.post("/reply", json=asked, headers=header).status_code)
        assert answers == [200] * 16 and len(model.requests) == 1
        assert benches.accounts.quotas.sum_day(ann.id) == DayUse(0, 7_000, 0.0)  # type: ignore[union-attr]
        routes.close()


def test_a_check_of_the_model_is_a_call_like_every_other(server: Open) -> None:
    usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    completion = json.loads(web.says('{"ok": true}').body) | {"usage": usage}
    with ModelServer(lambda _: web.sends(completion), models=["m"]) as model:
        benches = server(OPENAI_BASE_URL=model.url, QUOTA_TOKENS="250")
        ann = sign_in(benches, "ann")
        bench, quotas = benches.open(ann), benches.accounts.quotas  # type: ignore[union-attr]
        assert [bench.check_model()[0] for _ in range(3)] == [True] * 3
        assert quotas.sum_day(ann.id).tokens == 300
        checked, told = bench.check_model()
        assert not checked and "300 of 250 tokens are used today" in told
        client = bench.worker.model_search.find().client
        assert not bench.worker.check_model(client)[0] and len(model.requests) == 3, "by itself, too"


def test_checks_come_at_a_rate(server: Open) -> None:
    with ModelServer(lambda _: '{"ok": true}', models=["m"]) as model:
        bench = server(OPENAI_BASE_URL=model.url).open(sign_in(server(), "ann"))
        told = [bench.check_model() for _ in range(CHECKS_A_MINUTE + 1)]
        assert [ok for ok, _ in told] == [True] * CHECKS_A_MINUTE + [False] and "wait" in told[-1][1]
        assert len(model.requests) == CHECKS_A_MINUTE


def test_fifty_fetches_of_one_address_are_fifty_pages(server: Open) -> None:
    with Site({"/a": html("<p>Hello</p>")}) as site:
        benches = server(QUOTA_PAGES="50", FETCH_ALLOW="127.0.0.1", FETCH_GAP="0")
        ann = sign_in(benches, "ann")
        live = benches.open(ann).worker.world("live")
        refused = live.fetch("http://10.0.0.1/")
        assert refused.outcome is Outcome.REFUSED and "quota" not in refused.detail
        pages = [live.fetch(site.url("/a")) for _ in range(52)]
        assert [page.outcome for page in pages[:50]] == [Outcome.OK] * 50
        assert {page.outcome for page in pages[50:]} == {Outcome.REFUSED}
        assert "50 of 50 pages are used today" in pages[51].detail
        assert sum(asked.path == "/a" for asked in site.asked) == 50
        assert benches.accounts.quotas.sum_day(ann.id).pages == 50  # type: ignore[union-attr]


def test_a_fetch_is_given_back_only_when_no_page_was_asked_for(server: Open) -> None:
    pages = {
        "/inner": sends_to("http://10.0.0.1/"),
        "/odd": sends_to("http://[::1/"),
        "/shut": html("<p>Hello</p>"),
    }
    with Site({"/robots.txt": Reply(200, b"User-agent: *\nDisallow: /shut"), **pages}) as site:
        benches = server(QUOTA_PAGES="50", FETCH_ALLOW="127.0.0.1", FETCH_GAP="0")
        ann, used = sign_in(benches, "ann"), benches.accounts.quotas.sum_day  # type: ignore[union-attr]
        live = benches.open(ann).worker.world("live")
        for url in (site.url("/shut"), "http://10.0.0.1/", "ftp://a.example/"):
            assert live.fetch(url).outcome is Outcome.REFUSED and used(ann.id).pages == 0
        for count, path in enumerate(("/inner", "/odd"), start=1):
            assert live.fetch(site.url(path)).outcome is not Outcome.OK
            assert used(ann.id).pages == count
        assert site.paths() == ["/inner", "/odd"]


def test_a_picture_of_a_message_and_an_open_copy_are_pages(server: Open, tmp_path: Path) -> None:
    file = {
        "ai_response": {"llm_enable_image": True, "llm": {"base_url": "http://127.0.0.1:9", "model": "m"}}
    }
    (tmp_path / "config.yaml").write_text(json.dumps(file), encoding="utf-8")
    with Site({"/a.png": Reply(200, PNG), "/copy": html("<p>Hello</p>")}) as site:
        benches = server(
            QUOTA_PAGES="2", FETCH_ALLOW="127.0.0.1", FETCH_GAP="0", CONFIG_FILE=str(tmp_path / "config.yaml")
        )
        ann, used = sign_in(benches, "ann"), benches.accounts.quotas.sum_day  # type: ignore[union-attr]
        bench = benches.open(ann)
        tools = SimpleNamespace(fetch=bench.worker.world("live").fetch)
        closed = Page(url="https://a.example/", final_url="https://a.example/", outcome=Outcome.BLOCKED)
        copy = read_open_copy(tools, closed, Publication(pdf_url=site.url("/copy")))  # type: ignore[arg-type]
        assert copy.outcome is Outcome.OK and used(ann.id).pages == 1
        responder = ReplyService(bench)
        asked, until = says(images=[site.url("/a.png")]), time.monotonic() + 60
        assert len(responder._fetch_pictures(asked, until)) == 1
        with pytest.raises(UsageError, match="2 of 2 pages are used today"):
            responder._fetch_pictures(asked, until)
        assert used(ann.id).pages == 2 and site.paths() == ["/copy", "/a.png"]
        responder.close()
