"""Who asks over HTTP: by API token, by REPLY_TOKEN, or by a known name; and how often."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agent.accounts.people import LOCAL
from agent.accounts.quotas import RequestRates
from agent.bot.http import ReplyHttp, RequestRefused, identify_caller
from agent.settings.config import read_config
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from tests.web.login import LOGIN, sign_in

Open = Callable[..., Workbenches]
ASKED = {"conversation": [{"role": "user", "text": "When do backups run?"}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Workbenches with these settings, without workers."""
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    opened: list[Workbenches] = []

    def opening(**settings: str) -> Workbenches:
        opened.append(Workbenches(read_config(settings)))
        return opened[-1]

    yield opening
    for benches in opened:
        benches.close()


def identify(
    benches: Workbenches, given: str, *, is_known_name: bool = True, rates: RequestRates | None = None
) -> str:
    caller = identify_caller(benches, rates or RequestRates(0), given, "reply", is_known_name=is_known_name)
    return caller.owner


def status(benches: Workbenches, given: str, *, is_known_name: bool = True) -> int:
    with pytest.raises(RequestRefused) as refused:
        identify(benches, given, is_known_name=is_known_name)
    return refused.value.status


def test_without_a_login_a_known_name_or_the_token_of_the_server_is_enough(server: Open) -> None:
    plain = server()
    assert identify(plain, "") == "" and status(plain, "", is_known_name=False) == 403
    with_token = server(REPLY_TOKEN="open-sesame")
    assert identify(with_token, "Bearer open-sesame", is_known_name=False) == ""
    for given in ("", "Bearer wrong", "open-sesame", "Basic open-sesame", "Bearer "):
        assert status(with_token, given) == 401


def test_where_nobody_signs_in_a_token_of_the_command_line_is_enough_for_its_scope(server: Open) -> None:
    for benches in (server(), server(REPLY_TOKEN="open-sesame")):
        tokens = benches.token_accounts.tokens
        made, text = tokens.create(LOCAL, "bot", ["reply"])
        _, other = tokens.create(LOCAL, "reader", ["read"])
        assert identify(benches, f"Bearer {text}", is_known_name=False) == ""
        assert status(benches, f"Bearer {other}") == status(benches, "Bearer tst_x") == 401
        tokens.revoke(LOCAL, made.id)
        with pytest.raises(RequestRefused, match="touchstone token NAME --for reply"):
            identify(benches, f"Bearer {text}")


def test_with_a_login_only_a_token_is_enough_and_it_is_its_owners(server: Open) -> None:
    benches = server(**LOGIN)
    sign_in(benches, "ann")
    bo = sign_in(benches, "bo")
    _, text = benches.accounts.tokens.create(bo, "bot", ["reply"])  # type: ignore[union-attr]
    assert identify(benches, f"Bearer {text}") == bo.id
    for given in ("", "Bearer ", f"Bearer {text}x", text, "Bearer tst_"):
        assert status(benches, given) == 401


def test_the_token_of_the_server_answers_for_the_first_admin(server: Open) -> None:
    benches = server(**LOGIN, REPLY_TOKEN="open-sesame")
    assert status(benches, "Bearer open-sesame") == 503
    ann = sign_in(benches, "ann")
    assert identify(benches, "Bearer open-sesame") == ann.id
    benches.accounts.people.rules.allowed = frozenset({"bo@example.org"})  # type: ignore[union-attr]
    assert status(benches, "Bearer open-sesame") == 503


def test_too_many_requests_with_the_tokens_of_one_person_are_told_when_to_come_again(server: Open) -> None:
    benches = server(**LOGIN, API_RATE="2")
    ann = sign_in(benches, "ann")
    tokens = benches.accounts.tokens  # type: ignore[union-attr]
    one, other = (tokens.create(ann, name, ["reply", "messages"])[1] for name in ("one", "other"))
    of_bo = tokens.create(sign_in(benches, "bo"), "bot", ["reply"])[1]
    routes = ReplyHttp(lambda: benches, lambda headers: False)
    with TestClient(Starlette(routes=list(routes.routes))) as http:
        asked = [
            http.post("/reply", json=ASKED, headers={"authorization": f"Bearer {one}"}) for _ in range(3)
        ]
        assert [answer.status_code for answer in asked] == [200, 200, 429]
        assert 1 <= int(asked[2].headers["retry-after"]) <= 30 and "ask again in" in asked[2].json()["error"]
        assert http.post("/messages", json={}, headers={"authorization": f"Bearer {one}"}).status_code == 429
        assert (
            http.post("/reply", json=ASKED, headers={"authorization": f"Bearer {other}"}).status_code == 429
        )
        assert (
            http.post("/reply", json=ASKED, headers={"authorization": f"Bearer {of_bo}"}).status_code == 200
        )
    routes.close()


@pytest.mark.parametrize("path", ["/reply", "/messages"])
def test_a_workbench_that_cannot_be_opened_is_told_as_such(path: str, server: Open) -> None:
    benches = server(**LOGIN)
    sign_in(benches, "ann")
    bo = sign_in(benches, "bo")
    _, text = benches.accounts.tokens.create(bo, "bot", ["reply", "messages"])  # type: ignore[union-attr]
    benches.folder_of(bo).mkdir(parents=True)
    (benches.folder_of(bo) / "settings.json").write_text("{")
    routes = ReplyHttp(lambda: benches, lambda headers: False)
    with TestClient(Starlette(routes=list(routes.routes))) as http:
        answer = http.post(path, json=ASKED, headers={"authorization": f"Bearer {text}"})
    assert answer.status_code == 503 and "replies cannot be given now" in answer.json()["error"]
    routes.close()
