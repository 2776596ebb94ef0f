"""One store a person: who gets which, what they share, when they are closed, and where deleted data goes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.accounts.people import Person
from agent.accounts.quotas import DayUse
from agent.actions.server_settings import describe_field, save_engine_setting, switch_engine
from agent.batch import schedules
from agent.batch.csv_input import read_sheet
from agent.batch.jobs import create as create_batch
from agent.errors import NotFound, SignInRefused, StoreError, UsageError
from agent.settings.config import is_fixed, is_personal, read_config
from agent.store.database import Store
from agent.store.schemas import list_stores
from agent.types import BatchBudget, Settings, Status, Step
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from tests.agent.accounts.conftest import record_use
from tests.waiting import wait_for
from tests.web.login import LOGIN, sign_in
from tests.web.saved_keys import save_key

START_WORKERS = Workbench.start_workers
FIRST = Step(n=0, name="ask", change={}, next="decide", by="person")


@pytest.fixture
def benches(monkeypatch: pytest.MonkeyPatch, on_both_databases: str) -> Iterator[Workbenches]:
    """A server with a login, without workers."""
    for name, value in LOGIN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    opened = Workbenches(read_config())
    yield opened
    opened.close()


def _demo(benches: Workbenches, name: str) -> str:
    return benches.open(sign_in(benches, name)).start("When?", Settings(world="demo", model="keyless"))


def _list_binned_runs(benches: Workbenches, folder: Path) -> list[str]:
    path = (folder / "touchstone.db").relative_to(benches.config.data_folder).as_posix()
    kept = Store(benches.config.locate_store(path))
    found = [run.id for run in kept.ledger.list()]
    kept.close()
    return found


def test_without_a_login_there_is_one_workbench_and_no_people(monkeypatch) -> None:
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    opened = Workbenches(read_config())
    assert opened.accounts is None and opened.local() is opened.local()
    assert not (read_config().data_folder / "accounts.db").exists()
    opened.close()
    with pytest.raises(StoreError):
        opened.local()


def test_an_existing_store_belongs_to_the_first_admin(benches: Workbenches) -> None:
    config = read_config()
    before = Store(config.database_url)
    run_id = before.ledger.create("from before the login", Settings(), FIRST)
    before.close()
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    assert [run.id for run in benches.open(ann).runs()] == [run_id]
    assert benches.open(bo).runs() == []
    with pytest.raises(NotFound):
        benches.open(bo).snapshot(run_id)


def test_each_person_has_a_workbench_and_a_folder_of_their_own(benches: Workbenches) -> None:
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    assert benches.open(bo) is benches.open(bo) and benches.open(bo) is not benches.open(ann)
    assert benches.folder_of(bo) == benches.config.data_folder / "people" / bo.id
    if benches.config.has_server_store:
        assert f"people/{bo.id}/touchstone.db" in list_stores(benches.accounts.engine)
    else:
        assert (benches.folder_of(bo) / "touchstone.db").is_file()
    with pytest.raises(UsageError, match="sign in"):
        benches.local()


@pytest.mark.parametrize("missing", ["OIDC_DISCOVERY_URL", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"])
def test_half_a_login_is_none_and_is_refused(missing: str) -> None:
    with pytest.raises(UsageError, match=missing):
        Workbenches(read_config({**LOGIN, missing: ""}))


def test_a_login_whose_runs_no_process_would_drive_is_refused() -> None:
    for setting in ({"WORKERS": "0"}, {"WORKERS_APART": "true"}):
        with pytest.raises(UsageError, match="PostgreSQL alone"):
            Workbenches(read_config({**LOGIN, **setting}))


def test_runs_of_all_people_share_the_places_and_the_pace_of_each_host(benches: Workbenches) -> None:
    one, two = (benches.open(sign_in(benches, name)).worker for name in ("ann", "bo"))
    assert one.limits.places is two.limits.places
    assert one.world("live")._fetcher._pace is two.world("live")._fetcher._pace
    with pytest.raises(NotFound, match="no folders"):
        one.world(str(benches.config.data_folder))


def test_a_run_waits_for_a_place_that_another_person_holds(benches: Workbenches) -> None:
    ann, bo = (benches.open(sign_in(benches, name)) for name in ("ann", "bo"))
    places = ann.worker.limits.places
    held = [places.acquire(blocking=False) for _ in range(benches.config.WORKERS)]
    assert all(held) and not bo.worker.limits.places.acquire(blocking=False)
    run_id = bo.start("On what date did the Stenfors bridge reopen?", Settings(world="demo", model="keyless"))
    bo.worker.start(1)
    try:
        bo.worker.dispatcher.wake(run_id)
        assert bo.snapshot(run_id).head == 0 and bo.snapshot(run_id).run.status is Status.RUNNING
    finally:
        for _ in held:
            places.release()
    wait_for(lambda: bo.snapshot(run_id).run.status is not Status.RUNNING)
    assert bo.snapshot(run_id).run.status is Status.REVIEW


def test_a_quota_stops_a_start_and_a_run_asks_what_to_do(benches: Workbenches) -> None:
    ann = sign_in(benches, "ann")
    bench, quotas = benches.open(ann), benches.accounts.quotas
    quotas.set(ann, ann.id, replace(quotas.defaults, tokens=1000))
    run_id = bench.start(
        "On what date did the Stenfors bridge reopen to traffic?",
        Settings(world="demo", model="keyless", at_cap="ask"),
    )
    unasked = bench.start("And when did it close?", Settings(world="demo", model="keyless"))
    record_use(quotas, ann.id, DayUse(tokens=950))
    assert bench.drive(run_id) is Status.PAUSED
    halt = bench.snapshot(run_id).state.halt
    assert halt.kind == "quota" and "950 of 1,000 tokens are used today, the rest" in halt.why
    bench.act(run_id, "resume")
    assert bench.drive(run_id) is Status.PAUSED, "there is no more quota yet"
    quotas.set(ann, ann.id, replace(quotas.defaults, tokens=2000))
    bench.act(run_id, "resume")
    assert bench.drive(run_id) is Status.REVIEW and bench.snapshot(run_id).state.facts
    quotas.set(ann, ann.id, replace(quotas.defaults, tokens=1000))
    assert bench.drive(unasked) is Status.REVIEW, "nobody is to be asked: it ends with what it has"
    assert "1,000 tokens are used" in bench.snapshot(unasked).state.why_stopped
    record_use(quotas, ann.id, DayUse(tokens=50))
    sheet, settings = read_sheet(b"question\nWho?", Settings()), Settings(world="demo", model="keyless")
    with pytest.raises(UsageError, match="1,000 tokens are used"):
        create_batch(bench, "", sheet, settings, BatchBudget())
    with pytest.raises(UsageError, match="1,000 tokens are used"):
        bench.start("And when?", Settings(world="demo", model="keyless"))


@pytest.mark.parametrize("on_both_databases", ["sqlite"], indirect=True)
def test_more_runs_that_an_admin_allows_work_at_once_without_a_new_start(
    benches: Workbenches, monkeypatch
) -> None:
    monkeypatch.setattr(Workbench, "start_workers", START_WORKERS)
    quotas, ann = benches.accounts.quotas, sign_in(benches, "ann")
    bo = sign_in(benches, "bo")
    quotas.set(ann, bo.id, replace(quotas.defaults, runs=1))
    worker = benches.open(bo).worker
    assert len(worker.dispatcher.threads) == 1
    benches.set_quota(ann, bo.id, replace(quotas.defaults, runs=3))
    assert len(worker.dispatcher.threads) == 3 and worker.find_faults() == []
    benches.set_quota(ann, bo.id, replace(quotas.defaults, runs=2))
    assert len(worker.dispatcher.threads) == 3 and quotas.get(bo.id).runs == 2


def test_every_admin_sets_the_servers_engines_until_they_are_admin_no_more(
    benches: Workbenches, monkeypatch
) -> None:
    ann, bo, cy = (sign_in(benches, name) for name in ("ann", "bo", "cy"))
    people = benches.accounts.people
    with pytest.raises(UsageError, match="an admin sets up"):
        benches.open_server(bo)
    people.set_role(ann, bo.id, "admin")
    admitted = frozenset({"bo@example.org", "cy@example.org"})
    monkeypatch.setattr(people.rules, "allowed", admitted)  # who set the server up has left the team
    save_engine_setting(benches.open_server(people.get(bo.id)), "SEARXNG_URL", "http://search.lan/")
    assert benches.open(cy).config.SEARXNG_URL == "http://search.lan/" and is_fixed(
        benches.open(bo).config, "SEARXNG_URL"
    )
    people.set_role(bo, bo.id, "member")
    with pytest.raises(UsageError, match="an admin sets up"):
        benches.open_server(people.get(bo.id))


def test_the_runs_of_who_is_not_let_in_rest_while_others_set_up_the_server(
    benches: Workbenches, monkeypatch
) -> None:
    monkeypatch.setattr(Workbench, "start_workers", START_WORKERS)
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    benches.accounts.people.set_role(ann, bo.id, "admin")
    monkeypatch.setattr(benches.accounts.people.rules, "allowed", frozenset({"bo@example.org"}))
    server = benches.open_server(benches.accounts.people.get(bo.id))
    assert server.worker.find_faults() == ["the workers were not started"] and server in benches.list_open()
    assert server not in benches.list_open(working=True), "who is not let in makes no server unready"
    monkeypatch.setattr(benches.accounts.people.rules, "allowed", frozenset())
    assert benches.open(benches.accounts.people.get(ann.id)).worker.find_faults() == []


def test_an_idle_workbench_is_closed_and_a_busy_one_is_not(benches: Workbenches) -> None:
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    _demo(benches, "ann")
    benches.open(bo)
    assert benches.close_idle(3600) == 0
    assert benches.close_idle(0) == 1 and len(benches.list_open()) == 1
    assert benches.open(ann).runs()[0].status is Status.RUNNING and benches.open(bo).runs() == []


def test_a_person_sets_keys_of_their_own_and_no_addresses(benches: Workbenches, monkeypatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", "")
    ann, bo, cy = (sign_in(benches, name) for name in ("ann", "bo", "cy"))
    bench = benches.open(bo)
    save_key(bench, "BRAVE_API_KEY", "bos-own-key-0815")
    assert bench.config.BRAVE_API_KEY == "bos-own-key-0815 https://api.search.brave.com" and is_personal(
        bench.config
    )
    for other in (ann, cy):
        assert benches.open(other).config.BRAVE_API_KEY == ""
    for name in ("SEARXNG_URL", "OPENAI_BASE_URL", "REPLY_TOKEN", "OIDC_CLIENT_SECRET", "FETCH_ALLOW"):
        assert is_fixed(bench.config, name)
    with pytest.raises(UsageError, match="by an admin"):
        save_engine_setting(bench, "SEARXNG_URL", "http://10.0.0.1/")
    switch_engine(bench, "arxiv", on=False)
    benches.close_idle(0)
    assert benches.open(bo).config.ENGINES_OFF == ["arxiv"] and benches.open(cy).config.ENGINES_OFF == []


def test_only_who_runs_the_server_adds_folders_of_it(benches: Workbenches, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("The gate opens at seven.")
    ann, bo = (benches.open(sign_in(benches, name)) for name in ("ann", "bo"))
    assert len(ann.add_folder(str(tmp_path)).sources) == 1
    people = benches.accounts.people  # type: ignore[union-attr]
    people.set_role(sign_in(benches, "ann"), sign_in(benches, "bo").id, "admin")
    for opened in (bo, benches.open(sign_in(benches, "bo"))):
        with pytest.raises(UsageError, match="only whoever runs this server adds folders"):
            opened.add_folder(str(tmp_path))
        assert not opened.library.count()
    alone = Workbench(read_config({"TOUCHSTONE_DATA": str(tmp_path / "data"), "OLLAMA_URL": ""}))
    assert len(alone.add_folder(str(tmp_path)).sources) == 1
    alone.shutdown()


def test_the_settings_of_the_first_admin_hold_for_who_has_none(monkeypatch) -> None:
    config = read_config({**LOGIN, "BRAVE_API_KEY": "server-key-4711", "OPENAI_API_KEY": "sk-server-4711"})
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    opened = Workbenches(config)
    sign_in(opened, "ann")
    bench = opened.open(sign_in(opened, "bo"))
    assert bench.config.BRAVE_API_KEY == "server-key-4711 https://api.search.brave.com"
    field = describe_field(bench, "BRAVE_API_KEY")
    assert field.is_set and "4711" not in str(field)
    opened.close()


def test_what_the_first_admin_saves_reaches_who_is_at_work_and_outlives_closing(benches: Workbenches) -> None:
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    benches.open(bo)
    save_engine_setting(benches.open(ann), "SEARXNG_URL", "http://search.lan/")
    assert benches.open(bo).config.SEARXNG_URL == "http://search.lan/"
    assert "searxng" in benches.open(bo).worker.world("live").engines
    benches.close_idle(0)
    assert benches.open(bo).config.SEARXNG_URL == benches.open(ann).config.SEARXNG_URL == "http://search.lan/"


def test_deleted_data_is_in_the_bin_and_what_was_used_stays_counted(benches: Workbenches) -> None:
    sign_in(benches, "ann")
    run_id, bo = _demo(benches, "bo"), sign_in(benches, "bo")
    record_use(benches.accounts.quotas, bo.id, DayUse(tokens=7))
    target = benches.delete_data(bo)
    assert benches.open(bo).runs() == []
    assert benches.accounts.quotas.sum_day(bo.id).tokens == 7
    folder = target if benches.config.has_server_store else target / bo.id
    assert _list_binned_runs(benches, folder) == [run_id]


def test_while_data_is_deleted_nobody_else_waits_and_nothing_of_it_is_opened(
    benches: Workbenches, monkeypatch
) -> None:
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    leaving, shutdown = benches.open(bo), benches.open(bo).shutdown
    begun, end, found = threading.Event(), threading.Event(), []

    def shut_down_slowly() -> None:
        begun.set()
        end.wait(30)
        shutdown()

    def visit() -> None:
        found.append(benches.open(ann))
        for refused in (benches.open, benches.delete_data):
            try:
                refused(bo)
            except StoreError as told:
                found.append(str(told))

    monkeypatch.setattr(leaving, "shutdown", shut_down_slowly)
    deletion = threading.Thread(target=benches.delete_data, args=(bo,))
    visitor = threading.Thread(target=visit, daemon=True)
    deletion.start()
    assert begun.wait(30)
    visitor.start()
    visitor.join(10)
    served = list(found)
    end.set()
    deletion.join()
    visitor.join()
    assert served == [benches.open(ann), *["this data is being deleted: come back in a moment"] * 2]
    assert benches.open(bo).runs() == [] and len(benches.list_open()) == 2


def test_deletion_ends_links_and_forgets_keys_kept_in_memory(benches: Workbenches) -> None:
    sign_in(benches, "ann")
    run_id, bo = _demo(benches, "bo"), sign_in(benches, "bo")
    shares = benches.accounts.shares
    _, key = shares.create(bo, run_id)
    save_key(benches.open(bo), "BRAVE_API_KEY", "bo-key-0815")
    assert benches.open(bo).config.saved.is_held("BRAVE_API_KEY"), "there is no key to encrypt it with"
    benches.delete_data(bo)
    assert benches.open(bo).config.BRAVE_API_KEY == ""
    with pytest.raises(NotFound):
        shares.find(key)


def test_a_workbench_that_is_asked_for_while_idle_ones_are_closed_stays_open(
    benches: Workbenches, monkeypatch
) -> None:
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    first, second = benches.open(ann), benches.open(bo)
    for held in benches._open.values():
        held.used_at -= 100
    shutdown = first.shutdown

    def shut_down_slowly() -> None:
        shutdown()
        benches.open(bo)  # bo comes back meanwhile

    monkeypatch.setattr(first, "shutdown", shut_down_slowly)
    assert benches.close_idle(60) == 1
    assert benches.list_open() == [second] and second.runs() == []


def test_the_runs_of_who_may_not_sign_in_any_more_do_not_go_on(benches: Workbenches, monkeypatch) -> None:
    sign_in(benches, "ann")
    _demo(benches, "bo")
    benches.close()
    monkeypatch.setenv("ALLOWED_EMAILS", "ann@example.org")
    later = Workbenches(read_config())
    monkeypatch.setattr(later._closing, "wait", lambda timeout: True)
    later._keep_house()
    assert later.list_open() == []
    later.close()


def test_the_first_admin_deletes_runs_and_not_the_data_of_others(benches: Workbenches) -> None:
    mine = _demo(benches, "ann")
    others, ann = _demo(benches, "bo"), sign_in(benches, "ann")
    target = benches.delete_data(ann)
    assert _list_binned_runs(benches, target) == [mine] and benches.open(ann).runs() == []
    assert [run.id for run in benches.open(sign_in(benches, "bo")).runs()] == [others]
    assert benches.accounts.audit.list(1)[0].action == "delete data"


def test_who_is_blocked_is_shut_out_at_once(benches: Workbenches) -> None:
    ann, bo = sign_in(benches, "ann"), sign_in(benches, "bo")
    benches.open(bo)
    benches.shut_out(ann, bo.id)
    assert benches.list_open() == []
    with pytest.raises(SignInRefused, match="blocked"):
        sign_in(benches, "bo")


def test_at_the_start_those_are_opened_who_have_unfinished_runs_and_are_not_blocked(
    benches: Workbenches,
) -> None:
    ann = sign_in(benches, "ann")
    working, _ = _demo(benches, "bo"), _demo(benches, "cy")
    benches.open(sign_in(benches, "di"))
    benches.shut_out(ann, sign_in(benches, "cy").id)
    benches.close()
    later = Workbenches(read_config())
    later.start()
    wait_for(lambda: later.list_open())
    assert [[run.id for run in bench.runs()] for bench in later.list_open()] == [[working]]
    later.close()


def test_accounts_that_cannot_be_read_for_a_moment_are_read_again(benches: Workbenches, monkeypatch) -> None:
    asked = list[str]()

    def list_people() -> list[Person]:
        asked.append("again")
        if len(asked) < 3:
            raise StoreError("the database is away")
        return []

    monkeypatch.setattr(benches.accounts.people, "list", list_people)
    monkeypatch.setattr(benches._closing, "wait", lambda _timeout: len(asked) > 2)
    benches._keep_house()
    assert len(asked) == 3


@pytest.mark.slow
@pytest.mark.parametrize("on_both_databases", ["sqlite"], indirect=True)
def test_a_schedule_that_is_due_opens_the_workbench_of_its_person(benches: Workbenches, monkeypatch) -> None:
    bo = sign_in(benches, "bo")
    schedules.create(benches.open(bo), "?", Settings(world="demo"), when="daily", zone="UTC")
    benches.close()
    later = Workbenches(read_config())

    def wait(_timeout: float) -> bool:
        """The second time its time has come."""
        if later.list_open():
            return True
        opened = Store(f"sqlite:///{later.folder_of(bo) / 'touchstone.db'}")
        [made] = opened.schedules.list_newest()
        opened.schedules.move(made.id, lambda *_: {"next_at": 1.0})
        opened.close()
        return False

    monkeypatch.setattr(later._closing, "wait", wait)
    later._keep_house()
    [bench] = later.list_open()
    bench.worker.scheduler.fire_due()
    assert bench.store.schedules.list_newest()[0].fired == 1
    later.close()
