"""The process that reads documents: `python -m agent.web.parser_process MEGABYTES`.

Takes requests on its standard input and answers on its standard output, one after the other, until the input
ends. A document comes from strangers, so this process has no keys, a limit of memory and, for each document,
of CPU time; it dies of them, and `agent.web.parser_pool` starts another."""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from agent.types import Outcome
from agent.web.engines import ddgs_search
from agent.web.extract import dispatch
from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import docx, epub, odt, pdf, rtf, sheets, slides

try:
    import resource
except ImportError:  # Windows: the deadline of the parent is the only limit
    resource = None  # type: ignore[assignment]

READING: TypeAdapter[Extraction | ddgs_search.BackendReply] = TypeAdapter(
    Extraction | ddgs_search.BackendReply
)
"""How a reading travels: as JSON, so that a hijacked process can send nothing but values."""
LENGTH = struct.Struct(">Q")
PARTIAL_SHARE = 0.7
"""The share of its CPU time after which a PDF is told as far as it was read."""
TOO_MUCH_MEMORY = (
    "The document needs more memory to be read than is allowed (PARSER_MAX_MB raises the limit). Split it, "
    "or save it as plain text."
)
READERS: dict[str, Callable[[bytes], Extraction]] = {
    "docx": docx.extract_docx,
    "epub": epub.extract_epub,
    "odt": odt.extract_odt,
    "pptx": slides.extract_slides,
    "rtf": rtf.extract_rtf,
    "sheets": sheets.extract_sheets,
}


def read_format(
    kind: str, data: bytes, seconds: float, *, content_type: str = "", url: str = "", **about: Any
) -> Extraction:
    """What the reader of this format makes of the document; a PDF in that many seconds of CPU time, a page as
    its server and address describe it, its structure as `about` says."""
    if kind == "pdf":
        return pdf.extract_pdf(data, seconds=PARTIAL_SHARE * seconds)
    if kind in READERS:
        return READERS[kind](data)
    if kind == "structure":
        return dispatch.read_structure(data, content_type, url, **about)
    return dispatch.read_page(kind, data, content_type, url)


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are none: lengths of head and body, head (JSON), body."""
    while lengths := requests.read(2 * LENGTH.size):
        head_length, body_length = (n for (n,) in LENGTH.iter_unpack(lengths))
        head = json.loads(requests.read(head_length))
        data = requests.read(body_length)
        _limit_cpu(head["seconds"])
        is_search = head["kind"] == "search"
        try:
            if is_search:
                reply = READING.dump_json(ddgs_search.search_backend(data.decode(), **head["about"]))
            else:
                reply = READING.dump_json(
                    read_format(head["kind"], data, head["seconds"], **head["about"]).limit()
                )
        except MemoryError:
            document = Extraction(outcome=Outcome.TOO_LARGE, detail=TOO_MUCH_MEMORY)
            reply = READING.dump_json(ddgs_search.BackendReply(is_too_large=True) if is_search else document)
        replies.write(LENGTH.pack(len(reply)) + reply)
        replies.flush()


def _limit_cpu(seconds: float) -> None:
    """Let the process use so many more seconds; the kernel ends it after that."""
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = math.ceil(used.ru_utime + used.ru_stime + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def main() -> None:
    """Serve this process's standard input. What a library prints goes nowhere."""
    replies = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
        os.dup2(nowhere.fileno(), 1)
    megabytes = float(sys.argv[1])
    if resource is not None and hasattr(resource, "RLIMIT_AS"):
        most = int(megabytes * 1_000_000)
        with contextlib.suppress(ValueError, OSError):  # macOS has the limit and refuses to set it
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
