"""Cases of “No model”: a run without one, and all that grows out of it, while a model server is set up and counts."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from agent import api
from agent.actions import page_input
from agent.batch import jobs
from agent.batch.csv_input import read_sheet
from agent.bot.responder import ReplyService
from agent.errors import TouchstoneError
from agent.settings.config import Config, read_config
from agent.settings.reply_config import DEMO_KB
from agent.types import BatchBudget, Settings, Status
from agent.types.reply import Conversation, Message
from agent.workbench import Workbench
from bench.trust.scorecard import Bench, Result, case
from tests.web.model_server import ModelServer

KEYLESS = Settings(world="demo", model="keyless", at_cap="report", max_steps=6)
FOUNDED = "In which year was Älvmora Mejeri founded?"
SITE = "https://kallsteg.example/support/"
CLAIM = b"Dairy\n\n\xc3\x84lvmora Mejeri was founded in 1979 [1](https://norrviddawiki.example/wiki/alvmora-mejeri)."
TABLE = f"question;id\n{FOUNDED};a\nHow many huts are there?;b\n".encode()
FERRIES = b"# Ferries\n\nThe ferry Vinga was launched in 1956.\n"
FLOWS = ("research", "site", "collect", "check_text", "chat")
Act = Callable[[Workbench, str], object]


def start(bench: Workbench, flow: str, settings: Settings = KEYLESS) -> str:
    """A run of a flow, without a model unless `settings` have one."""
    if flow == "site":
        asked = settings.replace(flow=flow, start_urls=[SITE], allowed_domains=["kallsteg.example"])
        return bench.start("What does error E17 mean?", asked)
    if flow == "collect":
        news = "https://granvattnet-courier.example/news/"
        return api.start_collect_run(bench, "Summarize Granvattnet news from last week", [news], settings)
    if flow == "check_text":
        return api.start_text_check(bench, "text.md", CLAIM, settings)
    if flow == "chat":
        bench.library.add_file("ferry.md", FERRIES)
        return bench.start("When was the ferry Vinga launched?", settings.replace(flow=flow))
    return bench.start(FOUNDED, settings)


def _resume(bench: Workbench, run_id: str) -> None:
    bench.store.ledger.update_run(run_id, status=Status.STOPPED)
    bench.act(run_id, "resume")


def _comment(bench: Workbench, run_id: str) -> None:
    bench.act(run_id, "comment", bench.snapshot(run_id).head, target="s1", text="Which source says so?")


def _settle(bench: Workbench, run_id: str) -> None:
    for name in list(bench.snapshot(run_id).state.conflicts):
        bench.act(run_id, "look", conflict=name, words="founded")


def _retry(bench: Workbench, run_id: str) -> None:
    for failed in page_input.list_failed_requests(bench.snapshot(run_id).state):
        bench.act(run_id, "retry", what=failed.what)


def _act(bench: Workbench, run_id: str, name: str, **given: object) -> object:
    return bench.act(run_id, name, bench.snapshot(run_id).head, **given)


ACTS: dict[str, Act] = {
    "send back": lambda bench, run: _act(bench, run, "send_back", note="Which year? Search again."),
    "comment": _comment,
    "add guidance": lambda bench, run: bench.act(run, "steer", note="Look for the owner, too."),
    "retry": _retry,
    "search for a conflict": _settle,
    "resume": _resume,
    "another length": lambda bench, run: bench.act(run, "rewrite", length="full"),
    "follow-up": lambda bench, run: bench.follow_up(run, "And who founded it?"),
    "chat message": lambda bench, run: bench.send_chat_message(run, "And who built it?"),
    "accept and reopen": lambda bench, run: (
        _act(bench, run, "accept"), _act(bench, run, "reopen"), _act(bench, run, "send_back", note="More.")
    )
}  # fmt: skip


def branches(bench: Workbench, run_id: str) -> Iterator[Act]:
    """A branch of each step, as it is and with a note."""
    for n in range(len(bench.snapshot(run_id).steps)):
        yield lambda bench, run, n=n: bench.act(run, "fork", step=n)
        yield lambda bench, run, n=n: bench.act(run, "fork", step=n, note="Only the registry.")


def grow(bench: Workbench, flow: str, scale: Bench) -> int:
    """Do all that can be done with a run of this flow; returns how many acts were possible."""
    first, done = start(bench, flow), 0
    bench.drive(first)
    for act in [*ACTS.values(), *scale.thin(branches(bench, first), 1)]:
        with suppress(TouchstoneError):  # not possible with this flow, or now
            act(bench, first)
            done += 1
        for run in bench.runs():
            bench.drive(run.id)
    assert all(run.settings.model == "keyless" for run in bench.runs())
    return done


def ask_batch(bench: Workbench) -> int:
    batch = jobs.create(bench, "b", read_sheet(TABLE, KEYLESS), KEYLESS, BatchBudget())
    jobs.drive(bench, batch, lambda now: None, threading.Event())
    with suppress(TouchstoneError):
        jobs.resume(bench, batch, failed=True)
    jobs.drive(bench, batch, lambda now: None, threading.Event())
    return len(jobs.get_status(bench, batch).rows)


def reply(bench: Workbench) -> int:
    service = ReplyService(bench, kb=DEMO_KB)
    talk = Conversation(messages=[Message(role="user", text="How do I install Fyrvakt on Debian?")])
    service.reply(talk, model="keyless")
    service.close()
    return 1


def follow_on_command_line(bench: Workbench) -> int:
    """A further question of each thread as it is typed, without an option that says anything of a model."""
    begun = {flow: start(bench, flow) for flow in ("research", "site", "chat")}
    for run_id in begun.values():
        bench.drive(run_id)
    command = "from agent.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"
    settings = {name: str(getattr(bench.config, name)) for name in ("OPENAI_BASE_URL", "EMBEDDING_MODEL")}
    own = {"TOUCHSTONE_DATA": str(bench.config.data_folder), "OLLAMA_URL": "", **settings}
    for flow, run_id in begun.items():
        more = ["--start", SITE] if flow == "site" else []
        name = "--thread" if flow == "chat" else "--follow"
        words = [flow, "And since when is that so?", *more, name, run_id]
        subprocess.run(
            [sys.executable, "-c", command, *words], env={**os.environ, **own}, capture_output=True
        )
    assert len(bench.runs()) == 2 * len(begun) and {run.settings.model for run in bench.runs()} == {"keyless"}
    return len(begun)


def restart(bench: Workbench) -> int:
    """A run half done, taken up by the next process."""
    run_id = bench.start(FOUNDED, KEYLESS)
    again = Workbench(bench.config)
    again.drive(run_id)
    again.shutdown()
    return 1


OTHERS = {"batch": ask_batch, "reply": reply, "restart": restart, "command line": follow_on_command_line}


def configure(folder: str, url: str) -> Config:
    """The data of a folder with a model and embedding server."""
    own = {"TOUCHSTONE_DATA": folder, "OPENAI_BASE_URL": url, "EMBEDDING_MODEL": "embedder"}
    return read_config({"OLLAMA_URL": "", **own})


def switch_server(flow: str, *, restart: bool) -> str:
    """A run whose server is another one after its first step, in the same process or the next: what is wrong
    then, "" for nothing."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ModelServer(lambda request: "{}") as first,
        ModelServer(lambda request: "{}") as second,
    ):
        bench = Workbench(configure(folder, first.url))
        run_id = start(bench, flow, KEYLESS.replace(model="auto"))

        def watch() -> None:
            if restart:
                bench.worker.shutdown_event.set()
            else:
                bench.worker.use_models_of(configure(folder, second.url))

        bench.drive(run_id, watch)
        if restart:
            bench.shutdown()
            bench = Workbench(configure(folder, second.url))
            bench.start_workers()  # it is taken up by itself
            for _ in range(1000):
                if bench.store.ledger.get(run_id).status is not Status.RUNNING:
                    break
                threading.Event().wait(0.01)
        status = bench.store.ledger.get(run_id).status
        bench.shutdown()
        if second.requests:
            return f"{flow}: {len(second.requests)} calls of the other server"
        return "" if status is Status.PAUSED else f"{flow}: it is {status.value}, not resting"


@case(
    "S9.5",
    "A run of each flow with “No model”, and all that grows out of it: calls of the model and embedding server "
    "that are set up; with a model: calls of another server after a switch, before a person chose it",
    "0 calls",
    quick=True,
)
def no_model(bench: Bench) -> Result:
    flows = {flow: partial(grow, flow=flow, scale=bench) for flow in FLOWS}
    misses, done = [], 0
    for name, what in {**flows, **OTHERS}.items():
        server = ModelServer(lambda request: "{}", embeds=lambda texts: [[1.0, 2.0] for _ in texts])
        with tempfile.TemporaryDirectory() as folder, server:
            opened = Workbench(configure(folder, server.url))
            try:
                assert opened.worker.model_search.find().client
                opened.library.add_file("ferry.md", FERRIES)
                assert opened.library.vector_index.embed_pending()
                server.requests.clear()
                done += what(opened)
            finally:
                opened.shutdown()
            misses += [f"{name}: {len(server.requests)} calls"] if server.requests else []
    for flow, again in bench.thin(itertools.product(FLOWS, (False, True)), 2):
        misses += filter(None, [switch_server(flow, restart=again)])
        done += 1
    screens = Result(0, "") if bench.quick else bench.tests("-n", "0", "tests/pages/test_no_model.py")
    misses += screens.misses
    return Result(done + screens.n, f"{len(misses)} of {done} acts and {screens.n} screens called it", misses)
