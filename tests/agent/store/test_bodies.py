"""Raw bodies of pages at an address of their own: written before their row, deleted after the last one."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import delete, select

from agent.errors import NotFound, StoreError, UsageError
from agent.settings.config import read_config
from agent.store import tables
from agent.store.bodies import REFERENCE, Bodies
from agent.store.database import Store
from agent.types import Page, Settings, Status
from agent.workbench import Workbench
from tests.agent.store.test_pages import seen

A, B = "https://a.example/x", "https://b.example/x"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "disk"


@pytest.fixture
def kept(store: Store, place: Path) -> Store:
    """The store of both databases, with its bodies in a folder."""
    return open_again(store, place.as_uri())


def open_again(store: Store, address: str, owner: str = "server") -> Store:
    return Store(store.url.render_as_string(hide_password=False), Bodies(address, owner))


def list_files(place: Path) -> list[str]:
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("[!.]*") if path.is_file())


def read_raw(store: Store, page_id: str) -> bytes:
    with store.engine.connect() as connection:
        return connection.scalar(select(tables.pages.c.raw).where(tables.pages.c.id == page_id)) or b""


def remove(store: Store, page_id: str) -> None:
    """As `LibraryIndex.purge` removes a page for good."""
    bodies = store.writer.bodies
    with store.writer.begin() as connection:
        bodies.note_unused(connection, [page_id])
        connection.execute(delete(tables.pages).where(tables.pages.c.id == page_id))
    bodies.sweep(store.writer)


def test_a_body_lies_there_once_and_goes_with_its_last_row(store: Store, kept: Store, place: Path):
    inside = store.pages.put(seen("In the database.", raw=b"<p>In the database."))
    pages = [seen(url=url, raw=bytes(range(256)) * 9) for url in (A, B)]
    first, second = kept.pages.put_fetched([(page.url, page) for page in pages])
    assert [kept.pages.get(page_id, raw=True) for page_id in (first, second)] == pages
    (file,) = list_files(place)
    digest = Path(file).name
    assert file == f"server/{digest[:2]}/{digest}"
    assert read_raw(kept, first) == read_raw(kept, second) == REFERENCE + digest.encode()
    assert kept.pages.body_sizes(first) == (2304, 69)
    assert kept.pages.get(inside, raw=True).raw == b"<p>In the database.", "what was stored before stays"
    remove(kept, first)
    assert list_files(place) == [file] and kept.pages.get(second, raw=True).raw == pages[1].raw
    remove(kept, second)
    assert list_files(place) == [] and not kept.drafts.all()


def test_a_newer_reading_of_a_page_replaces_its_body(kept: Store, place: Path):
    page_id = kept.pages.put(seen(raw=b"old", extraction=0))
    assert kept.pages.put(seen(raw=b"new", extraction=1)) == page_id
    assert kept.pages.get(page_id, raw=True).raw == b"new"
    assert len(list_files(place)) == 2
    kept.library_index.purge("", 1)
    assert len(list_files(place)) == 1 and kept.pages.get(page_id, raw=True).raw == b"new"


def test_bodies_elsewhere_are_read_each_once_for_an_export(kept: Store, place: Path, caplog):
    kept.pages.put_fetched([(url, seen(url=url, raw=b"shared by two")) for url in (A, B)])
    lost = kept.pages.put(seen("Lost.", raw=b"lost"))
    kept.pages.put(seen("None."))
    named = read_raw(kept, lost).removeprefix(REFERENCE).decode()
    next(place.rglob(named)).unlink()
    bodies = dict(kept.pages.read_bodies_elsewhere())
    assert bodies == {hashlib.sha256(b"shared by two").hexdigest(): b"shared by two"}
    assert named in caplog.text


def test_owners_do_not_share(store: Store, kept: Store, place: Path):
    other = open_again(store, place.as_uri(), "ada")
    page_id = kept.pages.put(seen(raw=b"of the server"))
    with pytest.raises(NotFound, match="is gone"):
        other.pages.get(page_id, raw=True)


def test_any_address_of_fsspec_will_do(store: Store):
    kept = [open_again(store, f"memory://{store.url.database}") for _ in range(2)][1]
    page_id = kept.pages.put(seen(raw=b"kept in memory"))
    assert kept.pages.get(page_id, raw=True).raw == b"kept in memory"
    remove(kept, page_id)
    assert kept.pages.put(seen(raw=b"kept in memory")) == page_id
    assert kept.pages.get(page_id, raw=True).raw == b"kept in memory"


@pytest.mark.parametrize("address", ["nonsense://x", "gs3a://bucket"])
def test_an_address_that_nothing_opens_is_refused(address: str):
    with pytest.raises(UsageError, match=r"BODIES_URL cannot be opened .*give an address like"):
        Bodies(address)


def test_while_the_place_is_away_nothing_is_stored_and_nothing_lost(kept: Store, place: Path, tmp_path: Path):
    before = kept.pages.put(seen("Before.", raw=b"before"))
    place.rename(tmp_path / "unmounted")
    with pytest.raises(StoreError, match=r"BODIES_URL names could not be used .*see that it answers"):
        kept.pages.put(seen("While.", raw=b"while"))
    with pytest.raises(StoreError, match="BODIES_URL"):
        kept.pages.get(before, raw=True)
    with pytest.raises(StoreError, match="BODIES_URL"):
        kept.check_writable()
    assert kept.pages.get(before).text == "Before."
    with kept.engine.connect() as connection:
        assert connection.scalars(select(tables.pages.c.text)).all() == ["Before."]
    remove(kept, before)  # cannot be deleted now, and stays due
    (tmp_path / "unmounted").rename(place)
    kept.check_writable()
    assert len(list_files(place)) == 1
    kept.library_index.purge("", 1)
    assert list_files(place) == []


def test_a_body_that_is_gone_or_damaged_is_told_and_the_text_stays(kept: Store, place: Path):
    page_id = kept.pages.put(seen(raw=b"whole"))
    (file,) = list_files(place)
    for spoil in (lambda: (place / file).write_bytes(b"half"), (place / file).unlink):
        spoil()
        with pytest.raises(NotFound, match="is gone from the place that BODIES_URL names, or is damaged"):
            kept.pages.get(page_id, raw=True)
        assert kept.pages.get_many([page_id], raw=True) == ({}, [page_id])
        assert kept.pages.get(page_id).text == "A heron."


def test_without_the_setting_a_body_that_lies_elsewhere_is_named(store: Store, kept: Store):
    page_id = kept.pages.put(seen(raw=b"elsewhere"))
    with pytest.raises(StoreError, match="set BODIES_URL to their address again"):
        store.pages.get(page_id, raw=True)


def test_a_full_disk_leaves_no_half_body(kept: Store, place: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", refuse)
        with pytest.raises(StoreError, match="No space left on device"):
            kept.pages.put(seen(raw=b"whole"))
    page_id = kept.pages.put(seen(raw=b"whole"))
    assert kept.pages.get(page_id, raw=True).raw == b"whole"
    assert len(list_files(place)) == 1


@pytest.mark.slow
def test_no_row_is_left_without_its_body_by_who_deletes_meanwhile(kept: Store):
    pages = [seen(url=f"https://{n}.example/", raw=b"the same body") for n in range(4)]

    def store_and_remove(page: Page) -> None:
        for _ in range(40):
            page_id = kept.pages.put(page)
            assert kept.pages.get(page_id, raw=True).raw == b"the same body"
            remove(kept, page_id)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(store_and_remove, pages))
    assert not kept.drafts.all()


@pytest.mark.slow
def test_a_run_goes_on_when_the_place_of_its_bodies_is_back(tmp_path: Path, place: Path):
    bench = Workbench(read_config({"TOUCHSTONE_DATA": str(tmp_path / "data"), "BODIES_URL": place.as_uri()}))
    run = bench.start("Who first climbed Korpnäbben?", Settings(world="demo", model="keyless"))
    place.rename(tmp_path / "unmounted")
    with pytest.raises(StoreError, match="BODIES_URL"):
        bench.worker.drive(run)
    assert bench.snapshot(run).run.status == Status.RUNNING
    (tmp_path / "unmounted").rename(place)
    with bench.store.writer.begin() as connection:
        connection.execute(tables.runs.update().values(lease_until=0))  # as after half a minute
    assert bench.worker.drive(run) == Status.REVIEW
    assert list_files(place)
    bench.shutdown()
