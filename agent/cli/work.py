"""`work`: a process that drives the runs of a store, whoever started them; `mcp`: one that serves tools."""

from __future__ import annotations

import signal
import sys
import threading
from argparse import Namespace

from agent.cli.options import command, count, flag, option
from agent.cli.output import write_stderr
from agent.errors import UsageError
from agent.mcp.server import serve_stdio
from agent.settings.config import Config, read_config
from agent.workbench import Workbench
from agent.workbenches import Workbenches


@command(
    option("--concurrency N", "runs that may work at the same time", type=count, default="4"),
    flag(
        "--told",
        "drive at once the runs that standard input names, one a line, and end with it (WORKERS_APART)",
    ),
)
def work(args: Namespace) -> int:
    """Work until the process is told to end (SIGTERM, Ctrl+C); runs rest where they are, and another process
    takes them over. Returns the exit code. Raises UsageError for a login without PostgreSQL."""
    config = read_config({"WORKERS": str(args.concurrency), "WORKERS_APART": "false"})
    ended = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: ended.set())
    if config.has_login:
        if not config.has_server_store:
            raise UsageError(
                "where people sign in, each has a store of their own: `work` drives their runs with "
                "PostgreSQL alone; set DATABASE_URL"
            )
        return _work_for_all(config, ended)
    bench = Workbench(config)

    def hear() -> None:
        for line in sys.stdin:
            bench.worker.put_back(line.strip())
        ended.set()

    try:
        bench.worker.is_watched_from_afar = True
        bench.start_workers()
        if args.told:
            threading.Thread(target=hear, name="told", daemon=True).start()
        shown = bench.store.url.render_as_string(hide_password=True)
        write_stderr(f"working on the runs of {shown}, {args.concurrency} at a time; Ctrl+C ends it")
        ended.wait()
    finally:
        bench.shutdown()
    return 0


def _work_for_all(config: Config, ended: threading.Event) -> int:
    """Drive the runs of all who sign in."""
    benches = Workbenches(config)
    try:
        benches.start()
        write_stderr(f"working on the runs of all people, {config.WORKERS} at a time; Ctrl+C ends it")
        ended.wait()
    finally:
        benches.close()
    return 0


@command()
def mcp(args: Namespace) -> int:
    """Serve the tools for other programs until standard input ends; returns the exit code."""
    bench = Workbench()
    try:
        bench.start_workers()
        serve_stdio(bench)
    finally:
        bench.shutdown()
    return 0
