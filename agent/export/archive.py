"""Files as one reproducible zip: the same files give the same bytes, on any machine.

Nothing is compressed (so no two libraries differ, and nothing can expand when it is read), times and modes
are fixed, names are sorted, and `manifest.json` holds the SHA-256 of every other file. Reading refuses
whatever is not, byte for byte, the zip that these files make. Nothing is written to disk."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

from agent.errors import BundleError
from agent.text.plurals import clip

MANIFEST = "manifest.json"
MAX_BYTES, MAX_FILES = 200_000_000, 20_000
MAX_DEPTH, MAX_ITEMS, MAX_NUMBER = 60, 100_000, 2.0**53
"""Of JSON. Items of one list: twice the entries that a sitemap may have, the longest list of a run."""
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, struct.error, EOFError, OSError, ValueError, TypeError),
    *(RuntimeError, ArithmeticError, LookupError),
)
"""What the zip reader raises on data that is no valid zip."""


def pack(files: Mapping[str, bytes], about: Mapping[str, Any]) -> bytes:
    """The zip of the files, its manifest with `about` and their hashes. Raises BundleError (too large)."""
    listed = [{"name": n, "bytes": len(files[n]), "sha256": sha256(files[n])} for n in sorted(files)]
    manifest = json.dumps({**about, "files": listed}, ensure_ascii=False, indent=1).encode() + b"\n"
    if sum(map(len, files.values())) + 300 * len(files) > MAX_BYTES or len(files) > MAX_FILES:
        limit = f"{MAX_BYTES // 1_000_000} MB or {MAX_FILES} files"
        raise BundleError(f"the bundle would have more than {limit} and could not be opened again")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
        for name in (MANIFEST, *sorted(set(files) - {MANIFEST})):
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, manifest if name == MANIFEST else files[name])
    return out.getvalue()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the files. Raises BundleError, which names the problem, for a single changed byte."""
    if len(data) > MAX_BYTES or data.count(b"PK\x01\x02") > MAX_FILES:  # so each of its entries begins
        raise BundleError(f"it has more than {MAX_BYTES // 1_000_000} MB or {MAX_FILES} files; no bundle has")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            # before anything is read: what is stored as it is cannot expand
            if any(one.compress_type != zipfile.ZIP_STORED or one.file_size > len(data) for one in entries):
                raise BundleError("a file in it is compressed or larger than the whole; in a bundle none is")
            files = {entry.filename: archive.read(entry) for entry in entries}
    except _ZIP_ERRORS as trouble:
        raise BundleError(
            f"it is no bundle, was cut off, or was changed since it was made ({trouble})"
        ) from trouble
    if MANIFEST not in files:
        raise BundleError(f"it has no {MANIFEST}: it is no evidence bundle")
    about = load_json(files.pop(MANIFEST), MANIFEST)
    try:
        listed = {str(entry["name"]): entry["sha256"] for entry in about.pop("files")}
    except (AttributeError, LookupError, TypeError) as trouble:
        raise BundleError(f"{MANIFEST} does not list its files as it should") from trouble
    if strange := sorted(set(files) ^ set(listed)):
        what = "is not in its manifest" if strange[0] in files else "is missing"
        raise BundleError(f"the file {clip(strange[0])} {what}")
    for name, body in files.items():
        if sha256(body) != listed[name]:
            raise BundleError(
                f"the file {name} was changed since the bundle was made (its SHA-256 is another)"
            )
    if pack(files, about) != data:
        raise BundleError("the bytes around its files were changed since the bundle was made")
    return about, files


def sha256(data: bytes) -> str:
    """SHA-256 of the bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def load_json(text: str | bytes, what: str) -> Any:
    """JSON without NaN, huge numbers or great depth. Raises BundleError that names `what`."""
    try:
        value = json.loads(text)
        _check_json_value(value)
    except (ValueError, RecursionError) as trouble:
        raise BundleError(f"{what} cannot be read as JSON") from trouble
    return value


def _check_json_value(value: Any, depth: int = 0) -> None:
    """Raises ValueError for half a surrogate pair, a number beyond MAX_NUMBER, too much depth or length."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, float | int) and not abs(value) < MAX_NUMBER:
        raise ValueError("a number is too large")
    elif isinstance(value, dict | list):
        if depth > MAX_DEPTH or len(value) > MAX_ITEMS:
            raise ValueError("too deep or too long")
        for inner in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_json_value(inner, depth + 1)
