"""Migrations of the central file: one of before this version is refused."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from agent.accounts.accounts import Accounts
from agent.errors import StoreError
from agent.settings.config import read_config
from agent.store.database import open_engine
from agent.store.tables import applied_migrations


def test_a_file_of_before_this_version_is_refused_and_not_changed(accounts: Accounts) -> None:
    engine = open_engine(read_config().locate_store("accounts.db"))
    with engine.begin() as connection:
        connection.execute(update(applied_migrations).values(name="a001_initial"))
    with pytest.raises(StoreError, match="earlier Touchstone: commit 2579e32c"):
        Accounts(read_config())
    engine.dispose()
