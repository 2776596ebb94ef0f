"""The evidence bundle of a run: everything its answer is based on, in one file that a colleague can verify
and open.

    manifest.json          what this is, and the SHA-256 of every other file
    readme.txt             the same for a person
    run.json  steps.jsonl  the run and its ledger: its state follows from the steps alone
    facts.json             the facts as the steps leave them, for those who only want these
    pages.jsonl            each stored page; pages/ID.txt is its text, which quotes point into, and
                           pages/ID.body.gz its body as it came
    calls.jsonl            every model call: its prompt, its reply, what it cost

Writes and reads only; `verify` judges the content. Secrets are hidden before anything is written."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from agent.errors import BundleError
from agent.export.archive import load_json, pack, unpack
from agent.export.hiding import make_redactor
from agent.text.plurals import clip
from agent.types import Fact, ModelCall, Page, Run, Step, Usage

FORMAT, VERSION, FORMER_VERSION = "touchstone-evidence-bundle", 2, 1
"""Of a bundle of the former version what its records have in common with those of today is read."""
LAST_READER = "the program of commit 2579e32c"
"""What last opened bundles of the former version as runs."""
MAX_BODY = 100_000_000
README = Path(__file__).with_name("bundle_readme.txt").read_text(encoding="utf-8")
_ADDRESS = {"settings": {"served_by"}}  # who guesses a model's server finds that this is its hash
T = TypeVar("T")


@dataclass(frozen=True)
class BundleContents:
    """The content of a bundle. `missing` are the ids of pages of the run whose text is no longer stored."""

    run: Run
    usage: Usage
    steps: Sequence[Step]
    facts: Sequence[Fact]
    pages: Mapping[str, Page]
    calls: Sequence[ModelCall]
    missing: Sequence[str]
    version: int = VERSION


def write_bundle(given: BundleContents, secrets: Iterable[str] = ()) -> bytes:
    """The bundle as a file. Raises BundleError when a page holds a secret, or it would be too large."""
    hidden = make_redactor(secrets)
    run = {
        "run": given.run.model_dump(mode="json", exclude=_ADDRESS),
        "usage": given.usage.model_dump(mode="json"),
        "missing_pages": sorted(given.missing),
    }
    steps = [step.model_dump(mode="json", exclude={"change": _ADDRESS}) for step in given.steps]
    pages = [
        {"id": name, **given.pages[name].model_dump(mode="json", exclude={"text", "raw"})}
        for name in sorted(given.pages)
    ]
    files = {
        "readme.txt": README.encode(),
        "run.json": _dump_json(hidden(run)),
        "steps.jsonl": _dump_json_lines(map(hidden, steps)),
        "facts.json": _dump_json(hidden([fact.model_dump(mode="json") for fact in given.facts])),
        "calls.jsonl": _dump_json_lines(hidden(call.model_dump(mode="json")) for call in given.calls),
        "pages.jsonl": _dump_json_lines(map(hidden, pages)),
    }
    for name, page in given.pages.items():
        if hidden(page.text) != page.text:
            reason = "holds one of your keys or passwords in its text, so no bundle is made of this run"
            raise BundleError(f"the page {page.url} {reason}")
        files[f"pages/{name}.txt"] = page.text.encode()
        if page.raw and hidden(page.raw.decode("latin-1")) == page.raw.decode("latin-1"):
            files[f"pages/{name}.body.gz"] = gzip.compress(page.raw, 6, mtime=0)
    question = hidden(given.run.question)
    return pack(files, {"format": FORMAT, "version": VERSION, "run": given.run.id, "question": question})


def read_bundle(data: bytes) -> BundleContents:
    """The content of a bundle, complete and unchanged. Raises BundleError with the problem in a sentence."""
    about, files = unpack(data)
    if about.get("format") != FORMAT:
        raise BundleError("it is no evidence bundle of Touchstone")
    version = about.get("version")
    if version not in (VERSION, FORMER_VERSION):
        raise BundleError(
            f"it has version {clip(str(version))}; this Touchstone reads version {VERSION}: update it"
        )
    head = load_json(_take_file(files, "run.json"), "run.json")
    if not isinstance(head, dict) or not isinstance(head.get("missing_pages"), list):
        raise BundleError("run.json is not as it should be")
    facts = load_json(_take_file(files, "facts.json"), "facts.json")
    contents = BundleContents(
        run=read_records(Run, head.get("run"), "run.json", version),
        usage=read_records(Usage, head.get("usage"), "run.json", version),
        steps=read_records(list[Step], _take_rows(files, "steps.jsonl", version), "steps.jsonl", version),
        facts=read_records(list[Fact], facts, "facts.json", version),
        calls=read_records(
            list[ModelCall], _take_rows(files, "calls.jsonl", version), "calls.jsonl", version
        ),
        pages=_take_pages(files, version),
        missing=[str(name) for name in head["missing_pages"]],
        version=version,
    )
    files.pop("readme.txt", None)
    if files:
        raise BundleError(f"it holds a file that no bundle has: {min(files)}")
    return contents


def _take_pages(files: dict[str, bytes], version: int) -> dict[str, Page]:
    """The pages, each with its text and body; their files are removed from `files`."""
    pages: dict[str, Page] = {}
    room = MAX_BODY * 4
    for row in _take_rows(files, "pages.jsonl", version):
        name = row.pop("id", None)
        if not isinstance(name, str) or name in pages:
            raise BundleError("pages.jsonl names a page twice, or not at all")
        try:
            text = _take_file(files, f"pages/{name}.txt").decode()
        except UnicodeDecodeError as trouble:
            raise BundleError(f"the text of the page {clip(name)} is not UTF-8") from trouble
        raw = _decompress(files.pop(f"pages/{name}.body.gz", b""), name, min(MAX_BODY, room))
        room -= len(raw)
        pages[name] = read_records(Page, row, "pages.jsonl", version).replace(text=text, raw=raw)
    return pages


def _decompress(packed: bytes, name: str, most: int) -> bytes:
    """A body as it came. Raises BundleError when it would have more than `most` bytes."""
    if not packed:
        return b""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as opened:
            body = opened.read(most + 1)
    except (OSError, EOFError, zlib.error) as trouble:
        raise BundleError(f"the body of the page {clip(name)} cannot be read") from trouble
    if len(body) > most:
        raise BundleError(f"the body of the page {clip(name)} is larger than any that is read")
    return body


def _take_file(files: dict[str, bytes], name: str) -> bytes:
    if name not in files:
        raise BundleError(f"the file {clip(name)} is missing")
    return files.pop(name)


def _take_rows(files: dict[str, bytes], name: str, version: int) -> list[dict[str, Any]]:
    """The JSON objects of a file of lines, which is removed from `files`."""
    *lines, rest = _take_file(files, name).split(b"\n")
    if rest:
        raise BundleError(f"{name} is not made of lines as it should be")
    return read_records(list[dict[str, Any]], [load_json(line, name) for line in lines], name, version)


def read_records(shape: type[T], value: Any, name: str, version: int) -> T:
    """Records of a bundle's file. Raises BundleError, but for unknown fields in one of the former version."""
    try:
        return TypeAdapter(shape).validate_python(
            value, extra="ignore" if version == FORMER_VERSION else None
        )
    except (ValidationError, RecursionError) as trouble:
        unknown = "holds what this Touchstone does not know: it was made by a newer version, or by hand"
        raise BundleError(f"{name} {unknown}") from trouble


def _dump_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _dump_json_lines(values: Iterable[Any]) -> bytes:
    return b"".join(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for value in values
    )
