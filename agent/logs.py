"""The log of the program: lines for people or JSON lines for programs, with the run, step and person they
are about, and without any secret.

`bind` says what the lines of this thread are about. `redact` replaces every secret that a Config ever held,
in messages and tracebacks, whatever library wrote them. What people ask and pages say stays out: libraries,
which tell all at DEBUG, are heard from WARNING on; addresses lose their query, exceptions their message."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO
from urllib.parse import quote

from agent.errors import TouchstoneError

MAX_MESSAGE_CHARS = 4_000
FIELDS = ("run", "step", "person")
REDACTED = "[secret]"
_QUERY = re.compile(r"(?<=[\w/.%=\]-])\?[\w.%~+-]+=[^\s\"'<>)\]]*")
_secrets: set[str] = set()
_bound: ContextVar[dict[str, str]] = ContextVar("bound", default={})  # noqa: B039 - never changed, only replaced


@contextmanager
def bind(**fields: str | int) -> Iterator[None]:
    """The lines this thread writes meanwhile are about this run, step or person (its hash; "" for none)."""
    former = _bound.set(_bound.get() | {name: str(value) for name, value in fields.items() if value != ""})
    try:
        yield
    finally:
        _bound.reset(former)


def hash_person(identity: str) -> str:
    """Twelve hex digits that stand for a person in logs."""
    return hashlib.sha256(f"touchstone person {identity}".encode()).hexdigest()[:12]


def remember_secrets(secrets: Iterable[str]) -> None:
    """Replace these in every line from now on, except what could be a plain word."""
    for secret in filter(is_no_word, secrets):
        _secrets.update((secret, quote(secret, safe="")))


def is_no_word(secret: str) -> bool:
    """Whether a secret is replaced wherever it stands: a local server's key is often "ollama" or "none", so
    one has a digit and eight characters, or sixteen characters."""
    return len(secret) >= 16 or (len(secret) >= 8 and any(sign.isdigit() for sign in secret))


def redact(text: str) -> str:
    """The text without any known secret and without the queries of addresses."""
    text = _QUERY.sub("?…", text)
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, REDACTED)
    return text


def make_plain(text: object) -> str:
    """The beginning of a text as one line; what a terminal would act on stands as its escape."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text)[:MAX_MESSAGE_CHARS])


class ReadableFormatter(logging.Formatter):
    """One line a record, then its traceback, which tells of an exception its type and place; its message only
    where the program or the system wrote it."""

    def formatException(self, ei: Any) -> str:
        """The traceback of an exception and of those that led to it, newest first."""
        error, lines, told_of = ei[1], ["Traceback (newest exception first):\n"], set[int]()
        while error is not None and id(error) not in told_of:
            told_of.add(id(error))
            told = (
                error.strerror if isinstance(error, OSError) else isinstance(error, TouchstoneError) and error
            )
            lines += [*traceback.format_tb(error.__traceback__), f"{type(error).__name__}: {told or '…'}\n"]
            hides = error.__cause__ is not None or error.__suppress_context__
            error = error.__cause__ if hides else error.__context__
        return "".join(lines).rstrip()

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line."""
        record.message = make_plain(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        about = " ".join(f"{name}={value}" for name, value in _bound.get().items())
        record.exc_text = None  # what another formatter made of it
        return redact(super().format(record) + (f" [{about}]" if about and not record.exc_info else ""))


class JsonFormatter(ReadableFormatter):
    """A JSON object a line: at (ISO 8601, UTC), level, logger, message; if known run, step, person, error."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03}Z"
        line = {
            "at": at,
            "level": record.levelname,
            "logger": record.name,
            "message": make_plain(record.getMessage()),
        }
        line |= {name: value for name in FIELDS if (value := _bound.get().get(name))}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps({name: redact(value) for name, value in line.items()}, ensure_ascii=False)


def set_up(form: str, level: str, readable: str = "%(asctime)s %(levelname)s %(name)s %(message)s") -> None:
    """Write the log to stderr, as LOG_FORMAT and LOG_LEVEL say."""
    handler = _OwnHandler(sys.stderr)
    handler.addFilter(
        lambda line: line.levelno >= logging.WARNING or line.name.startswith(("agent", "pages"))
    )
    handler.setFormatter(JsonFormatter() if form == "json" else ReadableFormatter(readable))
    root = logging.getLogger()
    root.handlers[:] = [*(one for one in root.handlers if not isinstance(one, _OwnHandler)), handler]
    root.setLevel(level)


class _OwnHandler(logging.StreamHandler[TextIO]):
    """The one that `set_up` puts in the place of its last."""
