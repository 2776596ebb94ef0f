"""Erasing a private note: also what another process holds in its memory, and copies of the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event

from agent.errors import ConcurrentChange, StoreError, UsageError
from agent.store.database import PURGE_DUE, Store
from agent.store.ledger import ERASE_STEP
from agent.workbench import Workbench
from tests.web.private_run import NOTES, find_canaries, private_runs

pytestmark = pytest.mark.slow


def test_another_process_erases_and_the_server_writes_nothing_of_it_back(tmp_path: Path) -> None:
    with private_runs(tmp_path, keyless=True) as made:
        data = made.bench.config.data_folder
        held = [made.bench.snapshot(run_id) for run_id in made.runs]
        assert find_canaries("".join(view.state.model_dump_json() for view in held).encode())
        (data / "touchstone.db.before-m099").write_text(NOTES["steer"])
        command = Workbench(made.bench.config)
        for run_id in made.runs:
            for note in command.snapshot(run_id).state.notes:
                if note.private and note.text in NOTES.values():
                    command.act(run_id, "erase_note", step=note.step)
        command.shutdown()
        for run_id in made.runs:
            view = made.bench.snapshot(run_id)
            assert find_canaries(view.state.model_dump_json().encode()) == [], run_id
            assert (view.steps[-1].name, view.steps[-1].change) == (ERASE_STEP, {})
        asked = made.bench.follow_up(made.run, "How wide is it?")
        made.bench.drive(asked)
        made.bench.store.purge()
        places = {path.name: find_canaries(path.read_bytes()) for path in data.glob("touchstone.db*")}
        places[asked] = find_canaries(made.bench.snapshot(asked).state.model_dump_json().encode())
        assert not any(places.values()), places


def test_a_run_that_goes_on_meanwhile_keeps_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with private_runs(tmp_path, keyless=True) as made:
        note = next(n for n in made.bench.snapshot(made.run).state.notes if n.kind == "send_back")
        rewrite, ledger = made.bench.store.calls.rewrite, made.bench.store.ledger
        before = ledger.steps(made.run)

        def move(changed: object) -> None:
            rewrite(changed)  # type: ignore[arg-type]
            ledger.update_run(made.run, status="running")

        monkeypatch.setattr(made.bench.store.calls, "rewrite", move)
        with pytest.raises(ConcurrentChange, match="erase the note again"):
            made.bench.act(made.run, "erase_note", step=note.step)
        assert ledger.steps(made.run) == before


def test_its_owner_finds_what_they_wrote(tmp_path: Path) -> None:
    with private_runs(tmp_path, keyless=True) as made:
        ledger = made.bench.store.ledger
        assert [run.id for run in ledger.list(text="the ARCHITECT was, leave")] == [made.fork, made.run]
        assert [name for name in ("private", "kind", "true", "quoted") if ledger.list(text=name)] == []
        made.bench.act(
            made.run, "send_back", made.bench.snapshot(made.run).head, note='He "sold" it', private=True
        )
        assert [run.id for run in ledger.list(text='"sold" it')] == [made.run]


@contextmanager
def no_room(store: Store) -> Iterator[None]:
    """The disk is full whenever the file of the database is written anew."""

    def fail(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement == "VACUUM":
            raise StoreError("the database could not be used (database or disk is full)")

    event.listen(store.engine, "before_cursor_execute", fail)
    yield
    event.remove(store.engine, "before_cursor_execute", fail)


@pytest.mark.parametrize("then", ["the next try", "the next start"])
def test_what_a_full_disk_kept_is_erased_by(then: str, tmp_path: Path) -> None:
    with private_runs(tmp_path, keyless=True) as made:
        bench, data = made.bench, made.bench.config.data_folder
        notes = {run: bench.snapshot(run).state.notes for run in made.runs}
        own = [(run, n.step) for run in made.runs for n in notes[run] if n.text in NOTES.values()]
        with no_room(bench.store):
            for run_id, step in own:
                with pytest.raises(
                    StoreError, match=r"is erased, but the file may still hold .* disk is full"
                ):
                    bench.act(run_id, "erase_note", step=step)
        assert any(find_canaries(path.read_bytes()) for path in data.glob("touchstone.db*"))
        if then == "the next start":
            Workbench(bench.config).shutdown()
        else:
            bench.act(own[0][0], "erase_note", step=own[0][1])
        places = {path.name: find_canaries(path.read_bytes()) for path in data.glob("touchstone.db*")}
        assert not any(places.values()), places
        assert bench.store.draft(PURGE_DUE) == ""
        with pytest.raises(UsageError, match="holds no private note"):
            bench.act(made.run, "erase_note", step=0)


def test_a_reader_that_keeps_the_log_is_told_and_the_purge_stays_due(tmp_path: Path) -> None:
    with private_runs(tmp_path, keyless=True) as made:
        store, note = made.bench.store, made.bench.snapshot(made.run).state.notes[0]
        event.listen(store.engine, "checkout", lambda raw, *_: raw.execute("PRAGMA busy_timeout=50"))
        with closing(sqlite3.connect(str(store.url.database), isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM drafts").fetchone()
            with pytest.raises(StoreError, match="the database is being read"):
                made.bench.act(made.run, "erase_note", step=note.step)
        assert store.draft(PURGE_DUE)
        made.bench.act(made.run, "erase_note", step=note.step)
        assert not store.draft(PURGE_DUE)
