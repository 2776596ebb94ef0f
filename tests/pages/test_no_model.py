"""What grows out of a run or form with “No model” on the screens, while a model server is set up and counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from agent.batch import jobs
from agent.workbench import Workbench
from pages.widgets.batch import form as batch_form
from pages.widgets.reply import bot_services
from pages.widgets.reply import form as reply_form
from pages.widgets.shell import client
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


def test_a_branch_stays_without_a_model(app: App, bench: Workbench, demo, server: ModelServer) -> None:
    parent = demo(QUESTION)
    tester = app("research", run=parent)
    assert bench.active_configuration().model == "served"
    next(one for one in tester.button if (one.key or "").startswith("research-fork-")).click().run()
    chosen = next(one for one in tester.selectbox if one.label == "Model")
    assert chosen.value == "keyless" and not tester.exception
    next(one for one in tester.button if (one.key or "").startswith("research-fork-start")).click().run()
    [branch] = [run for run in bench.runs() if run.forked_from == parent]
    assert branch.settings.model == "keyless"
    _drive_all(bench)
    assert server.requests == []


@pytest.mark.parametrize("n", range(len(reply_form.EXAMPLES)))
def test_an_example_of_reply_uses_the_model_that_is_chosen(
    app: App, bench: Workbench, server: ModelServer, n: int
) -> None:
    tester = app("reply")
    tester.selectbox(key="reply-model").set_value("keyless").run()
    tester.button(key=f"reply-example-{n}").click().run()
    for thread in threading.enumerate():
        if thread.name.startswith("reply-"):
            thread.join(20)
    assert not tester.exception and server.requests == []


def test_the_example_of_batch_uses_the_model_that_is_chosen(
    app: App, bench: Workbench, server: ModelServer
) -> None:
    tester = app("batch")
    tester.selectbox(key="batch-model").set_value("keyless").run()
    next(one for one in tester.button if batch_form.EXAMPLE_LABEL in one.label).click().run()
    [batch] = bench.store.batches.list_newest(limit=2)
    assert batch.settings.model == "keyless"
    jobs.drive(bench, batch.id, lambda now: None, threading.Event())
    assert server.requests == []


@pytest.mark.parametrize("flow", ["research", "site", "collect", "check_text", "chat"])
def test_every_other_example_uses_the_model_that_is_chosen(
    app: App, bench: Workbench, server: ModelServer, flow: str
) -> None:
    client.library().add_file("ferry.md", b"# Ferries\n\nThe ferry Vinga was launched in 1956.\n")
    tester = app("" if flow == "research" else flow)
    tester.selectbox(key=f"{flow}-model").set_value("keyless").run()
    tester.button(key=f"{'check_text' if flow == 'check_text' else flow}-example-0").click().run()
    [run] = bench.runs()
    assert run.settings.model == "keyless" and not tester.exception
    _drive_all(bench)
    assert server.requests == []
