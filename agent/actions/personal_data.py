"""Everything of one person as a zip: the database, each run as readable Markdown, and what the server keeps
about them. No key and no token is in it."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from agent.accounts.accounts import Accounts
from agent.accounts.moves import StorePlace
from agent.accounts.people import Person
from agent.actions.commit import ActionContext
from agent.actions.export import export_run
from agent.export.hiding import make_redactor
from agent.store.dialect import is_sqlite
from agent.store.table_copy import copy_store, open_snapshot

README = """Your data in Touchstone.

touchstone.db   everything: runs with their steps, pages, facts, library, drafts (SQLite)
bodies/         pages as they were fetched, by SHA-256, where they are kept outside of the database
runs/           each run as Markdown, as it may be handed on: without private notes, which the database holds
account.json    what the server knows of you: name, quotas, tokens (without their text), what you did
"""


def write_personal_data(bench: ActionContext, accounts: Accounts, person: Person) -> bytes:
    """The zip. The export is noted in the audit log."""
    accounts.audit.add(person.id, "export data")
    with tempfile.TemporaryFile() as file, tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("README.txt", README)
            account = {
                "person": asdict(person),
                "quota": asdict(accounts.quotas.get(person.id)),
                "tokens": [asdict(token) for token in accounts.tokens.list(person)],
                "log": [asdict(entry) for entry in accounts.audit.list(0, actor=person.id)],
            }
            redact = make_redactor(bench.config.secrets)
            made.writestr("account.json", json.dumps(redact(account), ensure_ascii=False, indent=1) + "\n")
            for run in bench.store.ledger.list():
                made.writestr(f"runs/{run.id}.md", export_run(bench, run.id, "md"))
            for digest, body in bench.store.pages.read_bodies_elsewhere():
                made.writestr(f"bodies/{digest}", body)
            target = Path(folder) / "touchstone.db"
            if is_sqlite(bench.store.engine.dialect):
                with bench.store.engine.connect() as connection, closing(sqlite3.connect(target)) as copy:
                    connection.connection.driver_connection.backup(copy)  # type: ignore[union-attr]
            else:
                with (
                    open_snapshot(bench.store.engine) as snapshot,
                    StorePlace(folder).open(target.name) as to,
                ):
                    copy_store(snapshot, *to)
            made.write(target, "touchstone.db")
        file.seek(0)
        return file.read()
