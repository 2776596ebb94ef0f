"""Reads documents of strangers (PDF, Office, EPUB, RTF, large pages) in a few processes with limits of CPU
time and memory, which a stop ends.

The processes are new programs (`agent.web.parser_process`), neither forked (this process has threads, whose
locks a fork would copy as they are) nor spawned by `multiprocessing` (which runs the main module again: under
Streamlit that is a screen). They stay for the next document, and each ends when its input does: when this
process closes it or dies."""

from __future__ import annotations

import atexit
import json
import mmap
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from agent.net.deadline import POLL_SECONDS, Deadline, DeadlineExceeded, run_with_deadline
from agent.net.policies import MB
from agent.settings.config import ROOT, Config, child_environment
from agent.types import Outcome
from agent.web.extract.extraction import Extraction

MAX_PROCESSES = 2
"""Documents read at the same time; more wait."""
MAX_KEPT_MB = 150
"""Megabytes a process may hold that waits for another document; one with more is ended, where Linux tells."""
WALL_FACTOR = 6.0
"""How much longer than its CPU time a document may take by the clock: a busy computer shares its cores."""
MAX_REPLY_MB = 64
T = TypeVar("T")
_READING = TypeAdapter(Extraction)
PAGE_KINDS = ("html", "text", "xml", "structure")


@dataclass(frozen=True)
class ParserLimits:
    """What reading one document may cost: seconds of CPU time, megabytes of memory."""

    seconds: float = Config.model_fields["PARSER_TIMEOUT"].default
    megabytes: float = Config.model_fields["PARSER_MAX_MB"].default


class ParserDied(Exception):
    """The process ended in the middle of a document; `is_late`: because its CPU time was used up."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.is_late = code == -getattr(signal, "SIGXCPU", 0)  # Windows has none


class _ParserProcess:
    """One process, with its two pipes."""

    def __init__(self, limits: ParserLimits) -> None:
        self.limits = limits
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agent.web.parser_process", str(limits.megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=child_environment(),
            start_new_session=True,  # Ctrl-C in a terminal is for this process, which ends the other one
        )

    def is_usable(self) -> bool:
        """Whether it still runs, and holds no more than MAX_KEPT_MB."""
        if self._process.poll() is not None:
            return False
        try:
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_bytes().split()[1])
        except (OSError, IndexError):  # not Linux; it has just died
            return True
        return pages * mmap.PAGESIZE <= MAX_KEPT_MB * MB

    def exchange(self, kind: str, data: bytes, about: Mapping[str, Any], reply: TypeAdapter[T]) -> T:
        """Its reading of the document. Raises ParserDied."""
        head = {"kind": kind, "seconds": self.limits.seconds, "about": about, "size": len(data)}
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps(head).encode() + b"\n" + data)
            self._process.stdin.flush()
            return reply.validate_json(self._process.stdout.readline(MAX_REPLY_MB * MB))
        except (OSError, ValueError) as error:  # ValueError: a pipe that end() closed, half a reply
            raise ParserDied(self.end()) from error

    def end(self) -> int:
        """End it, which dies of its own when its input is closed and it does nothing; its exit code."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.05)
        self._process.kill()
        return self._process.wait()


class ParserPool:
    """Reads documents in up to `size` processes. Thread-safe."""

    def __init__(self, limits: ParserLimits | None = None, size: int = MAX_PROCESSES) -> None:
        self.limits = limits or ParserLimits()
        self._slots = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[_ParserProcess] = []
        self._busy: set[_ParserProcess] = set()
        atexit.register(self.close)

    def read(
        self,
        kind: str,
        data: bytes,
        checkpoint: Callable[[], None] = lambda: None,
        **about: str | int | bool | None,
    ) -> Extraction:
        """What the document holds, or the outcome that says why it could not be read; a page of PAGE_KINDS as
        its server and address describe it: `about` is what `read_page` or `read_structure` takes. Raises what
        `checkpoint` raises; the process is then killed."""
        try:
            with self.hold_place(checkpoint):
                return self.run(kind, data, about, _READING, checkpoint)
        except OSError as trouble:
            why = f"could not start the process that reads documents ({trouble.strerror or trouble})"
            advice = "Close other programs, or raise the limit of processes, and try again."
            detail = f"The document was not read: this computer {why}. {advice}"
            return Extraction(outcome=Outcome.ERROR, detail=detail)
        except (DeadlineExceeded, ParserDied) as end:
            is_late = not isinstance(end, ParserDied) or end.is_late
        what, advice = "document", "Split it, or save it as plain text."
        if kind in PAGE_KINDS:
            what, advice = "page", "Open it yourself, or look elsewhere."
        if is_late:
            takes = f"takes more than {self.limits.seconds:g} seconds to read and was stopped"
            detail = f"The {what} {takes} (PARSER_TIMEOUT raises the limit). {advice}"
            return Extraction(outcome=Outcome.TOO_LARGE, detail=detail)
        needs = f"needs more than {self.limits.megabytes:g} MB of memory (PARSER_MAX_MB raises the limit)"
        detail = f"The {what} could not be read: it is damaged, or {needs}. {advice}"
        return Extraction(outcome=Outcome.UNSUPPORTED, detail=detail)

    @contextmanager
    def hold_place(self, wait: Callable[[], None]) -> Iterator[None]:
        """Hold the place of one process; `wait` is called every POLL_SECONDS while all are taken."""
        while not self._slots.acquire(timeout=POLL_SECONDS):
            wait()
        try:
            yield
        finally:
            self._slots.release()

    def run(
        self,
        kind: str,
        data: bytes,
        about: Mapping[str, str | int | bool | None],
        reply: TypeAdapter[T],
        checkpoint: Callable[[], None],
    ) -> T:
        """What a process replies to who holds a place. Raises OSError where none could start,
        DeadlineExceeded, ParserDied, and what `checkpoint` raises; the process is then killed."""
        watch = Deadline(WALL_FACTOR * self.limits.seconds, checkpoint)
        with self._lock:
            known = [parser for parser in self._idle if parser.limits == self.limits and parser.is_usable()]
            others = [parser for parser in self._idle if parser not in known]
            parser = known[-1] if known else _ParserProcess(self.limits)
            self._idle = known[:-1]
            self._busy.add(parser)
        for other in others:
            other.end()
        is_usable = False
        try:
            found = run_with_deadline(lambda: parser.exchange(kind, data, about, reply), watch)
            is_usable = parser.is_usable()
            return found
        finally:
            with self._lock:
                self._busy.discard(parser)
                self._idle += [parser] * is_usable
            if not is_usable:
                parser.end()

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            parsers, self._idle = [*self._idle, *self._busy], []
        for parser in parsers:
            parser.end()


shared_pool = ParserPool()
"""The pool of this program; `Workbench` gives it the configured limits."""
