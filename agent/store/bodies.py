"""Where the raw bodies of pages are kept, compressed: in the database, or at an address that fsspec opens (a
folder, S3), once each under their owner and hash.

There a body is written before the row that refers to it, and deleted after the last such row; whoever does
either holds the lock of its hash. What is to be deleted is noted in the transaction that ends its row."""

from __future__ import annotations

import hashlib
import logging
import os
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, select

from agent.errors import NotFound, StoreError, UsageError
from agent.store import tables
from agent.store.dialect import lock_once, upsert

log = logging.getLogger(__name__)
c = tables.pages.c
d = tables.drafts.c
REFERENCE = b"body:"
"""What `pages.raw` begins with where the body lies elsewhere; its SHA-256 follows. A draft with such a text
behind a point as its key says that the body is to be deleted."""


class Bodies:
    """The bodies of the pages of `owner` below `address`; without an address they are in the database.

    Raises UsageError for an address that nothing here opens, StoreError for one that does not answer."""

    def __init__(self, address: str = "", owner: str = "server") -> None:
        self._files: Any = None
        if not address:
            return
        try:
            import fsspec  # not needed on one machine

            self._files, root = fsspec.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise UsageError(
                f"BODIES_URL cannot be opened ({error}): give an address like file:///srv/bodies or "
                "s3://bucket/folder, and install requirements-cluster.txt and, for S3, the package s3fs"
            ) from error
        self._root = f"{root.rstrip('/')}/{owner}"
        self._mark = f"{self._root}/.touchstone"  # where it is not, no disk is mounted
        with _explain_faults():
            self._files.makedirs(self._root, exist_ok=True)
            if not self._files.exists(self._mark):
                self._files.touch(self._mark)

    def check(self) -> None:
        """Raise StoreError when the address does not answer, or what was there is gone."""
        if self._files is not None:
            with _explain_faults():
                self._files.invalidate_cache()
                self._files.info(self._mark)

    def list_sizes(self) -> dict[str, int]:
        """The bytes of each body there, as it is stored, by its hash. Raises StoreError."""
        if self._files is None:
            return {}
        with _explain_faults():
            found = self._files.find(self._root, detail=True)
        return {path.rpartition("/")[2]: int(about["size"]) for path, about in found.items()}

    def pack(self, connection: Connection, raw: bytes) -> bytes | None:
        """What the row of a page holds of its body, which is stored now; None for none. Raises StoreError."""
        packed = zlib.compress(raw) if raw else None
        if packed is None or self._files is None:
            return packed
        digest = hashlib.sha256(raw).hexdigest()
        held = REFERENCE + digest.encode()
        lock_once(connection, held.decode())
        with _explain_faults():
            self._files.invalidate_cache()
            if not self._files.exists(path := self._locate(digest)):
                self._write(path, packed)
        return held

    def unpack(self, held: bytes | None) -> bytes:
        """The body that a row holds or refers to. Raises NotFound for one that is gone or damaged, StoreError
        when its place does not answer."""
        if not held or not held.startswith(REFERENCE):
            return zlib.decompress(held) if held else b""
        if self._files is None:
            raise StoreError(
                "page bodies lie outside of this database: set BODIES_URL to their address again"
            )
        digest = held.removeprefix(REFERENCE).decode()
        try:
            with _explain_faults():
                body = zlib.decompress(self._files.cat_file(self._locate(digest)))
        except StoreError as error:
            if not isinstance(error.__cause__, FileNotFoundError | zlib.error):
                raise
            self.check()
            body = b""
        if hashlib.sha256(body).hexdigest() != digest:
            raise NotFound(f"the body {digest} is gone from the place that BODIES_URL names, or is damaged")
        return body

    def note_unused(self, connection: Connection, page_ids: Collection[str]) -> None:
        """Note the bodies of these pages, whose rows end in this transaction: `sweep` deletes them."""
        is_elsewhere = func.substr(c.raw, 1, len(REFERENCE)) == REFERENCE
        for held in connection.scalars(select(c.raw).where(c.id.in_(page_ids), is_elsewhere)).all():
            upsert(connection, tables.drafts, {"key": f".{held.decode()}", "text": "", "at": ""})

    def sweep(self, writer: Any) -> None:
        """Delete the bodies that no row refers to any more; those that cannot be deleted stay due."""
        if self._files is None:
            return
        with writer.engine.connect() as connection:
            is_due = d.key.startswith(f".{REFERENCE.decode()}", autoescape=True)
            due = connection.scalars(select(d.key).where(is_due)).all()
        for key in due:
            held = key.removeprefix(".").encode()
            try:
                self.check()
                with writer.begin() as connection, _explain_faults():
                    lock_once(connection, held.decode())
                    connection.execute(delete(tables.drafts).where(d.key == key))  # waits for who notes it
                    is_used = connection.scalar(select(c.id).where(c.raw == held).limit(1))
                    path = self._locate(held.removeprefix(REFERENCE).decode())
                    self._files.invalidate_cache()
                    if not is_used and self._files.exists(path):
                        self._files.rm_file(path)
            except StoreError as error:
                log.warning("a page body could not be deleted, which is tried again: %s", error)
                return

    def _locate(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{digest}"

    def _write(self, path: str, packed: bytes) -> None:
        """Write a body that is there whole or not at all."""
        if not getattr(self._files, "local_file", False):
            self._files.pipe_file(path, packed)
            return
        target = Path(path)
        target.parent.mkdir(exist_ok=True)  # not what is above: the disk may not be there
        half = target.with_name(f"{target.name}.half")
        with half.open("wb") as file:
            file.write(packed)
            file.flush()
            os.fsync(file.fileno())
        half.replace(target)


@contextmanager
def _explain_faults() -> Iterator[None]:
    """Raise StoreError for whatever a driver of fsspec raises: they have no error in common."""
    try:
        yield
    except StoreError:
        raise
    except Exception as fault:
        why = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
        raise StoreError(
            f"the place of page bodies that BODIES_URL names could not be used ({why}); see that it answers, "
            "has room and lets this user write. What is stored stays, and runs go on when it answers"
        ) from fault
