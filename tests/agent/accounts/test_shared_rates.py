"""Requests a minute over several processes at one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from agent.accounts.shared_rates import SharedRequestRates, open_rates
from agent.store.database import Store
from tests.conftest import open_postgres

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def database() -> Iterator[Store]:
    yield from open_postgres()


def move_back(store: Store, seconds: float) -> None:
    """Let time pass."""
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE request_rates SET at = at - :s"), {"s": seconds})


def test_servers_together_answer_a_burst_and_then_one_each_interval(database: Store):
    here, there = (open_rates(database.engine, 6) for _ in range(2))
    assert isinstance(here, SharedRequestRates)
    assert [one.take("a") for one in (here, there) * 3] == [0] * 6
    assert {here.take("a"), there.take("a")} <= {9, 10}
    assert there.take("b") == 0, "another caller has a bucket of its own"
    move_back(database, 4)
    assert here.take("a") in (5, 6)
    move_back(database, 6)
    assert [there.take("a"), here.take("a") > 0] == [0, True]
    move_back(database, 10_000)
    assert [here.take("a") for _ in range(8)][:6] == [0] * 6
    assert {open_rates(database.engine, 0).take("a") for _ in range(100)} == {0}
    with database.engine.begin() as connection:
        assert not {"a", "b"} & set(connection.scalars(text("SELECT caller FROM request_rates")))


def test_asked_at_once_no_more_are_answered(database: Store):
    servers = [open_rates(database.engine, 5) for _ in range(4)]
    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(lambda n: servers[n % 4].take("many"), range(40)))
    assert waits.count(0) == 5


def test_without_postgresql_each_process_counts_for_itself():
    store = Store.in_memory()
    assert not isinstance(open_rates(store.engine, 6), SharedRequestRates)
    store.close()
