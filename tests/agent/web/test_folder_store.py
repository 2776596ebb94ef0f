"""A folder world's index: built once, found again, never half built, built anew when anything differs."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from agent.web import folder_store
from agent.web.folder_store import FolderDocument, FolderStore, open_folder_store, split_windows

TOWN = {"id": "t", "url": "https://dairy.test/town", "title": "Town", "text": "A town by the river."}
MILL = {"id": "m", "url": "https://dairy.test/mill", "title": "Mill", "html": "<p>A mill grinds rye.</p>"}


def write(folder: Path, *docs: FolderDocument) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    return folder


class Reader:
    """Reads a document's text and counts how often."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, doc: FolderDocument) -> tuple[str, str]:
        self.count += 1
        return str(doc.get("title", "")), str(doc.get("text") or doc.get("html") or "")


def found(store: FolderStore, *terms: str) -> list[str]:
    return [url.rpartition("/")[2] for url, _, _ in store.search(terms, 10)]


def kept(folder: Path) -> list[str]:
    return sorted(file.suffix for file in folder.iterdir())


def test_the_second_start_reads_no_document(tmp_path: Path) -> None:
    world, data, read = write(tmp_path / "w", TOWN, MILL), tmp_path / "kept", Reader()
    first = open_folder_store(world, data, read)
    second = open_folder_store(world, data, read)
    assert read.count == 2 and kept(data) == [".db"] and not second.note
    for store in (first, second):
        assert found(store, "rye") == ["mill"] and found(store, "river", "mill") == ["mill", "town"]
        assert (
            store.find("https://dairy.test/town?utm_source=x") == TOWN
            and store.find("https://x.test/") is None
        )
        assert store.find_linked("m") == store.find_linked(MILL["url"]) == (MILL["url"], "Mill")
        assert store.find_linked("") is None and store.list_public("dairy.test")[0] == (TOWN["url"], "Town")
        assert store.has_host("dairy.test") and not store.has_host("x.test")


def test_a_damaged_file_is_built_anew(tmp_path: Path) -> None:
    world, data, read = write(tmp_path / "w", TOWN), tmp_path / "kept", Reader()
    open_folder_store(world, data, read)
    for damage in (b"", b"no database", b"\0" * 5000):
        next(data.iterdir()).write_bytes(damage)
        assert found(open_folder_store(world, data, read), "river") == ["town"]
    assert read.count == 4 and kept(data) == [".db"]


@pytest.mark.parametrize("blocked", ["a file is in its way", "nothing may be written"])
def test_without_a_place_it_is_kept_in_memory_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocked: str
) -> None:
    world, data = write(tmp_path / "w", TOWN), tmp_path / "kept"
    if blocked == "a file is in its way":
        data.write_text("")
    else:
        monkeypatch.setattr(Path, "mkdir", refuse)
    store = open_folder_store(world, data / "worlds", Reader())
    assert found(store, "river") == ["town"] and "memory only" in store.note and str(data) in store.note


def refuse(*_args: object, **_more: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_build_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    world, data = write(tmp_path / "w", TOWN, MILL), tmp_path / "kept"

    def broken(doc: FolderDocument) -> tuple[str, str]:
        if doc["id"] == "m":
            raise KeyboardInterrupt
        return "", "half"

    with pytest.raises(KeyboardInterrupt):
        open_folder_store(world, data, broken)
    assert list(data.iterdir()) == []
    assert found(open_folder_store(world, data, Reader()), "rye") == ["mill"]


def _open_many(world: Path, data: Path) -> None:
    for _ in range(5):
        assert found(open_folder_store(world, data, Reader()), "rye") == ["mill"]


def test_processes_may_build_it_at_once(tmp_path: Path) -> None:
    world, data = write(tmp_path / "w", TOWN, MILL), tmp_path / "kept"
    at_once = multiprocessing.get_context("spawn")
    processes = [at_once.Process(target=_open_many, args=(world, data)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0] and kept(data) == [".db"]


def test_files_that_nobody_uses_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "kept"
    data.mkdir()
    long_ago = time.time() - 86_400 * (folder_store.MAX_UNUSED_DAYS + 1)
    for name in ("old.db", "killed.tmp"):
        (data / name).write_text("")
        os.utime(data / name, (long_ago, long_ago))
    (data / "at_work.tmp").write_text("")
    open_folder_store(write(tmp_path / "w", TOWN), data, Reader())
    assert kept(data) == [".db", ".tmp"] and (data / "at_work.tmp").exists()
    monkeypatch.setattr(folder_store, "MAX_KEPT", 2)
    for n in range(4):
        open_folder_store(write(tmp_path / f"w{n}", {**TOWN, "text": f"river {n}"}), data, Reader())
    assert kept(data) == [".db", ".db", ".tmp"]


def test_a_text_is_cut_at_lines_and_words_without_loss() -> None:
    assert list(split_windows("")) == [""]
    text = "\n".join([*(f"Line {n} of the text." for n in range(300)), "word " * 2000, "x" * 9000])
    pieces = list(split_windows(text))
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert max(map(len, pieces)) <= 2 * folder_store.WINDOW_CHARS + 1 and "Line 0 of the text." in pieces[0]
