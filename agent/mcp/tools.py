"""The tools: what a program may ask of Touchstone by MCP, for the person whose token it has.

A run takes minutes, and calls of tools are cut after one: a tool that starts a run returns its handle at
once, and `get_run` is asked until the run rests. Nothing here decides for a person."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from agent import __version__, api
from agent.actions import acts
from agent.actions.release import release
from agent.engine.worker import FOLLOW_POLL_S
from agent.errors import TouchstoneError
from agent.flows import FLOWS
from agent.http.programs import DECIDING_ACTS, Program
from agent.http.records import read_evidence
from agent.http.runs import WAIT_S
from agent.text.urls import complete_typed_url, host
from agent.types import STATUS_PHRASES, Settings, Status

FindProgram = Callable[[Context[Any, Any]], Program]
"""Who asks. Raises RequestRefused."""


def build_server(find_program: FindProgram) -> MCPServer[Any]:
    """The server with all tools; `find_program` says for whom a call is."""
    server: MCPServer[Any] = MCPServer(
        "touchstone",
        instructions=(
            "Research that can be checked: each sentence of an answer is tied to a verbatim quote in a "
            "stored page. Start a run, then ask get_run with the number of the last step you saw as long "
            "as its status is “running”. A run in review waits for its person's word: say so, and never call "
            "it accepted yourself. Ask get_evidence for the quote before you repeat a sentence as true."
        ),
        version=__version__,
    )
    tools = Tools(find_program)
    reads, starts = ToolAnnotations(read_only_hint=True), ToolAnnotations(destructive_hint=False)
    works: list[Callable[..., Any]] = [tools.research, tools.ask_site, tools.collect, tools.check_text]
    works += [tools.answer_run, tools.stop_run]
    looks: list[Callable[..., Any]] = [tools.get_run, tools.get_evidence, tools.search_library]
    looks += [tools.search, tools.fetch]
    for tool in [*works, *looks]:
        server.tool(annotations=reads if tool in looks else starts)(tool)
    return server


class Tools:
    """Each public method is a tool; its docstring is what a model reads of it."""

    def __init__(self, find_program: FindProgram) -> None:
        self._find_program = find_program

    def research(self, question: str, ctx: Context[Any, Any], world: str = "live") -> dict[str, Any]:
        """Research a question on the web (world "demo": in invented pages, for trying). Costs some minutes
        and, where a model is set up, calls of it, up to the limits of its person. Returns a handle at once:
        then ask get_run with wait_s 25 until the run rests."""
        return self._start(ctx, "research", lambda bench: bench.start(question, Settings(world=world)))

    def ask_site(
        self, question: str, start_urls: list[str], ctx: Context[Any, Any], world: str = "live"
    ) -> dict[str, Any]:
        """Answer a question from chosen websites alone, or say that they do not tell. Costs up to a minute or
        two. Returns a handle at once: ask get_run every 10 seconds until the run rests."""
        urls = [complete_typed_url(url) for url in start_urls]
        hosts = list(dict.fromkeys(filter(None, map(host, urls))))
        settings = partial(Settings, flow="site", start_urls=urls, allowed_domains=hosts, world=world)
        return self._start(ctx, "site", lambda bench: bench.start(question, settings()))

    def collect(
        self, prompt: str, start_urls: list[str], ctx: Context[Any, Any], world: str = "live"
    ) -> dict[str, Any]:
        """Gather articles and threads that fit a prompt, page by page from these addresses. Costs minutes.
        Returns a handle at once: ask get_run every 20 seconds until the run rests."""
        return self._start(
            ctx,
            "collect",
            lambda bench: api.start_collect_run(bench, prompt, start_urls, Settings(world=world)),
        )

    def check_text(self, text: str, ctx: Context[Any, Any], world: str = "live") -> dict[str, Any]:
        """Check each claim of a text (Markdown with the addresses of its sources) against the pages it cites.
        Costs up to some minutes. Returns a handle at once: ask get_run every 20 seconds until it rests."""
        return self._start(
            ctx,
            "check_text",
            lambda bench: api.start_text_check(bench, api.PASTED_NAME, text.encode(), Settings(world=world)),
        )

    def get_run(
        self, run: str, ctx: Context[Any, Any], after: int = -1, wait_s: float = 0.0
    ) -> dict[str, Any]:
        """A run as it is: status, its steps behind number `after`, what it waits for, and its answer, each
        sentence with its number and mark. Waits up to `wait_s` (25 at most) seconds for a new step. Costs
        nothing. Ask again while the status is "running"."""
        program = self._identify(ctx)
        with _told():
            until = time.monotonic() + min(max(wait_s, 0.0), WAIT_S)
            view = program.open_run(run, "read")
            while view.run.status is Status.RUNNING and view.head <= after and time.monotonic() < until:
                time.sleep(FOLLOW_POLL_S)
                view = program.bench.snapshot(run)
            return _describe(program, run, after)

    def answer_run(
        self, run: str, act: str, ctx: Context[Any, Any], parameters: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Do one of the acts that get_run names as possible, such as steer {"text": …}, respond, approve,
        finish or resume. Accepting, resolving conflicts and overruling marks are a person's: they need a
        token with the scope decide. Returns the run."""
        program = self._identify(ctx)
        with _told(), program.acting():
            starts = acts.find_act(act).starts
            flow = program.open_run(run, *["read"] * bool(starts)).run.settings.flow
            program.require_flow(starts or flow)
            if act in DECIDING_ACTS:
                program.require("decide")
            if starts:
                program.check_quota()
            done = program.bench.act(run, act, **program.sign(parameters or {}))
            run = done if isinstance(done, str) else run
            return _describe(program, run, after=program.bench.snapshot(run).head - 1)

    def stop_run(self, run: str, ctx: Context[Any, Any]) -> dict[str, Any]:
        """Stop a run at work where it is; its pages and facts stay, and its person can resume it."""
        return self.answer_run(run, "stop", ctx)

    def get_evidence(self, run: str, sentence: int, ctx: Context[Any, Any]) -> dict[str, Any]:
        """What a sentence of an answer rests on: its mark with the reason, and each verbatim quote with the
        words around it, the page's address, when it was read and the SHA-256 of its text. Costs nothing."""
        program = self._identify(ctx)
        with _told():
            program.open_run(run, "read")
            return read_evidence(program.bench, run, f"s{sentence}").model_dump(mode="json")

    def search_library(self, query: str, ctx: Context[Any, Any]) -> dict[str, Any]:
        """The passages of the person's library (their documents, and pages that runs have read) that fit a
        query best. Costs nothing."""
        program = self._identify(ctx)
        with _told():
            program.require("library")
            return program.bench.library.search(query).model_dump(mode="json")

    def search(self, query: str, ctx: Context[Any, Any]) -> dict[str, Any]:
        """Search the person's library; returns results with id, title and url, for fetch. Costs nothing."""
        found = self.search_library(query, ctx)
        results = {
            hit["page_id"]: {"id": hit["page_id"], "title": hit["title"] or hit["url"], "url": hit["url"]}
            for hit in found["hits"]
        }
        return {"results": list(results.values())}

    def fetch(self, id: str, ctx: Context[Any, Any]) -> dict[str, Any]:
        """The whole text of a document that search found, by its id. Costs nothing."""
        program = self._identify(ctx)
        with _told():
            program.require("library")
            page = program.bench.page(id)
            told = {"published_at": page.published_at, "author": page.author, "language": page.language}
            return {"id": id, "title": page.title, "text": page.text, "url": page.url, "metadata": told}

    def _identify(self, ctx: Context[Any, Any]) -> Program:
        with _told():
            return self._find_program(ctx)

    def _start(self, ctx: Context[Any, Any], flow: str, start: Callable[[Any], str]) -> dict[str, Any]:
        program = self._identify(ctx)
        with _told(), program.acting():
            program.require_flow(flow)
            program.check_quota()
            run = start(program.bench)
            return {
                "run": run,
                "status": "running",
                "next": f"ask get_run with run {run}, after 0, wait_s 25",
            }


@contextmanager
def _told() -> Iterator[None]:
    """What goes wrong is told to the model in the words for a person, which say what to do next."""
    try:
        yield
    except TouchstoneError as error:
        raise ToolError(str(error)) from error


def _describe(program: Program, run: str, after: int) -> dict[str, Any]:
    bench = program.bench
    view, record, (shown, _) = bench.snapshot(run), bench.as_json(run), release(bench, run)
    flow = FLOWS[view.run.settings.flow]
    steps = [
        {"n": step.n, "name": step.name, "told": flow.describe(step)}
        for step in shown.steps
        if step.n > after
    ]
    possible = {
        act.name: {"help": act.help, "parameters": act.parameters.model_json_schema()["properties"]}
        for act in acts.list_possible(view)
        if act.name not in DECIDING_ACTS or "decide" in program.token.scopes
    }
    is_at_work = view.run.status is Status.RUNNING
    said = record.get("sentences") or []
    return {
        "run": run,
        "status": view.run.status.value,
        "told": (view.activity if view.state is shown.state else "") or STATUS_PHRASES[view.run.status],
        "head": view.head,
        "steps": steps,
        "error": shown.run.error,
        "answer": record["answer"],
        "conclusion": record.get("conclusion", ""),
        "sentences": [
            {"sentence": n, "text": one["text"], "mark": _mark(one)} for n, one in enumerate(said, 1)
        ],
        "sources": [{name: source[name] for name in ("n", "url", "title")} for source in record["sources"]],
        "possible": {} if is_at_work else possible,
    }


def _mark(sentence: dict[str, Any]) -> str:
    """The mark of a sentence: how it was checked, or that its sources do not say it."""
    if sentence["contradicted"]:
        return "contradicted"
    return str(sentence["check"] or "supported") if sentence["backed"] else "not supported"
