"""Reads documents of strangers (PDF, Office, EPUB, RTF, large pages) in a few processes with limits of CPU
time and memory, which a stop ends.

The processes are new programs (`agent.web.parser_process`), neither forked (this process has threads, whose
locks a fork would copy as they are) nor spawned by `multiprocessing` (which runs the main module again: under
Streamlit that is a screen). They stay for the next document, a new one comes after `MAX_DOCUMENTS`, and each
ends when its input does: when this process closes it or dies."""

from __future__ import annotations

import atexit
import contextlib
import json
import mmap
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from agent.net.deadline import POLL_SECONDS, Deadline, DeadlineExceeded, run_with_deadline
from agent.settings.config import ROOT, Config, child_environment
from agent.types import Outcome
from agent.web.extract.extraction import Extraction

MAX_PROCESSES = 2
"""Documents read at the same time; more wait."""
MAX_KEPT_MB = 150
"""Megabytes a process may hold that waits for another document; one with more is ended, where Linux tells."""
MAX_DOCUMENTS = 100
"""Documents after which a process is replaced: what a library leaks goes with it."""
WALL_FACTOR = 6.0
"""How much longer than its CPU time a document may take by the clock: a busy computer shares its cores."""
_LENGTH_BYTES = 8
T = TypeVar("T")
_CPU_SIGNAL: int | None = getattr(signal, "SIGXCPU", None)
"""What the kernel ends a process with that used up its CPU time; Windows has none."""
_READING = TypeAdapter(Extraction)
PAGE_KINDS = ("html", "text", "xml", "structure")
_TOO_LONG = (
    "The {} takes more than {:g} seconds to read and was stopped (PARSER_TIMEOUT raises the limit). {}"
)
_CRASHED = (
    "The {} could not be read: it is damaged, or needs more than {:g} MB of memory (PARSER_MAX_MB "
    "raises the limit). {}"
)

_NO_PROCESS = (
    "The document was not read: this computer could not start the process that reads documents ({}). Close "
    "other programs, or raise the limit of processes, and try again."
)


@dataclass(frozen=True)
class ParserLimits:
    """What reading one document may cost."""

    seconds: float = Config.model_fields["PARSER_TIMEOUT"].default
    """CPU time."""
    megabytes: float = Config.model_fields["PARSER_MAX_MB"].default
    reply_bytes: int = 64_000_000


class ParserDied(Exception):
    """The process ended in the middle of a document; `code` as in subprocess."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _ParserProcess:
    """One process, with its two pipes."""

    def __init__(self, limits: ParserLimits) -> None:
        self.limits = limits
        self.documents = 0
        command = [sys.executable, "-m", "agent.web.parser_process", str(limits.megabytes)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=child_environment(),
            start_new_session=True,  # Ctrl-C in a terminal is for this process, which ends the other one
        )

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def is_grown(self) -> bool:
        """Whether it holds more than MAX_KEPT_MB."""
        try:
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_bytes().split()[1])
        except (OSError, IndexError):  # not Linux; it has just died
            return False
        return pages * mmap.PAGESIZE > MAX_KEPT_MB * 1_000_000

    def exchange(self, kind: str, data: bytes, about: Mapping[str, Any], reply: TypeAdapter[T]) -> T:
        """Its reading of the document. Raises ParserDied."""
        head = json.dumps({"kind": kind, "seconds": self.limits.seconds, "about": about}).encode()
        self.documents += 1
        try:
            to = self._pipe(self._process.stdin)
            to.write(len(head).to_bytes(_LENGTH_BYTES, "big") + len(data).to_bytes(_LENGTH_BYTES, "big"))
            to.write(head)
            to.write(data)
            to.flush()
            length = int.from_bytes(self._receive(_LENGTH_BYTES), "big")
            return reply.validate_json(self._receive(length))
        except (OSError, ValueError, ValidationError) as error:  # ValueError: a pipe that kill() closed
            raise ParserDied(self.kill()) from error

    def _receive(self, count: int) -> bytes:
        received = self._pipe(self._process.stdout).read(min(count, self.limits.reply_bytes))
        if len(received) < count:
            raise ParserDied(self.kill())
        return received

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise ParserDied(self.kill())
        return pipe

    def kill(self) -> int:
        """End it at once; returns its exit code."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may be dying of its own
            self._process.wait(0.05)
        self._process.kill()
        return self._process.wait()

    def close(self) -> None:
        """End it, which is doing nothing, by closing its input."""
        with contextlib.suppress(OSError):
            self._pipe(self._process.stdin).close()
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self.kill()
        self._pipe(self._process.stdout).close()


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
            return Extraction(outcome=Outcome.ERROR, detail=_NO_PROCESS.format(trouble.strerror or trouble))
        except DeadlineExceeded:
            return _explain_failure(kind, self.limits, is_late=True)
        except ParserDied as death:
            is_late = _CPU_SIGNAL is not None and death.code == -_CPU_SIGNAL
            return _explain_failure(kind, self.limits, is_late=is_late)

    @contextlib.contextmanager
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
        parser = self._take_process()
        is_usable = False
        try:
            found = run_with_deadline(lambda: parser.exchange(kind, data, about, reply), watch)
            is_usable = True
            return found
        finally:
            self._put_back(parser, is_usable)

    def _take_process(self) -> _ParserProcess:
        with self._lock:
            while self._idle:
                parser = self._idle.pop()
                if parser.limits == self.limits and parser.is_alive():
                    break
                parser.close()
            else:
                parser = _ParserProcess(self.limits)
            self._busy.add(parser)
            return parser

    def _put_back(self, parser: _ParserProcess, is_usable: bool) -> None:
        with self._lock:
            self._busy.discard(parser)
            if is_usable and parser.documents < MAX_DOCUMENTS and not parser.is_grown():
                self._idle.append(parser)
                return
        if is_usable:
            parser.close()
        else:
            parser.kill()

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for parser in busy:
            parser.kill()
        for parser in idle:
            parser.close()


def _explain_failure(kind: str, limits: ParserLimits, *, is_late: bool) -> Extraction:
    is_page = kind in PAGE_KINDS
    what = "page" if is_page else "document"
    if is_late:
        advice = "Open it yourself, or look elsewhere." if is_page else "Split it, or save it as plain text."
        return Extraction(outcome=Outcome.TOO_LARGE, detail=_TOO_LONG.format(what, limits.seconds, advice))
    advice = "Open it yourself, or look elsewhere." if is_page else "Save it again, or as plain text."
    detail = _CRASHED.format(what, limits.megabytes, advice)
    return Extraction(outcome=Outcome.UNSUPPORTED, detail=detail)


shared_pool = ParserPool()
"""The pool of this program; `Workbench` gives it the configured limits."""
