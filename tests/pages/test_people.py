"""The screens of people, as Streamlit's tester sees them: the login before every screen, You, People, a shared
run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from agent.types import Settings
from agent.workbenches import Workbenches
from pages.widgets.people import person_row
from pages.widgets.shell import client, drafts
from tests.agent.accounts.conftest import make_claims
from tests.pages.conftest import shown
from tests.web.login import LOGIN, sign_in

pytestmark = pytest.mark.slow

App = Callable[..., AppTest]


@pytest.fixture
def team(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbenches]:
    """A server with a login, where Ann is admin and Bo is a member."""
    for name, value in LOGIN.items():
        monkeypatch.setenv(name, value)
    client.close()
    opened = client.benches()
    sign_in(opened, "ann")
    sign_in(opened, "bo")
    yield opened
    client.close()


@pytest.fixture
def as_person(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Who is signed in from now on; "" for nobody."""
    return lambda name: monkeypatch.setattr(client, "read_claims", lambda: make_claims(name) if name else {})


def test_before_the_screens_there_is_the_login(team: Workbenches, app: App) -> None:
    tester = app()
    assert "Sign in" in shown(tester) and [button.label for button in tester.button] == ["Sign in"]
    assert not tester.exception


@pytest.mark.parametrize("page", ["runs", "settings", "library", "you", "people", "shared"])
def test_a_screen_by_itself_shows_nothing_to_who_is_not_signed_in(
    page: str, team: Workbenches, app: App
) -> None:
    tester = app(page)  # the tester runs the file of the screen, without the frame around it
    assert len(tester.exception) == 1
    assert "example.org" not in shown(tester)


def test_who_is_blocked_is_told_so(team: Workbenches, app: App, as_person) -> None:
    as_person("bo")
    people = team.accounts.people  # type: ignore[union-attr]
    ann, bo = people.list()
    people.set_blocked(ann, bo.id, blocked=True)
    assert "blocked your account" in shown(app())


def test_data_is_deleted_only_after_the_words_are_typed(
    team: Workbenches, app: App, as_person, monkeypatch
) -> None:
    as_person("bo")
    bo = team.accounts.people.list()[1]  # type: ignore[union-attr]
    team.open(bo).start("mine", Settings(world="demo", model="keyless"))
    tester = app("you")
    assert tester.button(key="you-delete-all").disabled
    tester.text_input(key="you-delete-confirm").set_value("delete my data").run()
    held = {(bo.id, "reply:user"): "what Bo pasted", ("ann", "reply:user"): "what Ann pasted"}
    monkeypatch.setattr(drafts, "_unstored", held)
    tester.button(key="you-delete-all").click().run()
    assert list(held) == [("ann", "reply:user")]
    assert not tester.exception and team.open(bo).runs() == []
    assert list((team.config.data_folder / "deleted").iterdir())


def test_who_is_told_of_ones_runs_is_seen_and_told_no_more(team: Workbenches, app: App, as_person) -> None:
    as_person("bo")
    hooks = team.open(sign_in(team, "bo")).worker.webhooks()
    hook, _ = hooks.add("https://8.8.8.8/<b>", program="night job")
    tester = app("you")
    assert "by program “night job”" in shown(tester) and "8.8.8.8/&lt;b&gt;" in shown(tester)
    tester.button(key=f"you-webhook-{hook.id}").click().run()
    assert not tester.exception and hooks.list() == [] and "8.8.8.8" not in shown(tester)


def test_people_are_for_admins_and_change_what_they_show(team: Workbenches, app: App, as_person) -> None:
    as_person("bo")
    assert "No such screen" in str(app("people").title[0].value)
    as_person("ann")
    tester = app("people")
    assert not tester.exception and "bo@example.org" in shown(tester) and "sign in" in shown(tester)


def test_members_are_not_offered_folders_of_the_server(team: Workbenches, app: App, as_person) -> None:
    for name, labels in (("ann", ["A folder on this computer", "A web page"]), ("bo", ["A web page"])):
        as_person(name)
        tester = app("library")
        added = [field.label for field in tester.text_input if (field.key or "").startswith("library-add")]
        assert added == labels and not tester.exception


def test_the_audit_log_tells_people_of_one_name_apart(team: Workbenches, app: App, as_person) -> None:
    people = team.accounts.people  # type: ignore[union-attr]
    ann = people.list()[0]
    people.recognize(make_claims("bo", 200) | {"name": "Ann"})
    people.recognize(make_claims("cy") | {"name": ann.id})
    as_person("ann")
    told = shown(app("people"))
    assert "Ann (bo@example.org)" in told and "Ann (ann@example.org)" in told
    assert f"{ann.id} (cy@example.org)" in told


def test_an_act_of_an_admin_needs_an_admin_at_that_moment(team: Workbenches, app: App, as_person) -> None:
    _, bo = team.accounts.people.list()  # type: ignore[union-attr]
    as_person("bo")
    with pytest.raises(Exception, match="only an admin"):
        person_row._act("set_role", bo.id, "admin")
    as_person("ann")
    person_row._act("set_role", bo.id, "admin")
    assert team.accounts.people.get(bo.id).is_admin  # type: ignore[union-attr]


def test_an_admin_releases_the_address_of_somebody_blocked(team: Workbenches, app: App, as_person) -> None:
    _, bo = team.accounts.people.list()  # type: ignore[union-attr]
    as_person("ann")
    tester, free = app("people"), f"person-do-{bo.id}-free"
    tester.session_state[f"person-change-{bo.id}-0"] = True
    assert free not in [button.key for button in tester.run().button]
    person_row._act("block", bo.id)
    tester.run().button(key=free).click().run()
    assert not team.accounts.people.get(bo.id).email and not tester.exception  # type: ignore[union-attr]
    assert free not in [button.key for button in tester.button] and "release address" in shown(tester)


def test_a_shared_run_is_shown_without_private_notes_until_it_is_taken_back(
    team: Workbenches, app: App, as_person
) -> None:
    ann, _ = team.accounts.people.list()  # type: ignore[union-attr]
    bench, shares = team.open(ann), team.accounts.shares  # type: ignore[union-attr]
    run_id = bench.start(
        "On what date did the Stenfors bridge reopen to traffic?", Settings(world="demo", model="keyless")
    )
    bench.act(run_id, "steer", note="the zyxkestrel matters", private=True)
    bench.act(run_id, "steer", note="the mayor matters")
    bench.drive(run_id)
    bench.act(run_id, "add", statement="The bridge is blue.")
    share, key = shares.create(ann, run_id)
    as_person("bo")
    tester = app("shared", key=key)
    document = str(tester.get("iframe")[0].proto)
    assert "Stenfors" in document and "the mayor matters" not in document and "zyxkestrel" not in document
    assert not tester.text_area and not tester.button, "a guest reads and does nothing else"
    bench.delete(run_id)
    assert "There is no such shared run" in shown(app("shared", key=key))
    bench.restore(run_id)
    shares.take_back(ann, share.id)
    assert "There is no such shared run" in shown(app("shared", key=key))
    for wrong in ("", "shr_guessed", key[:-1]):
        assert "There is no such shared run" in shown(app("shared", key=wrong))


def test_a_member_sees_their_own_settings_and_no_addresses_of_the_server(
    team: Workbenches, app: App, as_person
) -> None:
    as_person("bo")
    told = shown(app("settings"))
    assert "holds for you alone" in told and str(team.config.data_folder) not in told
    as_person("ann")
    assert str(team.config.data_folder) in shown(app("settings"))


def test_an_admin_sets_up_the_server_and_the_log_says_who(team: Workbenches, app: App, as_person) -> None:
    ann, bo = team.accounts.people.list()  # type: ignore[union-attr]
    as_person("bo")
    assert not app("settings").segmented_control
    team.accounts.people.set_role(ann, bo.id, "admin")  # type: ignore[union-attr]
    tester = app("settings")
    tester.segmented_control(key=client.WHOSE_KEY).set_value("server").run()
    tester.session_state["settings-brave-setup-0"] = True
    tester.run()
    field = next(one for one in tester.text_input if "BRAVE_API_KEY" in str(one.key))
    field.set_value("brave-canary")
    tester.button(key="settings-brave-save").click().run()
    assert not tester.exception and team.open(ann).config.BRAVE_API_KEY.startswith("brave-canary ")
    [entry] = [one for one in team.accounts.audit.list() if one.action == "change setting"]  # type: ignore[union-attr]
    assert (entry.actor, entry.target) == (bo.id, "BRAVE_API_KEY")
    team.accounts.people.set_role(ann, bo.id, "member")  # type: ignore[union-attr]
    tester.run()
    assert not tester.exception and "holds for you alone" in shown(tester)
