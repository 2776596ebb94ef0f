"""What grows out of a run or form with “No model” on the screens, while a model server is set up and counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from agent.actions.server_settings import save_model_setting
from agent.batch import jobs
from agent.types import Settings, Status
from agent.workbench import Workbench
from pages.widgets.reply import bot_services
from pages.widgets.shell import client
from tests.pages.conftest import shown
from tests.web.model_server import ModelServer

pytestmark = pytest.mark.slow
App = Callable[..., AppTest]
QUESTION = "How many people does Älvmora Mejeri employ?"


@pytest.fixture(autouse=True)
def server(_own_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(lambda request: "{}", models=["served"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server
        bot_services.close()


def _drive_all(bench: Workbench) -> None:
    for run in bench.runs():
        bench.drive(run.id)


def test_the_example_of_batch_uses_the_model_that_is_chosen(
    app: App, bench: Workbench, server: ModelServer
) -> None:
    assert bench.worker.model_search.find().client
    tester = app("batch")
    tester.selectbox(key="batch-model").set_value("keyless").run()
    tester.button(key="batch-example").click().run()
    [batch] = bench.store.batches.list_newest(limit=2)
    assert batch.settings.model == "keyless"
    jobs.drive(bench, batch.id, lambda now: None, threading.Event())
    assert server.requests == []


@pytest.mark.parametrize("flow", ["research", "site", "collect", "check_text", "chat"])
def test_every_other_example_uses_the_model_that_is_chosen(
    app: App, bench: Workbench, server: ModelServer, flow: str
) -> None:
    client.library().add_file("ferry.md", b"# Ferries\n\nThe ferry Vinga was launched in 1956.\n")
    assert bench.worker.model_search.find().client
    tester = app("" if flow == "research" else flow)
    next(one for one in tester.selectbox if one.label == "Model").set_value("keyless").run()
    tester.button(key=f"{'check_text' if flow == 'check_text' else flow}-example-0").click().run()
    [run] = bench.runs()
    assert run.settings.model == "keyless" and not tester.exception
    _drive_all(bench)
    assert server.requests == []


def test_another_server_is_a_choice_that_is_told(app: App, bench: Workbench, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    client.close()
    bench = client.workbench()
    with ModelServer(lambda request: "{}", models=["served"]) as first:
        save_model_setting(bench, "OPENAI_BASE_URL", first.url)
        assert bench.worker.model_search.find().client
        run_id = bench.start(QUESTION, Settings(world="demo", max_calls=2))
        bench.drive(run_id)
    view = bench.snapshot(run_id)
    assert view.run.settings.served_by and view.run.status is Status.REVIEW
    assert bench.explain_other_model(view.run.settings) == ""
    with ModelServer(lambda request: "{}", models=["served"]) as second:
        save_model_setting(bench, "OPENAI_BASE_URL", second.url)
        assert bench.worker.model_search.find().client
        told = f"Set up now: served at {second.url.removesuffix('/v1').removeprefix('http://')}"
        assert told in bench.explain_other_model(view.run.settings)
        tester = app("research", run=run_id)
        assert told in shown(tester).replace("\\", "") and not tester.exception
        assert any(one.label == "Go on without a model" for one in tester.button)
        chosen = tester.selectbox(key=f"next-{run_id}-model")
        assert chosen.value == "auto"
        chosen.set_value("keyless").run()
        tester.chat_input(key=f"ask-{run_id}").set_value("Who?").run()
        [follow_up] = [run for run in bench.runs() if run.settings.thread_id]
        assert follow_up.settings.model == "keyless" and not follow_up.settings.served_by
        bench.drive(follow_up.id)
        assert second.requests == []
        branch = bench.snapshot(bench.act(run_id, "fork", step=1)).run.settings
        assert branch.served_by not in ("", view.run.settings.served_by)
        assert bench.explain_other_model(branch) == "", "the branch was started with it"
        bench.act(run_id, "send_back", bench.snapshot(run_id).head, note="Search again.")
        bench.drive(run_id)
        paused = app("research", run=run_id)
        assert "another one is set up" in shown(paused) and second.requests == []
        assert [one.label for one in paused.button if one.label in ("Resume", "Raise it and continue")] == [
            "Resume"
        ]
        next(one for one in paused.button if one.label.startswith("Go on with served")).click().run()
        assert bench.snapshot(run_id).run.status is Status.RUNNING and not paused.exception
        assert bench.explain_other_model(bench.snapshot(run_id).run.settings) == ""
        bench.act(run_id, "drop_model")
        assert bench.explain_other_model(bench.snapshot(run_id).run.settings) == ""
        save_model_setting(bench, "OPENAI_BASE_URL", "")
        assert not bench.worker.model_search.find().client
        assert "Set up now: no model" in bench.explain_other_model(view.run.settings)
