"""What a person may try to do with the objects of another: 12 kinds of objects x 5 actions."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from starlette.testclient import TestClient

from agent.accounts.people import Person
from agent.actions.export import export_run
from agent.actions.personal_data import write_personal_data
from agent.batch import jobs
from agent.bot import metrics
from agent.types import Settings
from agent.types.library import LibraryScope
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from pages.widgets.people import person_row
from pages.widgets.shell import client

WORD = "zyxkestrel"
KEY = f"{WORD}-key-4711"
SESSION, FILE = "session-of-bo", "5f2c8a"
DEMO = Settings(world="demo", model="keyless")
Own = Mapping[str, str]
Act = Callable[[Own], Any]


@dataclass(frozen=True)
class Team:
    """A server with Ann (admin), Bo, who owns one of everything, and Cy."""

    benches: Workbenches
    bo: Person
    own: Own
    http: TestClient

    def fingerprint(self) -> str:
        """The hash of all that Bo has."""
        folder = self.benches.folder_of(self.bo)
        with closing(sqlite3.connect(folder / "touchstone.db")) as database:
            lines = [line for line in database.iterdump() if '"sqlite_' not in line]
        key = self.benches.open(self.bo).config.BRAVE_API_KEY
        return hashlib.sha256("\n".join([*lines, key]).encode()).hexdigest()


# --- what is tried: 12 objects x 5 actions


def _bench() -> Workbench:
    return client.workbench()


def _request(team: Team, method: str, path: str, **more: Any) -> str:
    answer = team.http.request(method, path, **more)
    return f"{answer.status_code} {answer.text}"


def _media(method: str, **headers: str) -> Callable[[Team, Own], str]:
    return lambda team, own: _request(team, method, f"/media/{own['file']}.md", headers=headers)


def _upload(method: str) -> Callable[[Team, Own], str]:
    return lambda team, own: _request(team, method, f"/_stcore/upload_file/{own['session']}/1", content=b"x")


def _as_admin(act: str, *more: Any) -> Act:
    return lambda own: person_row._act(act, own["person"], *more)


def _own_zip() -> bytes:
    return write_personal_data(_bench(), client.accounts(), client.require_person())


CASES: dict[str, dict[str, Act]] = {
    "run": {
        "list": lambda own: [_bench().runs(), _bench().runs(text=WORD), _bench().runs(deleted=True)],
        "open": lambda own: _bench().snapshot(own["run"]),
        "change": lambda own: _bench().act(own["run"], "steer", note="look elsewhere"),
        "delete": lambda own: _bench().delete(own["run"]),
        "export": lambda own: export_run(_bench(), own["run"], "md"),
    },
    "page": {
        "list": lambda own: [
            _bench().store.pages.get_many([own["page"]]),
            _bench().store.pages.versions("https://own.example/kept"),
        ],
        "open": lambda own: _bench().page(own["page"]),
        "change": lambda own: _bench().act(
            own["run"], "supply", url="https://own.example/note", text="another text " * 9
        ),
        "delete": lambda own: _bench().act(own["run"], "retry", what="https://own.example/note"),
        "export": lambda own: export_run(_bench(), own["run"], "pages.csv"),
    },
    "fact": {
        "list": lambda own: _bench().snapshot(own["run"]).state.facts,
        "open": lambda own: _bench().snapshot(own["run"]).state.facts[own["fact"]],
        "change": lambda own: _bench().act(own["run"], "add", statement="Another statement."),
        "delete": lambda own: _bench().act(own["run"], "mark", facts=[own["fact"]], decision="struck"),
        "export": lambda own: export_run(_bench(), own["run"], "csv"),
    },
    "batch": {
        "list": lambda own: _bench().store.batches.list_newest(),
        "open": lambda own: jobs.get_status(_bench(), own["batch"]),
        "change": lambda own: jobs.resume(_bench(), own["batch"]),
        "delete": lambda own: jobs.stop(_bench(), own["batch"]),
        "export": lambda own: [
            jobs.export_csv(_bench(), own["batch"]),
            jobs.export_json(_bench(), own["batch"]),
        ],
    },
    "saved site": {
        "list": lambda own: _bench().store.saved_sites.all(),
        "open": lambda own: _bench().store.saved_sites.get("birds"),
        "change": lambda own: _bench().save_site(
            "own", Settings(flow="site", start_urls=["https://b.example/"])
        ),
        "delete": lambda own: _bench().store.saved_sites.drop("birds"),
        "export": lambda own: _own_zip(),
    },
    "key": {
        "list": lambda own: _bench().active_configuration(),
        "open": lambda own: [_bench().config.BRAVE_API_KEY, _bench().config.saved.read()],
        "change": lambda own: _bench().config.saved.save("BRAVE_API_KEY", "another-key-0815"),
        "delete": lambda own: _bench().config.saved.save("BRAVE_API_KEY", ""),
        "export": lambda own: _bench().config.secrets,
    },
    "draft": {
        "list": lambda own: _bench().store.drafts.all(),
        "open": lambda own: _bench().store.draft("question"),
        "change": lambda own: _bench().store.draft("question", "of another"),
        "delete": lambda own: _bench().store.draft("question", ""),
        "export": lambda own: _own_zip(),
    },
    "library document": {
        "list": lambda own: [
            _bench().library.sources(),
            _bench().library.search(WORD).hits,
            _bench().library.index(),
        ],
        "open": lambda own: _bench().library.load(own["source"]),
        "change": lambda own: _bench().library.tag(own["source"], "taken"),
        "delete": lambda own: _bench().library.delete(own["source"]),
        "export": lambda own: (
            _bench().library.search("breeds", scope=LibraryScope(source_ids=[own["source"]])).hits
        ),
    },
    "model call": {
        "list": lambda own: _bench().calls(own["run"]),
        "open": lambda own: _bench().store.calls.recall(own["call"]),
        "change": lambda own: _bench().store.calls.adopt("r", [], keep_key=lambda call: True),
        "delete": lambda own: _bench().store.calls.count(own["run"]),
        "export": lambda own: export_run(_bench(), own["run"], "bundle"),
    },
}
HTTP_CASES: dict[str, dict[str, Callable[[Team, Own], Any]]] = {
    "file": {
        "list": _media("HEAD"),
        "open": _media("GET"),
        "change": _upload("PUT"),
        "delete": _upload("DELETE"),
        "export": _media("GET", range="bytes=0-3"),
    },
    "log": {
        "list": lambda team, own: client.accounts().audit.list(actor=client.require_person().id),
        "open": lambda team, own: metrics.render_metrics() if client.require_person() else b"",
        "change": lambda team, own: _as_admin("set_role", "admin")(own),
        "delete": lambda team, own: _as_admin("block")(own),
        "export": lambda team, own: _own_zip(),
    },
}
ALL = [(kind, action) for kind, acts in (CASES | HTTP_CASES).items() for action in acts]
