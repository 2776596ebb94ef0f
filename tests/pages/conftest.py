"""A workbench of its own for every screen test, and the whole app as Streamlit's own tester sees it. No
network: it seems offline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from agent.settings.config import ROOT
from agent.types import Settings
from agent.workbench import Workbench
from pages.widgets.shell import client
from tests.web.engine_answers import NOWHERE

manifest_scanner.scan_component_manifests = list
"""Streamlit's tester looks through every installed package for components at each run of the app: there are
none of ours."""

QUESTION = "How many people does Älvmora Mejeri employ?"


@pytest.fixture(autouse=True)
def _own_workbench(_own_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Screens open a workbench of the test's own, without workers: a test drives its runs itself."""
    monkeypatch.setenv("DDG_ENDPOINT", "http://127.0.0.1:9/")  # nobody listens there
    monkeypatch.setenv("ENGINE_URLS", NOWHERE)
    monkeypatch.setattr(Workbench, "start_workers", lambda self: None)
    client.close()
    st.cache_data.clear()
    yield
    client.close()


@pytest.fixture
def bench(_own_workbench: None) -> Workbench:
    """The workbench behind the screens."""
    return client.workbench()


@pytest.fixture
def app() -> Callable[..., AppTest]:
    """The app at an address: `app("runs")`, `app(run=run_id)`."""

    def opened(page: str = "", **query: str) -> AppTest:
        tester = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        for name, value in query.items():
            tester.query_params[name] = value
        tester.run()
        if page:
            tester.switch_page(f"pages/{page}.py")
            for name, value in query.items():
                tester.query_params[name] = value
            tester.run()
        return tester

    return opened


@pytest.fixture
def demo(bench: Workbench) -> Callable[..., str]:
    """A run of the demo world, driven until it rests."""

    def ran(question: str = QUESTION, **settings: object) -> str:
        run_id = bench.start(question, Settings(world="demo", model="keyless", **settings))  # type: ignore[arg-type]
        bench.drive(run_id)
        return run_id

    return ran


def find_button(tester: AppTest, label: str) -> Any:
    """The first button whose label, or its part before a remark, is this."""
    names = ((one, one.label.replace("\\", "")) for one in tester.button)
    return next(one for one, name in names if label in (name, name.split(" *")[0].split("  \n")[0]))


def shown(tester: AppTest) -> str:
    """Everything the screen shows as HTML, Markdown or text, in one string."""
    kinds = ("html", "markdown", "text", "caption", "info", "warning", "success", "error", "code")
    said = [
        str(element.value if hasattr(element, "value") else element.proto)
        for kind in kinds
        for element in tester.get(kind)
    ]
    panes = [json.loads(pane.proto.json or "{}") for pane in tester.get("bidi_component")]
    return "\n".join([*said, *(pane.get("html", "") for pane in panes)])


def open_tab(tester: AppTest, name: str, flow: str = "research") -> str:
    """Open a tab beside the answer; everything that is shown then."""
    tester.session_state[f"{flow}-tab"] = name
    return shown(tester.run())
