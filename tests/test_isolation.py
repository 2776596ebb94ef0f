"""Nothing of one person is seen, changed, deleted or taken along by another: 12 kinds of objects x 5 actions x 3
actors, each one check against the door of the screens (`client.workbench()`) or the HTTP routes. An admin is a
fourth actor: they see no more than a member.

Bo owns one object of each kind, with the same rare word in it. Whatever another person does with Bo's ids, the
word never comes back, Bo's files stay as they were, and the answer is the one for an id that does not exist."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from agent.accounts.people import Person
from agent.batch import csv_input, jobs
from agent.bot.http import ReplyHttp
from agent.errors import SignInRefused, TouchstoneError, UsageError
from agent.settings.config import read_config
from agent.types import BatchBudget, ModelCall, Outcome, Page, Settings
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from pages.widgets.reply import bot_services
from pages.widgets.shell import client, http_gate
from tests.agent.accounts.conftest import find_caller, make_claims
from tests.records import fill
from tests.web.isolation_cases import ALL, CASES, DEMO, FILE, HTTP_CASES, KEY, SESSION, WORD, Own, Team
from tests.web.login import LOGIN, sign_in
from tests.web.saved_keys import save_key

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workbench, "start_workers", lambda self: None)
        folder = tmp_path_factory.mktemp("team")
        patch.setattr(http_gate, "is_loopback", lambda address: False)
        plain = {
            "TOUCHSTONE_DATA": str(folder),
            "OLLAMA_URL": "",
            "EMBEDDING_MODEL": "off",
            "CONFIG_FILE": "",
        }
        benches = Workbenches(read_config({**plain, **LOGIN, "API_RATE": "0"}))
        client._benches[:] = [benches]
        sign_in(benches, "ann")
        bo = sign_in(benches, "bo")
        sign_in(benches, "cy")
        own = _stock(benches, bo)
        http_gate._remember(http_gate._sessions, SESSION, bo.id)
        http_gate._remember_file(f"/media/{FILE}.md", bo.id)
        with TestClient(_make_app(), base_url="http://127.0.0.1") as http:
            yield Team(benches, bo, own, http)
        benches.close()
        client._benches.clear()


def _stock(benches: Workbenches, bo: Person) -> Own:
    """One object of each kind for Bo, each with WORD in it."""
    bench = benches.open(bo)
    run_id = bench.start(f"When did the Stenfors bridge reopen? {WORD}", DEMO)
    bench.drive(run_id)
    bench.act(run_id, "add", statement=f"The {WORD} nests on the bridge.")
    bench.act(run_id, "supply", url="https://own.example/note", text=f"A note of Bo on the {WORD}. " * 20)
    view = bench.snapshot(run_id)
    sheet = csv_input.read_sheet(f"question\nWhat of the {WORD}?\n".encode(), DEMO)
    batch = jobs.create(bench, WORD, sheet, DEMO, BatchBudget())
    own = {"instruction": WORD, "start_urls": ["https://own.example/"]}
    bench.save_site("birds", Settings(flow="site", world="demo", **own))  # type: ignore[arg-type]
    save_key(bench, "BRAVE_API_KEY", KEY)
    bench.store.draft("question", f"What about the {WORD}")
    source = bench.library.add_file("notes.md", f"# The {WORD}\n\nThe {WORD} breeds in spring.".encode())
    said = {"role": "plan", "model": "m", "prompt": [{"role": "user", "content": WORD}], "reply": WORD}
    key = hashlib.sha256(b"k").hexdigest()
    call = fill(ModelCall, key=key, run_id=run_id, step=1, prompt_tokens=1, **said)
    bench.store.calls.record(call)
    address = "https://own.example/kept"
    kept = Page(url=address, final_url=address, text=f"The {WORD} was seen here.", outcome=Outcome.OK)
    page_id = bench.store.pages.put(kept)
    return {
        "run": run_id, "page": page_id, "fact": list(view.state.facts)[-1], "batch": batch,
        "source": source.source_id, "call": call.key, "file": FILE, "session": SESSION, "person": bo.id
    }  # fmt: skip


def _make_app() -> Starlette:
    """The gate and the routes for bots around a server that has Bo's file and upload."""

    def give(_: Request) -> Response:
        return Response(WORD)

    routes = [
        Route("/media/{name}", give),
        Route("/_stcore/upload_file/{session}/{name}", give, methods=["PUT", "DELETE"]),
        *bot_services.HTTP.routes,
    ]
    return Starlette(routes=routes, middleware=[Middleware(http_gate.HttpGate)])


ACTORS = ("another person", "anonymous", "signed out")


def _act(team: Team, kind: str, action: str, own: Own) -> str:
    """What comes of it, as one text: the value, or the refusal."""
    try:
        done = CASES[kind][action](own) if kind in CASES else HTTP_CASES[kind][action](team, own)
    except TouchstoneError as refused:
        return f"{type(refused).__name__}: {refused}"
    if isinstance(done, bytes):
        return done.decode("latin-1")
    return done if isinstance(done, str) else repr(done)


def _become(team: Team, actor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session and the cookie of this actor. Who is signed out has Bo's own sign-in, which holds no
    longer."""
    claims = {
        "anonymous": {},
        "signed out": make_claims("bo", at=50),
        "another person": make_claims("cy"),
        "admin": make_claims("ann"),
    }[actor]
    monkeypatch.setattr(client, "_benches", [team.benches])
    monkeypatch.setattr(client, "read_claims", lambda: claims)
    team.http.cookies.clear()
    if claims:
        text = json.dumps({**claims, "is_logged_in": True, "origin": "http://127.0.0.1"})
        signed = create_signed_value(get_cookie_secret(), "_streamlit_user", text)
        team.http.cookies.set("_streamlit_user", signed.decode())


@pytest.fixture
def signed_out_once(team: Team) -> None:
    """Sign-ins of Bo up to now hold no longer; a later one holds."""
    people = team.benches.accounts.people  # type: ignore[union-attr]
    if people.get(team.bo.id).signed_out_at == 0:
        people.sign_out_everywhere(team.bo, team.bo.id)


def test_there_are_165_cases() -> None:
    assert len(ALL) * len(ACTORS) == 165 and len(CASES | HTTP_CASES) == 11


@pytest.mark.parametrize(("kind", "action"), ALL)
@pytest.mark.parametrize("actor", [*ACTORS, "admin"])
def test_nothing_of_another_is_reached(
    actor: str, kind: str, action: str, team: Team, signed_out_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _become(team, actor, monkeypatch)
    before = team.fingerprint()
    if actor == "admin" and kind == "log" and action in ("change", "delete"):
        pytest.skip("what an admin may do to Bo's account is no access to Bo's data")
    got = _act(team, kind, action, team.own)
    assert WORD not in got, "a leak"
    assert team.fingerprint() == before, "a change"
    if actor in ("anonymous", "signed out"):
        assert got.startswith(("SignInRefused: ", "404 ")), got
        return
    unknown = {name: "0" * len(name_id) for name, name_id in team.own.items()}
    same = _act(team, kind, action, unknown)
    if action != "export" or kind in ("run", "page", "fact", "file", "batch"):
        for name, known in team.own.items():
            got = got.replace(known, unknown[name])
        assert _without_times(got) == _without_times(same), (
            "an object of another answers as one that is not there"
        )


def _without_times(text: str) -> str:
    return text.split("at='")[0]


def test_the_owner_reaches_every_one_of_them(
    team: Team, signed_out_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _become(team, "another person", monkeypatch)
    claims = make_claims("bo", at=200)
    monkeypatch.setattr(client, "read_claims", lambda: claims)
    text = json.dumps({**claims, "is_logged_in": True, "origin": "http://127.0.0.1"})
    signed = create_signed_value(get_cookie_secret(), "_streamlit_user", text)
    team.http.cookies.set("_streamlit_user", signed.decode())
    hidden = {("file", "list"), ("key", "list"), ("log", "list"), ("log", "open")}
    for kind, acts in (CASES | HTTP_CASES).items():
        for action in ("list", "open"):
            if (kind, action) not in hidden and action in acts:
                assert WORD in _act(team, kind, action, team.own), (
                    f"{kind} {action}: the check would see a leak"
                )


@pytest.mark.parametrize("path", ["/reply", "/messages"])
@pytest.mark.parametrize(
    "header", [{}, {"authorization": "Bearer tst_guessed"}, {"authorization": "Basic Ym86Ym8="}]
)
def test_a_program_without_a_token_gets_nothing(path: str, header: dict[str, str], team: Team) -> None:
    answer = team.http.post(path, json={}, headers=header)
    assert answer.status_code == 401 and WORD not in answer.text


def test_a_program_with_a_token_of_another_is_answered_from_their_library(team: Team, monkeypatch) -> None:
    people, tokens = team.benches.accounts.people, team.benches.accounts.tokens  # type: ignore[union-attr]
    cy = people.recognize(make_claims("cy"))
    _, text = tokens.create(cy, "bot", ["reply"])
    monkeypatch.setattr(client, "_benches", [team.benches])
    header = {"authorization": f"Bearer {text}"}
    asked = {"conversation": [{"role": "user", "text": f"When does the {WORD} breed?"}]}
    answer = team.http.post("/reply", json=asked, headers=header)
    assert answer.status_code == 200 and "spring" not in answer.text
    assert team.http.post("/messages", json={}, headers=header).status_code == 401, "another scope"


@pytest.mark.parametrize("end", ["sign out", "delete", "block"])
def test_a_token_that_ends_while_its_request_is_sent_finds_nobody(end: str, team: Team, monkeypatch) -> None:
    monkeypatch.setattr(client, "_benches", [team.benches])
    accounts = team.benches.accounts
    assert accounts is not None
    first = accounts.people.find_first_admin()
    dee = accounts.people.recognize(make_claims(f"dee-{end[0]}"))
    _, text = accounts.tokens.create(dee, "bot", ["reply"])
    read = ReplyHttp._read_body

    async def read_slowly(self, request, shape):
        body = await read(self, request, shape)
        if end == "sign out":
            accounts.people.sign_out_everywhere(dee, dee.id)
        elif end == "delete":
            team.benches.delete_data(dee)
        else:
            team.benches.shut_out(first, dee.id)
        return body

    monkeypatch.setattr(ReplyHttp, "_read_body", read_slowly)
    asked = {"conversation": [{"role": "user", "text": "When?"}]}
    for _ in range(2):
        answer = team.http.post("/reply", json=asked, headers={"authorization": f"Bearer {text}"})
        assert answer.status_code == 401
    assert find_caller(accounts, text, "reply") is None


def test_a_session_without_a_sign_in_has_no_workbench(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_benches", [team.benches])
    with pytest.raises(SignInRefused):
        client.workbench()
    with pytest.raises(UsageError):
        team.benches.local()


def test_fifty_people_at_once_read_nothing_but_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 operations in interleaved threads, each thread as another person each time: nothing that is kept for
    a session, a thread or the process is mistaken for another's."""
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    benches, session = Workbenches(read_config(LOGIN)), threading.local()
    monkeypatch.setattr(client, "_benches", [benches])
    monkeypatch.setattr(client, "read_claims", lambda: make_claims(session.name))
    names = [f"p{n}" for n in range(50)]

    def work(n: int) -> str:
        session.name = name = names[n % len(names)]
        bench = client.workbench()
        if n < len(names):
            bench.store.draft("question", f"asked by {name}")
            return ""
        mine = [bench.store.draft("question"), client.require_person().name]
        return "" if mine == [f"asked by {name}", name.title()] else f"{name} read {mine}"

    with ThreadPoolExecutor(8) as threads:
        assert not [
            wrong for batch in (range(50), range(50, 1000)) for wrong in threads.map(work, batch) if wrong
        ]
    benches.close()
