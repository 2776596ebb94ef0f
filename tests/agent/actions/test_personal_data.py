"""The zip of a person's own data: all of it."""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from agent.accounts.accounts import Accounts
from agent.actions import personal_data
from agent.settings.config import read_config
from agent.types import Settings, Step
from agent.workbench import Workbench
from tests.agent.accounts.conftest import make_claims

FIRST = Step(n=0, name="ask", change={}, next="decide", by="person")
MANY = 520


@pytest.mark.slow
@pytest.mark.usefixtures("on_both_databases")
def test_every_run_and_every_entry_of_the_log_is_taken_along(
    bench: Workbench, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(personal_data, "export_run", lambda bench, run_id, form: run_id.encode())
    accounts = Accounts(read_config())
    ann = accounts.people.recognize(make_claims("ann"))
    made = {bench.store.ledger.create(f"q{n}", Settings(), FIRST) for n in range(MANY)}
    with zipfile.ZipFile(io.BytesIO(personal_data.write_personal_data(bench, accounts, ann))) as packed:
        runs = {name for name in packed.namelist() if name.startswith("runs/")}
        with closing(sqlite3.connect(packed.extract("touchstone.db", tmp_path))) as database:
            stored = {row[0] for row in database.execute("SELECT id FROM runs")}
        log = json.loads(packed.read("account.json"))["log"]
    assert runs == {f"runs/{run_id}.md" for run_id in made} and stored == made
    assert [entry["action"] for entry in log] == ["export data", "sign in"]
    assert len(bench.runs()) == MANY and len(bench.runs(limit=7)) == 7
    accounts.close()
