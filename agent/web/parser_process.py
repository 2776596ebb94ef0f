"""The process that reads documents: `python -m agent.web.parser_process MEGABYTES`.

Takes requests on its standard input and answers on its standard output, one after the other, until the input
ends. A document comes from strangers, so this process has no keys, a limit of memory and, for each document,
of CPU time; it dies of them, and `agent.web.parser_pool` starts another."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from agent.net.policies import MB
from agent.types import Outcome
from agent.web import mime
from agent.web.engines import ddgs_search
from agent.web.extract import dispatch
from agent.web.extract.extraction import Extraction

try:
    import resource
except ImportError:  # Windows: the deadline of the parent is the only limit
    resource = None  # type: ignore[assignment]

Reading = Extraction | ddgs_search.BackendReply
READING: TypeAdapter[Reading] = TypeAdapter(Reading)
"""How a reading travels: as JSON, so that a hijacked process can send nothing but values."""
PARTIAL_SHARE = 0.7
"""The share of its CPU time after which a PDF is told as far as it was read."""


def read_document(kind: str, data: bytes, seconds: float, about: dict[str, Any]) -> Reading:
    """What the reader of this kind makes of the document within so many seconds of CPU time; of a page as
    `about` describes it, of a search what its backend finds."""
    if kind == "search":
        return ddgs_search.search_backend(data.decode(), **about)
    if document := mime.DOCUMENTS.get(kind):
        partial = {"seconds": PARTIAL_SHARE * seconds} if kind == "pdf" else {}
        return document.load_reader()(data, **partial).limit()
    content_type, url = about.pop("content_type", ""), about.pop("url", "")
    if kind == "structure":
        return dispatch.read_structure(data, content_type, url, **about).limit()
    return dispatch.read_page(kind, data, content_type, url).limit()


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer requests until there are none: a head in a line of JSON with the `size` of the body, the body.
    A reply is a line of JSON."""
    for line in requests:
        head = json.loads(line)
        data = requests.read(head["size"])
        if resource is not None:  # so many more seconds; the kernel ends the process after that
            used = resource.getrusage(resource.RUSAGE_SELF)
            most = math.ceil(used.ru_utime + used.ru_stime + head["seconds"])
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        try:
            reply = READING.dump_json(read_document(head["kind"], data, head["seconds"], head["about"]))
        except MemoryError:
            why = (
                "The document needs more memory to be read than is allowed (PARSER_MAX_MB raises the limit)."
            )
            detail = f"{why} Split it, or save it as plain text."
            too_large: Reading = Extraction(outcome=Outcome.TOO_LARGE, detail=detail)
            if head["kind"] == "search":
                too_large = ddgs_search.BackendReply(is_too_large=True)
            reply = READING.dump_json(too_large)
        replies.write(reply + b"\n")
        replies.flush()


def main() -> None:
    """Serve this process's standard input. What a library prints goes nowhere."""
    replies = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
        os.dup2(nowhere.fileno(), 1)
    if resource is not None and hasattr(resource, "RLIMIT_AS"):
        most = int(float(sys.argv[1]) * MB)
        with contextlib.suppress(ValueError, OSError):  # macOS has the limit and refuses to set it
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
