"""Cases of faulty models: odd replies, odd servers, JSON of every kind, budgets and chaos."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel

from agent.errors import ModelReplyError
from agent.llm.parse_reply import parse_reply
from agent.settings import config as configuration
from agent.types import Settings, SiteLimits, Status
from agent.workbench import Workbench
from bench.trust.laboratory import Laboratory, docs_for
from bench.trust.scorecard import Bench, Result, case
from bench.trust.traitor import QUESTION, TRUE, YARD, Mind
from tests.web import model_server as web
from tests.web.folders import write_world
from tests.web.model_server import ModelServer, Request

GOOD = '{"facts": []}'
SITES = ("DecisionReply", "AnalyzerReply", "ReportReply", "CheckClaimsReply", "DraftReply", "GenerateReply")
FLOW_OF = {"DraftReply": "site", "GenerateReply": "chat"}
FAULTS: dict[str, Any] = {
    "empty": "", "blank": " \n\t", "null": "null", "prose": "I am not sure about that.", "fenced": f"```json\n{GOOD}\n",
    "prose and JSON": f"Here: {GOOD[:-1]}", "trailing comma": '{"facts": [],,}', "single quotes": "{'facts': []}", "NaN": '{"confidence_score": NaN}',
    "same key twice": '{"facts": [], "facts": []}', "BOM": "\ufeff{", "cut": '{"facts": [{"quote": "The fe', "wrong type": '{"facts": "none", "answer": 7, "actions": 1}',
    "extra key": '{"hacked": true}', "out of range": '{"confidence_score": 99, "confidence": -4}', "1 MB": "x" * 1_000_000,
    "depth": "[" * 10_000, "surrogate": '{"a": "\\ud800"}', "list": "[]", "number": "7", "thoughts only": "<think>hm",
    "length": web.says('{"facts": [', finish="length"), "filtered": web.says("", finish="content_filter"), "refusal": web.says(None, refusal="No."),
    "no choices": web.sends({"id": "x"}), "error in 200": web.sends({"error": {"message": "no"}}), "a bare list": web.sends([]),
    "tool call": web.says(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
    "429": web.status(429), "429 with a pause": web.status(429, retry_after=0), "500": web.status(500), "503": web.status(503), "400": web.status(400, error_code="context_length_exceeded"),
    "401": web.status(401), "403": web.status(403), "a page": web.html(), "reset": web.resets(), "cut body": web.cuts("{}"), "not UTF-8": web.raw(b"\xff\xfe{")
}  # fmt: skip


MAX_RESTS = 20
"""How often a run of the chaos is tried again: a fifth of all calls fails."""


class Server:
    """An honest model over HTTP that fails as told in some of its replies."""

    def __init__(self, fails: Any) -> None:
        self.mind, self.fails = Mind(), fails
        self.asked: Counter[tuple[str, str]] = Counter()
        self.lock = threading.Lock()

    def __call__(self, request: Request) -> Any:
        shape = (request.body.get("response_format") or {}).get("json_schema", {}).get("name", "")
        with self.lock:
            self.asked[shape, request.prompt] += 1
            fault = self.fails(shape)
            if fault is not None:
                return fault
            return self.mind(request.body["messages"], SimpleNamespace(__name__=shape))  # type: ignore[arg-type]


def drive(
    folder: Path, flow: str, server: Server, *, rests: int = 0, **limits: Any
) -> tuple[Status, str, int]:
    """A run of a flow with this model server: its end, what was wrong with it, and the most calls alike. Where
    it rests because its model failed, it is tried again, at most `rests` times."""
    world = write_world(folder / "world", docs_for("body", "All boats are listed."))
    with ModelServer(server) as served:
        own = {
            "TOUCHSTONE_DATA": str(folder / "data"),
            "OPENAI_BASE_URL": served.url,
            "MODEL": "served",
            "MODEL_TIMEOUT": "5",
        }
        opened = Workbench(
            configuration.read_config({**own, "EMBEDDING_MODEL": "off", "OPENAI_API_KEY": "k"})
        )
        try:
            if flow == "chat":
                opened.library.add_file("ferry.md", f"# Ferries\n\n{TRUE}\n".encode())
            starts = {"start_urls": [YARD], "site": SiteLimits(max_pages=4)} if flow == "site" else {}
            settings = Settings(
                flow=flow, world=world, **{"max_steps": 4, "max_pages": 4, **starts, **limits}
            )
            run_id = opened.start(
                QUESTION if flow != "chat" else "When was the ferry Vinga launched?", settings
            )
            status = opened.drive(run_id)
            while status is Status.PAUSED and (rests := rests - 1) >= 0:
                opened.worker.try_model_now(run_id)
                opened.act(run_id, "resume")
                status = opened.drive(run_id)
            if status is Status.WAITING:
                opened.act(run_id, "finish")
                status = opened.drive(run_id)
            view = opened.snapshot(run_id)
            wrong = view.run.error if status is Status.FAILED else ""
            if [step.n for step in view.steps] != list(range(len(view.steps))):
                wrong += " the steps are not numbered"
            for fact in view.state.facts.values():
                if fact.verified and fact.quote not in opened.page(fact.page_id).text:
                    wrong += f" an invented quote: {fact.quote[:60]}"
            return status, wrong, max(server.asked.values(), default=0)
        finally:
            opened.shutdown()


@case(
    "S5.1",
    "Faults of a model and its server at 6 places of a run",
    "0 uncaught of 222, <= 3 HTTP calls each",
    quick=True,
)
def faults(bench: Bench) -> Result:
    cases = bench.thin(itertools.product(FAULTS, SITES), 10)
    misses, most = [], 0
    for name, site in cases:
        with tempfile.TemporaryDirectory() as folder:
            server = Server(lambda shape, site=site, name=name: FAULTS[name] if shape == site else None)
            try:
                status, wrong, alike = drive(Path(folder), FLOW_OF.get(site, "research"), server)
            except Exception as error:
                misses.append(f"{name} at {site}: {type(error).__name__}: {error}")
                continue
        most = max(most, alike)
        misses += [f"{name} at {site}: {status.value}: {wrong}"] if wrong or status is Status.FAILED else []
        misses += [f"{name} at {site}: asked {alike} times"] if alike > 3 else []
    return Result(len(cases), f"{len(misses)} uncaught or asked more often; most HTTP calls {most}", misses)


class Anything(BaseModel):
    """A reply with one value of any kind."""

    v: Any


INVENTED = "The ferry Vinga sank in 1987 with all hands."
AROUND = (
    "{}",
    '{"facts": [{}], "confidence_score": 0.4, "assessment": "Read."}',
    '{"facts": [{"statement": QUOTE, "quote": QUOTE, "passage_id": "p1"}], "confidence_score": 0.4, "assessment": {}}',
)
"""Where a malformed text stands in the reply of an analyzer: alone, as its fact, and beside an invented one."""


class Scribbler(Mind):
    """An honest model that replies with this text when it is to read pages."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.given = text, 0

    def __call__(self, messages: list[dict[str, Any]], shape: type[Any]) -> Any:
        if shape.__name__ != "AnalyzerReply":
            return super().__call__(messages, shape)
        self.given += 1
        return self.text


@case(
    "S5.2", "JSONTestSuite as a model's reply", "95 parsed; none of 188 malformed becomes a fact; 0 crashes"
)
def json_suite(bench: Bench) -> Result:
    misses, kinds, parsed, given = [], Counter[str](), 0, 0
    docs = docs_for("body", "All boats are listed.")
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder))
        for name, body in bench.archive("json/JSONTestSuite.tar.gz").items():
            kind, text = Path(name).name[0], body.decode("utf-8", "replace")  # as the client gets it
            kinds[kind] += 1
            try:
                parse_reply(f'{{"v": {text}}}', Anything)
                parsed += kind == "y"
            except ModelReplyError as refused:
                misses += [f"{name} was refused: {refused}"] if kind == "y" else []
            except Exception as error:
                misses.append(f"{name}: {type(error).__name__}: {error}")
            for around in AROUND if kind == "n" else ():
                mind = Scribbler(around.replace("{}", text).replace("QUOTE", json.dumps(INVENTED)))
                broken = laboratory.trial("research", mind, docs)
                made = [
                    f for f in laboratory.last.state.facts.values() if f.by == "model" or f.quote == INVENTED
                ]
                given += bool(mind.given)
                misses += [f"{name}: {miss}" for miss in broken]
                misses += [f"{name} became a fact: {fact.quote[:60]}" for fact in made]
    measured = (
        f"{parsed} of {kinds['y']} parsed; {kinds['n']} malformed ones in {given} replies of a run's analyzer"
    )
    return Result(kinds.total(), measured, misses)


@case("S5.6", "Budgets of calls and tokens", "<= 1 call over", quick=True)
def budgets(bench: Bench) -> Result:
    misses = []
    limits: list[dict[str, Any]] = [{"max_calls": n} for n in (1, 2, 3, 5, 8)] + [
        {"max_tokens": n} for n in (1, 2000, 6000)
    ]
    for limit in limits:
        with tempfile.TemporaryDirectory() as folder:
            lab, mind = Laboratory(Path(folder)), Mind()
            lab.trial("research", mind, docs_for("body", "All boats."), **limit)
            state = lab.last.state
            used = len(mind.prompts)
            tokens = sum(
                call.prompt_tokens + call.completion_tokens for call in lab.bench.calls(lab.last.run.id)
            )
            last = max((call.prompt_tokens for call in lab.bench.calls(lab.last.run.id)), default=0) + 4096
            over = used > limit.get("max_calls", 99) + 1 or tokens > limit.get("max_tokens", 10**9) + last
            misses += [f"{limit}: {used} calls, {tokens} tokens, {state.answer is not None}"] if over else []
            lab.close()
    return Result(len(limits), f"{len(misses)} over", misses)


@case(
    "S5.7",
    "Chaos: a fifth of all replies faulty, by chance",
    ">= 99 % of 200 finish, those that rest are tried again; 0 wrong state",
    quick=True,
)
def chaos(bench: Bench) -> Result:
    count, finished, misses = bench.pick(200, 6), 0, []
    usual: list[Any] = [fault for name, fault in FAULTS.items() if name not in ("401", "403", "1 MB", "429")]
    for seed in range(count):
        dice = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            server = Server(lambda _shape, dice=dice: dice.choice(usual) if dice.random() < 0.2 else None)
            flow = ("research", "site", "chat")[seed % 3]
            try:
                status, wrong, _ = drive(Path(folder), flow, server, rests=MAX_RESTS)
            except Exception as error:
                misses.append(f"seed {seed}: {type(error).__name__}: {error}")
                continue
        finished += status in (Status.REVIEW, Status.DONE)
        misses += [f"seed {seed}, {flow}: {status.value} {wrong}"] if wrong or status is Status.FAILED else []
    return Result(
        count,
        f"{finished} of {count} finished, {len(misses)} wrong",
        misses,
        finished >= 0.99 * count and not misses,
    )
