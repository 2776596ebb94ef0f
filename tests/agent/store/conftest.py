"""The store is tested as it is: its databases are made by its migrations, and its disk is waited for."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _quick_databases() -> None:
    """Nothing is made quicker here."""
