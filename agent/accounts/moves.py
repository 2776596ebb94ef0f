"""Moves all stores of a server between a data folder and a PostgreSQL database, and backs up those of a
database as such files. Until all copies equal their stores, each has a mark, and nothing else opens it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from sqlalchemy import MetaData, delete, make_url, select, text

from agent.accounts import tables as account_tables
from agent.errors import StoreError, UsageError
from agent.settings.config import Config
from agent.store import backup, tables
from agent.store.database import open_engine
from agent.store.dialect import upsert
from agent.store.ledger import utc_timestamp
from agent.store.migrations import MIGRATIONS, MOVE_MARK, migrate
from agent.store.schemas import choose_schema, list_stores
from agent.store.table_access import Writer
from agent.store.table_copy import copy_store, open_snapshot

applied = tables.applied_migrations


class StorePlace:
    """Where the stores of a server lie: a data folder, or the address of a PostgreSQL database. A store is
    named by the path that its file has in a data folder. Raises UsageError for another address."""

    def __init__(self, address: str) -> None:
        self.folder = None if "://" in address else Path(address).resolve()
        self.address = address
        self.name = str(self.folder or make_url(address).render_as_string(hide_password=True))
        if not self.folder and make_url(address).get_backend_name() != "postgresql":
            raise UsageError(f"{self.name} is neither a data folder nor an address of PostgreSQL: name one")

    def list_paths(self) -> list[str]:
        """The stores there are, by their paths."""
        if not self.folder:
            return [path for path in list_stores(open_engine(self.address)) if backup.is_store(Path(path))]
        paths = (file.relative_to(self.folder) for file in self.folder.rglob("*.db"))
        return sorted(path.as_posix() for path in paths if backup.is_store(path))

    @contextmanager
    def open(self, path: str, *, by_move: bool = True) -> Iterator[tuple[Writer, MetaData]]:
        """A store, made or migrated to the newest version, and its tables. Raises StoreError, StoreTooNew."""
        address = f"{self.address}{'&' if '?' in self.address else '?'}store={path}"
        if self.folder:
            with suppress(OSError):  # the database says so
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            address = f"sqlite:///{self.folder / path}"
        has_people = path == "accounts.db"
        writer = Writer(open_engine(address))
        try:
            migrate(writer, account_tables.MIGRATIONS if has_people else MIGRATIONS, by_move=by_move)
            yield writer, account_tables.metadata if has_people else tables.metadata
        finally:
            writer.engine.dispose()

    def check_unused(self) -> None:
        """Raises UsageError when another process has one of the stores open."""
        if self.folder:
            for path in self.list_paths():
                backup.check_unused(self.folder / path)
            return
        others = text(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND usename = current_user AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        with (engine := open_engine(self.address)).connect() as connection:
            number = connection.scalar(others)
        engine.dispose()
        if number:
            told = f"{number} other connections use {self.name}: stop servers, workers and poolers first"
            raise UsageError(f"{told}. Nothing was changed")

    def check_free(self, source: StorePlace) -> str:
        """The mark of a move from there. Raises UsageError for stores in use, or others than it brought."""
        mark, begun, paths = f"{MOVE_MARK}{source.name}", None, self.list_paths()
        self.check_unused()
        for path in {"touchstone.db"} & {*paths}:
            with self.open(path) as (writer, _), writer.engine.connect() as connection:
                begun = connection.scalar(select(applied.c.name).where(applied.c.name.startswith(MOVE_MARK)))
        if paths and begun != mark:
            why = f"of a {begun} that is not finished" if begun else f"already ({', '.join(paths[:2])})"
            told = f"{self.name} holds stores {why}: name an empty folder, or a database that `createdb` made"
            raise UsageError(f"{told}. Nothing was changed")
        return mark


def move_stores(source: StorePlace, target: StorePlace, tell: Callable[[str], None]) -> list[str]:
    """Copy every store, and compare them; `tell` hears of each. A killed move goes on. Returns the paths.
    Raises UsageError (no stores, stores in use, others there) and StoreError, also for copies that differ."""
    if not (held := source.list_paths()):
        raise UsageError(f"{source.name} holds no store of Touchstone")
    source.check_unused()
    mark, differences = target.check_free(source), list[str]()
    paths = [*dict.fromkeys(["touchstone.db", *held])]  # its mark comes first and goes last
    for path in paths:
        with target.open(path) as (writer, _), writer.begin() as connection:
            upsert(connection, applied, {"name": mark, "at": utc_timestamp()})
    for path, writes in [*((path, True) for path in paths), *((path, False) for path in paths)]:
        opened = source.open(path, by_move=False)
        with (
            opened as (origin, metadata),
            target.open(path) as (writer, _),
            open_snapshot(origin.engine) as one,
        ):
            rows, cleaned, found = copy_store(one, writer, metadata, writes=writes)
        differences += [f"{path}: {one}" for one in found if not writes]
        if writes:
            left = f", NUL left out in {cleaned:,} of them: PostgreSQL does not keep it"
            tell(f"{path}: {rows:,} rows copied{left if cleaned else ''}")
    if differences:
        told = f"{target.name} differs, and nothing opens it; the same command copies it anew:"
        raise StoreError("\n".join([told, *differences]))
    for path in reversed(paths):
        with target.open(path) as (writer, _), writer.begin() as connection:
            connection.execute(delete(applied).where(applied.c.name == mark))
    return paths


def back_up(config: Config, target: Path, skipped: Path | None = None) -> backup.Manifest:
    """Write a backup of the data folder, and of the stores in DATABASE_URL as they are at one moment, while
    others write to them. Raises UsageError, StoreError."""
    write = partial(backup.write_backup, config.data_folder, target, skipped, bodies=config.BODIES_URL)
    if not config.DATABASE_URL:
        return write()
    database, engine = StorePlace(config.DATABASE_URL), open_engine(config.DATABASE_URL)
    for path in (paths := database.list_paths()):
        with database.open(path, by_move=False):
            pass  # it is migrated now
    with backup.make_room(target.parent) as room, open_snapshot(engine) as snapshot:
        for path in paths:
            chosen = choose_schema(engine, path).get_execution_options()
            snapshot.execution_options(schema_translate_map=chosen.get("schema_translate_map"))
            with StorePlace(str(room)).open(path) as (writer, metadata):
                copy_store(snapshot, writer, metadata)
        return write(stores=room)
