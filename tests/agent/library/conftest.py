"""A store and its library."""

from __future__ import annotations

import pytest

from agent.library.collection import Library
from agent.store.database import Store


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path}/t.db")
    yield opened
    opened.close()


@pytest.fixture
def library(store):
    return Library(store)
