"""A store of the test's own; what the disk and the migrations do is tested as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.store.database import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path}/new folder/t.db")
    yield opened
    opened.close()
