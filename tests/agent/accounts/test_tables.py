"""Migrations of the central file: one of before this version is refused."""

from __future__ import annotations

import pytest

from agent.accounts.accounts import ACCOUNTS_FILE, Accounts
from agent.errors import StoreError
from agent.settings.config import read_config
from agent.store.database import open_engine


def test_a_file_of_before_this_version_is_refused_and_not_changed(accounts: Accounts) -> None:
    engine = open_engine(f"sqlite:///{read_config().data_folder / ACCOUNTS_FILE}")
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE migrations SET name = 'a001_initial'")
    with pytest.raises(StoreError, match="earlier Touchstone: commit 2579e32c"):
        Accounts(read_config())
    engine.dispose()
