"""A bundle opened as a run on another workbench: equal in content, marked, at rest; a changed one is
refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.actions.bundles import import_bundle, verify_bundle
from agent.actions.export import export_run
from agent.actions.validation import clamp_imported_settings
from agent.engine.state import Change
from agent.errors import BundleError
from agent.export import bundle
from agent.export.bundle import BundleContents
from agent.types import CollectLimits, Settings, SiteLimits, Status
from agent.workbench import Workbench
from tests.tables import by_table
from tests.web.folders import page, write_world

pytestmark = pytest.mark.slow


@pytest.fixture
def other(tmp_path, monkeypatch, request):
    if "bench" in request.fixturenames:
        request.getfixturevalue("bench")  # it opens the test's own folder first
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path / "other"))
    opened = Workbench()
    yield opened
    opened.shutdown()


def content(data: bytes) -> BundleContents:
    """What a bundle tells, without what an import adds: its own step and mark, and when it came."""
    told = bundle.read_bundle(data)
    steps = [step for step in told.steps if step.name != "import"]
    run = told.run.model_copy(update={"imported": "", "updated_at": "", "steps": steps[-1].n})
    return replace(told, steps=steps, run=run)


def test_import_then_export_gives_equal_content(bench, other, ran):
    run_id = ran()
    data = export_run(bench, run_id, "bundle")
    came = import_bundle(other, data)
    assert (came.run_id, came.original_id, came.is_renamed) == (run_id, run_id, False)
    again = export_run(other, run_id, "bundle")
    assert content(again) == content(data) and verify_bundle(again).is_valid
    assert export_run(other, run_id, "bundle") == again
    for name in ("csv", "pages.csv", "bib", "ris", "csl", "graphml"):
        assert export_run(other, run_id, name) == export_run(bench, run_id, name), name


def test_it_is_marked_rests_and_stays_out_of_the_library(other, made):
    came = import_bundle(other, made)
    view = other.snapshot(came.run_id)
    assert view.run.imported == came.verification.sha256 and other.runs()[0].imported
    assert (
        view.run.status is Status.REVIEW and view.steps[-1].name == "import" and view.steps[-1].by == "person"
    )
    assert view.state.answer == came.verification.state.answer and view.run.verdict
    other.library.index_pending()
    assert not other.library.sources()
    assert other.thread(came.run_id) == [came.run_id]
    assert (
        f"Imported from another workbench's bundle (SHA-256 {came.verification.sha256})"
        in export_run(other, came.run_id, "evidence.md").decode()
    )


def test_an_id_that_is_taken_gets_another_and_nothing_of_ours_is_touched(bench, made):
    run_id = import_bundle(bench, made).run_id
    before, calls = bench.snapshot(run_id), bench.calls(run_id)
    came = import_bundle(bench, made)
    assert came.is_renamed and came.run_id != run_id
    assert bench.snapshot(run_id) == before and bench.calls(run_id) == calls
    assert len(bench.calls(came.run_id)) == 1 and bench.calls(came.run_id)[0].key != calls[0].key
    assert verify_bundle(export_run(bench, came.run_id, "bundle")).is_valid
    twice = import_bundle(bench, made)
    assert len({twice.run_id, came.run_id, run_id}) == 3 and len(bench.calls(twice.run_id)) == 1


def test_a_call_with_a_made_up_key_cannot_answer_for_one_of_ours(other, made):
    told = bundle.read_bundle(made)
    forged = replace(told, calls=[told.calls[0].model_copy(update={"key": "ab" * 32})])
    came = import_bundle(other, bundle.write_bundle(forged))
    assert other.store.calls.recall("ab" * 32) is None and len(other.calls(came.run_id)) == 1


def test_a_strange_id_is_not_taken_over(other, made):
    told = bundle.read_bundle(made)
    unspent = told.usage.model_copy(update={"llm_calls": 0, "prompt_tokens": 0, "cost_usd": 0.0})
    forged = replace(told, run=told.run.model_copy(update={"id": "../../<b>"}), calls=[], usage=unspent)
    assert import_bundle(other, bundle.write_bundle(forged)).run_id.isalnum()


def test_a_changed_bundle_is_refused_and_nothing_is_put_in(other, made):
    at = made.index(b"bridge reopened")
    with pytest.raises(BundleError, match="cannot be imported"):
        import_bundle(other, made[:at] + b"B" + made[at + 1 :])
    assert other.runs() == []


def test_a_run_that_was_to_go_on_rests_and_can_be_resumed(bench, other):
    run_id = bench.start(
        "How many people does Älvmora Mejeri employ?", Settings(world="demo", model="keyless")
    )
    bench.drive(run_id, watch=lambda: bench.store.ledger.control(run_id) or bench.act(run_id, "pause"))
    assert bench.snapshot(run_id).run.status is Status.PAUSED
    told = bundle.read_bundle(export_run(bench, run_id, "bundle"))
    as_if = replace(told, run=told.run.model_copy(update={"status": Status.RUNNING}))
    came = import_bundle(other, bundle.write_bundle(as_if))
    assert other.snapshot(came.run_id).run.status is Status.PAUSED
    assert other.store.ledger.list_claimable() == []
    other.act(came.run_id, "resume")
    assert other.drive(came.run_id) is Status.REVIEW and "31" in other.snapshot(came.run_id).state.answer.text


def test_a_page_that_is_read_here_later_is_ours_and_goes_on_the_shelf(bench, made):
    import_bundle(bench, made)
    bench.library.index_pending()
    assert not bench.library.sources()
    told = next(iter(bundle.read_bundle(made).pages.values()))
    page_id = bench.store.pages.put(
        read := told.model_copy(update={"title": "As it was read", "links": [], "raw": b"read"})
    )
    assert bench.store.pages.get(page_id, raw=True) == read
    bench.library.index_pending()
    assert [source.title for source in bench.library.sources()] == ["As it was read"]


def test_settings_are_not_taken_as_they_are(bench, other, tmp_path):
    """No folder is opened and no budget taken because a bundle says so; and what was changed is told, and
    holds when it leaves again."""
    name = write_world(
        tmp_path / "w",
        [page("https://lund.example/", "Lund farm", "Lund farm keeps 31 cows on its 62 hectares.")],
    )
    greedy = Settings(
        world=name,
        model="keyless",
        max_cost_usd=5000.0,
        max_calls=10**6,
        max_steps=500,
        collect=CollectLimits(max_pages=10**6),
    )
    run_id = bench.start("How many cows does Lund farm keep?", greedy)
    bench.drive(run_id)
    view = other.snapshot(import_bundle(other, export_run(bench, run_id, "bundle")).run_id)
    kept = view.run.settings
    assert (kept.world, kept.max_cost_usd, kept.max_calls, kept.max_steps, kept.collect.max_pages) == (
        "live",
        2.0,
        60,
        12,
        60,
    )
    assert view.state.settings == kept and view.state.answer
    assert [refusal.what for refusal in view.state.refusals if refusal.step == view.head] == [
        f"the world {name[:80]}",
        "the limits of the bundle",
    ]
    assert verify_bundle(export_run(other, view.run.id, "bundle")).is_valid


def forged(data: bytes, change: Callable[[Change], Change], **settings: object) -> bytes:
    """The bundle with each step's change made another, and other settings in the run and its steps."""
    told = bundle.read_bundle(data)
    new = told.run.settings.model_copy(update=settings)
    own = {"settings": new.model_dump(mode="json")}
    steps = [
        step.model_copy(
            update={"change": change({**step.change, **(own if "settings" in step.change else {})})}
        )
        for step in told.steps
    ]
    return bundle.write_bundle(replace(told, run=told.run.model_copy(update={"settings": new}), steps=steps))


@by_table
def test_a_choice_of_sources_that_cannot_be_is_refused(other, made, strange):
    with pytest.raises(BundleError, match="cannot be imported: "):
        import_bundle(other, forged(made, dict, **strange))
    assert not other.runs()


@pytest.mark.parametrize("world", ["live", "demo"])
def test_settings_below_the_defaults_stay(world):
    for settings in (
        Settings(world=world),
        Settings(world=world, max_steps=6, threshold=0.5, site=SiteLimits(max_pages=50)),
    ):
        assert clamp_imported_settings(settings) == settings
    assert clamp_imported_settings(Settings(world=world, max_steps=-5)).max_steps == 0
