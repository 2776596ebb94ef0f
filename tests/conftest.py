"""What every test gets: an environment without keys, a folder and a database of its own, and no way out to
the network."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import itertools
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import settings
from sqlalchemy import Engine

from agent.settings import config
from agent.store import database
from agent.store.database import Store
from agent.store.migrations import migrate
from agent.store.table_access import Writer
from tests import postgres

CLOSED = set(config.SETTINGS)
REAL = {name: getattr(database, name) for name in ("open_engine", "migrate", "PRAGMAS")}
_folders = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    """`make check` tries a fourth of the examples of each property that `make test` tries. No test, and no
    fixture of a whole module, finds the keyring of a person or of another test."""
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    settings.register_profile("quick", max_examples=25, deadline=None)
    settings.register_profile("full", deadline=None)  # a busy machine is no failure
    settings.load_profile("full")
    if "not slow" in str(config.getoption("markexpr")):
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make check` does not even import a file whose tests are all slow."""
    if "not slow" not in str(config.getoption("markexpr")) or collection_path.suffix != ".py":
        return None
    source = collection_path.read_text(encoding="utf-8")
    return any(line.startswith("pytestmark") and "slow" in line for line in source.splitlines()) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is tried on both databases is slow on PostgreSQL. Files with slow tests come first: at the end short
    ones keep all processes at work."""
    for item in items:
        if "postgresql" in getattr(item, "callspec", SimpleNamespace(params={})).params.values():
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Nothing is left to be found among the garbage of all tests together: it need not be looked through five
    times."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What was imported lives to the end: the collector of garbage need not walk through it again and
    again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 50, 100)  # each test drops what it made by itself


class Fresh(NamedTuple):
    """A database in the newest shape with nothing in it, and the engine that made it."""

    path: Path
    engine: Engine


@pytest.fixture(scope="session")
def _fresh(tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    path = tmp_path_factory.mktemp("database") / "new.db"
    store = Store(f"sqlite:///{path}")
    store.close()
    return Fresh(path, store.engine)


@pytest.fixture(scope="session", autouse=True)
def _quick_databases(_fresh: Fresh) -> Iterator[None]:
    """A new file starts as a copy of a fresh database, SQL is compiled once for all, and nobody waits for the
    disk, but for the tests that are marked `real_disk`."""

    def sharing(address: str) -> Engine:
        engine = REAL["open_engine"](address)
        if engine.dialect.name == "sqlite":  # what is compiled is kept by dialect
            engine.dialect, engine._compiled_cache = _fresh.engine.dialect, _fresh.engine._compiled_cache
        return engine

    def copied(writer: Writer) -> list[str]:
        reader = writer.engine
        path = Path(reader.url.database or "")
        is_file = reader.dialect.name == "sqlite" and path.name and "vfs" not in reader.url.query
        if is_file and not path.exists():
            shutil.copyfile(_fresh.path, part := path.with_name(f"{path.name}.{next(_folders)}"))
            with contextlib.suppress(FileExistsError):  # another thread was faster
                path.hardlink_to(part)
            part.unlink()
        return migrate(writer)

    quick = {"open_engine": sharing, "migrate": copied, "PRAGMAS": (*database.PRAGMAS, "synchronous=OFF")}
    with pytest.MonkeyPatch.context() as patch:
        for name, made in quick.items():
            patch.setattr(database, name, made)
        yield


@pytest.fixture(autouse=True)
def _real_disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, real in REAL.items() if request.node.get_closest_marker("real_disk") else ():
        monkeypatch.setattr(database, name, real)


@pytest.fixture(autouse=True)
def _own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CLOSED & os.environ.keys():
        monkeypatch.delenv(name)
    monkeypatch.setitem(config.Config.model_config, "env_file", None)
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path_factory.getbasetemp() / f"data-{next(_folders)}"))
    monkeypatch.setenv("OLLAMA_URL", "")
    monkeypatch.setenv("EMBEDDING_MODEL", "off")
    monkeypatch.setenv("CONFIG_FILE", "")


def create_postgres(*, is_empty: bool = False) -> Iterator[str]:
    """The address of a PostgreSQL database of a test's own, with the tables of a store. Without a server the
    test is skipped, and with CI it fails."""
    try:
        address = postgres.create_database(*([] if is_empty else [postgres.find_template()]))
    except postgres.NoServer as trouble:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(trouble))
    yield address
    postgres.drop_database(address)


def open_postgres() -> Iterator[Store]:
    """A store in such a database."""
    for address in create_postgres():
        store = Store(address)
        yield store
        store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def on_both_databases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Files, and a PostgreSQL database of the test's own that DATABASE_URL names."""
    for address in create_postgres() if request.param == "postgresql" else [""]:
        monkeypatch.setenv("DATABASE_URL", address)
        yield request.param


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what was not tested on PostgreSQL."""
    left = [one for one in terminalreporter.stats.get("skipped", ()) if "no PostgreSQL" in str(one.longrepr)]
    if left:
        terminalreporter.section("NOT TESTED ON POSTGRESQL", red=True, bold=True)
        terminalreporter.line(f"{len(left)} tests were skipped: {left[0].longrepr[-1]}")


def _no_way_out(event: str, arguments: tuple) -> None:
    """An audit hook: a connect to anything but this machine fails the test that made it."""
    if event != "socket.connect" or os.environ.get("TOUCHSTONE_TEST_ANY_CONNECT"):
        return
    address = arguments[1]
    if isinstance(address, tuple) and not _local(str(address[0])):
        raise AssertionError(f"a test tried to connect to {address}")


def _local(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


sys.addaudithook(_no_way_out)
