"""Measures what ten actions with eight pages of 8 kB cost a run with a model, and how much of the waiting is
the model's.

    python -m bench.rounds [--json OUT] [--model-ms 1000] [--page-ms 400] [--search-ms 400]

A scripted model answers each call after a second; loopback servers, one an address, answer each page and each
search after 400 ms. The run has its first search by code, then four pages, then a search with three pages,
then one page; after that the script calls all answered. Measured in the second run of the process, so that
imports and caches are warm, as they are in the product's server.

Goals, and when the exit code is 1: at most 12 calls and 25,000 prompt tokens up to the write-up, 0.35 s of
own CPU, 150 MB, and a wall time of 1.10 times the critical path of the model calls (their seconds one after
the other)."""

from __future__ import annotations

import multiprocessing
import random
import re
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agent.settings import config
from agent.types import ModelCall, Settings, Status
from agent.workbench import RunSnapshot, Workbench
from bench import make_parser, write_figures
from tests.web.claim_judge import ALWAYS, check_reply
from tests.web.scripted import ScriptedModel

GOALS = {
    "calls": 12,
    "prompt_tokens": 25_000,
    "own_cpu_s": 0.35,
    "rss_mb": 150,
    "wall_over_critical_path": 1.10,
}
QUESTION = "Who built the ferry Vinga, and when was the ferry Vinga launched?"
PARTS = ("Who built the ferry Vinga?", "When was the ferry Vinga launched?")
PAGES, PAGE_CHARS, ACTIONS = 8, 8_000, 10
ROUNDS = ((0, 4), (1, 3), (0, 1))
"""Searches and pages of each round that the script proposes."""
NAMES = "Aldo Brinck,Mathilde Orre,Ansa Brorsen,Petra Lind,Olle Kast,Ida Ferrand,Jon Selmer,Vera Holt".split(
    ","
)


def make_page(n: int) -> str:
    """A page of about 8 kB about the ferry, with two sentences that answer."""
    dice = random.Random(n)
    words = "harbour quay winter mail passengers island timber engine crew summer route storm".split()
    parts, size = [], 0
    while size < PAGE_CHARS:
        text = " ".join(
            f"{dice.choice(['The', 'A', 'Each'])} {' '.join(dice.choices(words, k=12))}." for _ in range(5)
        )
        parts.append(f"<h2>Chapter {len(parts) + 1}</h2><p>{text}</p>")
        size += len(text)
    at = dice.randrange(2, len(parts))
    parts[at] += (
        f"<p>The ferry Vinga was built by {NAMES[n]} at yard {n}. The ferry Vinga was launched on "
        f"{n + 3} May 1931, says archive {n}.</p>"
    )
    title = f"Ferry Vinga, archive {n}"
    return f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{''.join(parts)}</main></body></html>"


def serve(pipe: Connection, page_s: float, search_s: float) -> None:
    """Eight sites on loopback addresses of their own, and a search page like DuckDuckGo's on the first."""
    urls: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 20

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/html/":
                time.sleep(search_s)
                body = self._results(parse_qs(parts.query).get("q", [""])[0])
            elif parts.path == "/page":
                time.sleep(page_s)
                body = make_page(urls.index(f"http://{self.headers['Host']}/page"))
            else:
                body = ""
            data = body.encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def _results(self, query: str) -> str:
            rows = "".join(
                f'<div class="body"><h2>Ferry Vinga, archive {n}</h2><a href="{url}">The ferry Vinga: who '
                f"built it, and when it was launched. Archive {n}.</a></div>"
                for n, url in enumerate(urls)
            )
            return f"<html><body><div id='links'>{rows}</div></body></html>"

        def log_message(self, *_: object) -> None:
            """Nothing to tell."""

    servers = [ThreadingHTTPServer((f"127.0.0.{n + 1}", 0), Handler) for n in range(PAGES)]
    urls += [f"http://{server.server_address[0]}:{server.server_address[1]}/page" for server in servers]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    pipe.send(urls[0].replace("/page", "/html/"))
    pipe.recv()


@contextmanager
def running(page_s: float, search_s: float) -> Iterator[str]:
    """The servers in a process of their own; gives the address of the search page."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=serve, args=(there, page_s, search_s), daemon=True
    )
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()


class Script:
    """The model of one run: rounds as in ROUNDS, facts from what it is shown, an answer that cites them."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.rounds, self.read, self.waited = seconds, list(ROUNDS), 0, 0.0

    def __call__(self, messages: list[dict[str, Any]], shape: type[Any]) -> Any:
        began = time.monotonic()
        time.sleep(self.seconds)
        self.waited += time.monotonic() - began
        prompt = "\n".join(str(message["content"]) for message in messages)
        match shape.__name__:
            case "PlanReply":
                return {"parts": [{"question": question} for question in PARTS]}
            case "DecisionReply":
                return {"actions": list(self._propose(prompt))}
            case "AnalyzerReply":
                return self._analyze(prompt)
            case "ReportReply":
                ids = list(dict.fromkeys(re.findall(r"\b(f\d+) \[", prompt)))
                return {"answer": [{"text": "The ferry Vinga was launched in 1931.", "fact_ids": ids[:2]}]}
        return check_reply(prompt, shape.__name__, ALWAYS)

    def _propose(self, prompt: str) -> Iterator[dict[str, Any]]:
        searches, pages = self.rounds.pop(0)
        for n in range(searches):
            yield {"next_action": "search_duckduckgo", "query_or_url": f"ferry Vinga yard {n} builder"}
        ids = [
            line.split()[0]
            for line in prompt.splitlines()
            if re.match(r"u\d+ http", line) and "(read)" not in line
        ]
        for name in ids[:pages]:
            yield {"next_action": "crawl_url", "query_or_url": name, "reasoning": "It names the ferry."}

    def _analyze(self, prompt: str) -> dict[str, Any]:
        shown = re.split(r"Passage (p\d+)[^\n]*:\n", prompt.split("Pages of this round")[-1])
        found = [
            (name, quote)
            for name, text in zip(shown[1::2], shown[2::2], strict=True)
            for quote in re.findall(r"The ferry Vinga was (?:built|launched)[^.]*\.", text)
        ]
        self.read += len(found) // 2
        facts = [{"quote": quote, "statement": quote, "passage_id": name} for name, quote in found]
        return {
            "facts": facts,
            "assessment": "The builder and the year are named; sources differ on the builder.",
            "confidence_score": 0.9 if self.read >= PAGES else 0.5,
            "answered_parts": ["1", "2"] if self.read >= PAGES else ["2"],
            "suggestions_for_next_step": ["Read a further archive."],
        }


def drive(bench: Workbench, script: Script) -> tuple[RunSnapshot, list[ModelCall], float, float]:
    """One run to its end; the calls, seconds of wall and of own CPU."""
    model = ScriptedModel(script)
    bench.worker.model_client = lambda name, fast="": (model, "")  # type: ignore[method-assign]
    settings = Settings(world="live", max_steps=ACTIONS, max_pages=PAGES, at_cap="report")
    run_id = bench.start(QUESTION, settings)
    began, cpu = time.monotonic(), time.process_time()
    status = bench.drive(run_id)
    wall, own = time.monotonic() - began, time.process_time() - cpu
    view = bench.snapshot(run_id)
    assert status is Status.REVIEW, view.run.error
    return view, bench.calls(run_id), wall, own


def main(arguments: list[str]) -> int:
    """Measure, print; 1 when a goal is missed."""
    parser = make_parser(__doc__)
    for name, default in (("model-ms", 1000), ("page-ms", 400), ("search-ms", 400)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(options.page_ms / 1000, options.search_ms / 1000) as search,
    ):
        allow = ",".join(f"127.0.0.{n + 1}" for n in range(PAGES))
        bench = Workbench(
            config.read_config({"TOUCHSTONE_DATA": folder, "DDG_ENDPOINT": search, "FETCH_ALLOW": allow})
        )
        drive(bench, Script(0.0))
        script = Script(options.model_ms / 1000)
        view, calls, wall, own = drive(bench, script)
        bench.shutdown()
    actions = view.state.actions
    assert (len(actions), view.state.pages_read_count) == (ACTIONS, PAGES), [a.query_or_url for a in actions]
    before = [call for call in calls if call.role in ("plan", "decision", "analyzer")]
    figures = {
        "calls": len(before),
        "prompt_tokens": sum(call.prompt_tokens for call in before),
        "own_cpu_s": round(own, 3),
        "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "wall_over_critical_path": round(wall / script.waited, 3),
    }
    for name, value in figures.items():
        over = "" if value <= GOALS[name] else "  OVER"
        print(f"  {name:<24} {value:>10} (at most {GOALS[name]:g}){over}")
    print(f"  wall {wall:.2f} s, of which {script.waited:.2f} s for {len(calls)} calls with the write-up")
    write_figures(options.json, figures)
    return int(any(figures[name] > goal for name, goal in GOALS.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
