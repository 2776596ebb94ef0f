"""The Export menu and the way in for bundles, on the screens."""

from __future__ import annotations

import pytest

from agent.actions.bundles import import_bundle
from agent.actions.export import export_run, list_formats
from agent.types import Settings
from pages.widgets.run import export_menu
from tests.pages.conftest import QUESTION, shown

pytestmark = pytest.mark.slow

SITE = {"flow": "site", "start_urls": ["https://www.alvmora-mejeri.example/"]}


def labels(tester) -> list[str]:
    return [button.label for button in tester.get("download_button")]


@pytest.mark.parametrize(("page", "settings"), [("research", {}), ("site", SITE), ("chat", {"flow": "chat"})])
def test_every_format_is_offered_when_the_menu_is_opened_and_none_before(app, demo, page, settings):
    run_id = demo(**settings)
    tester = app(page, run=run_id)
    assert not tester.exception and labels(tester) == []
    tester.session_state[f"export-{run_id}"] = True
    tester.run()
    assert not tester.exception and sorted(labels(tester)) == sorted(
        chosen.label for chosen in list_formats(settings.get("flow", "research"))
    )


def test_the_menu_says_first_how_many_sentences_stay_here(app, demo, monkeypatch):
    run_id = demo()
    monkeypatch.setattr(
        export_menu, "describe_withheld", lambda _bench, run: f"2 sentences of {run} stay here."
    )
    tester = app("research", run=run_id)
    tester.session_state[f"export-{run_id}"] = True
    tester.run()
    assert f"2 sentences of {run_id} stay here." in [caption.value for caption in tester.caption]


def test_a_collecting_run_offers_its_articles_too(app, bench):
    settings = Settings(
        flow="collect", world="demo", model="keyless", start_urls=["https://borskvart.example/stock/KALL"]
    )
    run_id = bench.start("What do members say about Kallsteg?", settings)
    bench.drive(run_id)
    tester = app("collect", run=run_id)
    tester.session_state[f"export-{run_id}"] = True
    tester.run()
    assert not tester.exception and "Articles and posts (CSV)" in labels(tester)
    assert "Evidence bundle" in labels(tester)


def test_an_imported_conversation_says_so(app, bench):
    run_id = bench.start(QUESTION, Settings(flow="chat", world="demo", model="keyless"))
    bench.drive(run_id)
    came = import_bundle(bench, export_run(bench, run_id, "bundle"))
    tester = app("chat", run=came.run_id)
    assert not tester.exception and "opened from an evidence bundle" in shown(tester)
