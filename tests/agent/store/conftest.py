"""A store of the test's own in both databases; what the disk and the migrations do is tested as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.store.database import Store
from tests.conftest import open_postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgresql":
        yield from open_postgres()
        return
    opened = Store(f"sqlite:///{tmp_path}/new folder/t.db")
    yield opened
    opened.close()
