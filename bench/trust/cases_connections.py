"""The case of connections: all that the program and its children open, as the kernel sees it, has a purpose."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.trust.scorecard import ROOT, Bench, Result, case

CALLS = "connect,sendto,sendmsg,sendmmsg"
PEER = re.compile(r"sin6?_port=htons\((\d+)\)[^\"]*\"([^\"]+)\"")
"""The peer of a call; one sendmmsg has several."""
HOOK = """
import os, sys
def hook(event, args):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg") and isinstance(args[1], tuple):
        told = f'connect(sin_port=htons({args[1][1]}), "{args[1][0]}")'
    elif event == "socket.getaddrinfo" and args[0] not in ("127.0.0.1", "localhost", None):
        told = f'connect(sin_port=htons(53), "{args[0]}")'
    else:
        return
    with open(LOG, "a") as log:
        log.write(told + "\\n")
sys.addaudithook(hook)
"""
"""What Python itself tells, where the kernel can't be asked: put where each process of ours imports it first."""


def can_trace() -> bool:
    """Whether strace is there and may be used."""
    found = shutil.which("strace")
    return (
        bool(found)
        and not subprocess.run([found, "-qq", "true"], capture_output=True, check=False).returncode
    )


def trace(folder: Path, module: str, *, by_kernel: bool) -> tuple[set[tuple[str, int]], str]:
    """Every peer (address, port) that the module's process and its children connected to or sent to, and what
    it said when it failed."""
    log, hooks = folder / "log", folder / "hooks"
    hooks.mkdir()
    log.touch()
    command = [sys.executable, "-m", module, str(folder)]
    paths = [str(ROOT)]
    if by_kernel:
        command = [
            "strace",
            "-f",
            "-qq",
            "-s",
            "64",
            "-e",
            f"trace={CALLS}",
            "-e",
            "signal=none",
            "-o",
            str(log),
            *command,
        ]
    else:
        (hooks / "sitecustomize.py").write_text(f"LOG = {str(log)!r}\n{HOOK}", encoding="utf-8")
        paths = [str(hooks), *paths]
    environment = {
        "PYTHONPATH": ":".join(paths),
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "OLLAMA_URL": "",
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    seen = {
        (host, int(port)) for port, host in PEER.findall(log.read_text(encoding="utf-8", errors="replace"))
    }
    return seen, done.stderr[-600:] if done.returncode else ""


def judge(seen: set[tuple[str, int]], ports: dict[str, list[int]]) -> list[str]:
    """Peers that serve no purpose, ports that serve two, and purposes of which nothing was seen."""
    served = [port for listed in ports.values() for port in listed]
    misses = [f"{host}:{port}" for host, port in sorted(seen - {("127.0.0.1", port) for port in served})]
    misses += [f"port {port} serves two" for port in sorted({p for p in served if served.count(p) > 1})]
    return misses + [
        f"nothing was seen of {purpose}"
        for purpose, listed in ports.items()
        if not {("127.0.0.1", port) for port in listed} & seen
    ]


@case(
    "S10.7",
    "Connections that no policy names: all flows, demo and live world, server and children",
    "0; each purpose used is seen",
)
def connections(bench: Bench) -> Result:
    by_kernel = can_trace()
    with tempfile.TemporaryDirectory() as name:
        seen, error = trace(Path(name), "bench.trust.six_flows", by_kernel=by_kernel)
        if error:
            return Result(0, "the flows did not run", [error])
        told = json.loads((Path(name) / "flows.json").read_text(encoding="utf-8"))
    misses = judge(seen, told["ports"]) + told["wrong"]
    how = "seen by strace" if by_kernel else "told by Python's audit hooks"
    return Result(len(seen), f"{len(misses)} of {len(seen)} peers without a policy, {how}", misses)
