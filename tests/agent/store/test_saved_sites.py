"""Desks are kept by name, replaced, dropped, and refused when they could not be asked."""

from __future__ import annotations

import pytest

from agent.errors import UsageError
from agent.types import Settings

LOGGERS = Settings(
    flow="site", start_urls=["https://kallsteg.example/"], instruction="Be brief", thread_id="t"
)


def test_kept_replaced_dropped(bench):
    bench.save_site(" Loggers ", LOGGERS)
    bench.save_site("Loggers", LOGGERS.model_copy(update={"instruction": "At length"}))
    bench.save_site("Dairy", LOGGERS)
    assert list(bench.store.saved_sites.all()) == ["Dairy", "Loggers"]
    kept = bench.store.saved_sites.all()["Loggers"]
    assert (kept.instruction, kept.thread_id, kept.start_urls) == ("At length", "", LOGGERS.start_urls)
    bench.store.saved_sites.drop("Loggers")
    bench.store.saved_sites.drop("Nobody")
    assert list(bench.store.saved_sites.all()) == ["Dairy"]


def test_a_desk_needs_a_name_and_a_start(bench):
    with pytest.raises(UsageError, match="name"):
        bench.save_site(" ", LOGGERS)
    with pytest.raises(UsageError, match="start from"):
        bench.save_site("Empty", Settings(flow="site"))
