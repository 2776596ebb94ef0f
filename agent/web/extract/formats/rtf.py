"""A document in Rich Text Format (RTF): its paragraphs and tables."""

from __future__ import annotations

import re

from striprtf.striprtf import rtf_to_text as convert_rtf

from agent.web.extract.extraction import Extraction
from agent.web.extract.formats import archive
from agent.web.extract.writer import DocumentWriter

KIND = archive.ArchiveKind("RTF document")
_STATED = re.compile(rb"\{\\(title|author)\s([^{}]{1,500})\}")


def _convert(rtf: str) -> str:
    return str(convert_rtf(rtf, errors="replace"))  # type: ignore[no-untyped-call]


def extract_rtf(data: bytes) -> Extraction:
    """The document's text. Outcome `unsupported`, with advice, when it cannot be read."""
    try:
        text = _convert(data.decode("latin-1"))
        about = {
            name.decode(): " ".join(_convert("{\\rtf1 " + value.decode("latin-1") + "}").split())
            for name, value in _STATED.findall(data[:20_000])
        }
    except (ValueError, LookupError, TypeError, RuntimeError):
        return KIND.refuse("broken")
    writer = DocumentWriter()
    rows: list[list[str]] = []
    for line in [*text.replace("\x00", "").replace("\r", "\n").split("\n"), ""]:
        if line.rstrip().endswith("|"):  # the library ends each cell so
            rows.append(line.rstrip().removesuffix("|").split("|"))
            continue
        writer.write_table(rows)
        rows = []
        writer.write_block(" ".join(line.split()))
    if not writer.length:
        return KIND.refuse("empty")
    return writer.finish(title=about.get("title", ""), author=about.get("author", ""))
