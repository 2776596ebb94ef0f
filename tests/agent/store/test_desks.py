"""Desks are kept by name, replaced, dropped, and refused when they could not be asked."""

from __future__ import annotations

import pytest

from agent import config
from agent.errors import UsageError
from agent.types import Settings
from agent.workbench import Workbench

LOGGERS = Settings(flow="site", start_urls=["https://kallsteg.example/"], instruction="Be brief", thread_id="t")


@pytest.fixture
def bench():
    opened = Workbench(config.read())
    yield opened
    opened.shutdown()


def test_kept_replaced_dropped(bench):
    bench.keep_desk(" Loggers ", LOGGERS)
    bench.keep_desk("Loggers", LOGGERS.model_copy(update={"instruction": "At length"}))
    bench.keep_desk("Dairy", LOGGERS)
    assert list(bench.desks()) == ["Dairy", "Loggers"]
    kept = bench.desks()["Loggers"]
    assert (kept.instruction, kept.thread_id, kept.start_urls) == ("At length", "", LOGGERS.start_urls)
    bench.drop_desk("Loggers")
    bench.drop_desk("Nobody")
    assert list(bench.desks()) == ["Dairy"]


def test_a_desk_needs_a_name_and_a_start(bench):
    with pytest.raises(UsageError, match="name"):
        bench.keep_desk(" ", LOGGERS)
    with pytest.raises(UsageError, match="start from"):
        bench.keep_desk("Empty", Settings(flow="site"))
