"""A text checked in a small world: each mark, what a stop and a person do, and what a model adds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent import api
from agent.actions import page_input
from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.errors import NotFound, UsageError
from agent.flows.check_text import steps
from agent.types import CheckTextSettings, MarkedSentence, Settings, Status
from agent.workbench import RunSnapshot, Workbench
from tests.web.claim_judge import check_reply
from tests.web.folders import page, write_world
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

MILL, TOWN, GONE, TABLE = (f"https://{name}.example/page" for name in ("mill", "town", "gone", "table"))
PAGES = [
    page(MILL, "The mill of Ekvik", "The mill of Ekvik opened in 1902. It has 12 windows and a red door. Nobody lives in it."),
    page(TOWN, "Ekvik", "Ekvik is a town by a lake. Its market is held on Saturdays, except in July."),
    page(GONE, "Gone", "Not here.", status=404),
    page(
        TABLE,
        "Mills",
        "",
        html="<html><head><title>Mills</title></head><body><main><h1>Mills of the province</h1><p>This table lists the "
        "mills of the province by their town, with the year in which each of them was built.</p><table><tr><th>Town</th>"
        "<th>Built</th></tr><tr><td>Ekvik</td><td>1902</td></tr><tr><td>Sundby</td><td>1888</td></tr></table></main></body></html>"
    )
]  # fmt: skip
Check = Callable[..., RunSnapshot]


@pytest.fixture
def world(tmp_path: Path) -> str:
    return write_world(tmp_path / "world", PAGES)


@pytest.fixture
def check(bench: Workbench, world: str) -> Check:
    """Check a text in that world; returns the run at rest."""

    def checked(text: str, *, rests: Status = Status.DONE, model: str = "keyless", **own: Any) -> RunSnapshot:
        settings = Settings(world=world, model=model, check_text=CheckTextSettings(**own))
        run_id = api.start_text_check(bench, api.PASTED_NAME, text.encode(), settings)
        assert bench.drive(run_id) is rests, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id)

    return checked


def marked(view: RunSnapshot) -> list[MarkedSentence]:
    found = view.state.own.checked_text(view.state)
    assert found is not None
    return found.claims


def marks(view: RunSnapshot) -> list[str]:
    return [str(one.mark) for one in marked(view)]


def play(bench: Workbench, judge: Callable[[str, list[str]], bool], **more: Any) -> ScriptedModel:
    """A model that judges claims like this, and calls the sentences numbered `no_claims` no claims."""

    def reply(messages: list[dict[str, str]], shape: Any) -> Any:
        if shape.__name__ == "FindClaimsReply":
            return {"no_claims": more.get("no_claims", [])}
        said = check_reply("\n".join(m["content"] for m in messages), shape.__name__, judge)
        for claim in said["claims"]:
            claim["contradicted"] = more.get("contradicted", False)
        return said

    model = ScriptedModel(reply)
    bench.worker.model_client = lambda name, fast="": (model, "")  # type: ignore[method-assign]
    return model


def test_other_words_are_not_checked_without_a_model_and_the_closest_are_shown(check: Check) -> None:
    (one,) = marked(check(f"People go to the market of Ekvik on Saturdays [1].\n\n[1] {TOWN}"))
    assert one.mark == "not_checked" and one.closest == "Its market is held on Saturdays, except in July."


def test_a_difference_that_nobody_judged_is_a_problem_to_look_at(check: Check) -> None:
    text = f"The bakery by the harbour sold 400 loaves on its best day [1].\n\nPeople go there often [1].\n\n[1] {MILL}"
    view = check(text)
    differing, other = marked(view)
    assert (differing.mark, differing.is_problem, differing.label) == (
        "not_checked",
        True,
        "not checked, differs from its source",
    )
    assert "400" in differing.reason and not other.is_problem
    assert view.state.answer.certainty == "2 claims: 2 not checked, 1 of them differing from the source"


def test_a_dead_link_a_missing_address_and_no_citation(check: Check) -> None:
    text = f"Ekvik has a mill [1].\n\nEkvik has a church [2].\n\nEkvik has a school.\n\n[1] {GONE}\n[2] Berg, Churches"
    view = check(text)
    assert marks(view) == ["unavailable", "unavailable", "no_source"]
    dead, nameless, _ = marked(view)
    assert "404" in dead.reason and "Berg, Churches" in nameless.reason
    assert view.state.answer.certainty == "3 claims: 2 source unavailable, 1 without a source"


def test_a_person_is_asked_at_the_page_budget_and_more_pages_go_on(bench: Workbench, world: str) -> None:
    text = f"The mill of Ekvik opened in 1902 ({MILL}).\n\nEkvik is a town by a lake ({TOWN})."
    settings = Settings(world=world, model="keyless", at_cap="ask", check_text=CheckTextSettings(max_pages=1))
    run_id = api.start_text_check(bench, "t.md", text.encode(), settings)
    assert bench.drive(run_id) is Status.PAUSED
    halt = bench.snapshot(run_id).state.halt
    assert halt is not None and (halt.kind, halt.cap) == ("pages", 1)
    bench.act(run_id, "finish")
    assert bench.drive(run_id) is Status.DONE
    assert marks(bench.snapshot(run_id)) == ["supported", "unavailable"]


def test_a_text_that_cannot_be_read_says_why_and_can_be_tried_again(bench: Workbench, world: str) -> None:
    run_id = api.start_address_check(bench, GONE, Settings(world=world, model="keyless"))
    assert bench.drive(run_id) is Status.DONE
    view = bench.snapshot(run_id)
    assert view.state.own.checked_text(view.state) is None and "404" in view.state.answer.certainty
    bench.act(run_id, "retry", what=GONE)
    assert bench.drive(run_id) is Status.DONE
    assert len(bench.snapshot(run_id).state.answers) == 2
    bench.act(run_id, "supply", url=GONE, text=f"The mill of Ekvik opened in 1902 ({MILL}).")
    assert bench.drive(run_id) is Status.DONE
    assert marks(bench.snapshot(run_id)) == ["supported"]


@pytest.mark.parametrize("data", [b"", b"   \n"])
def test_an_empty_text_is_refused(bench: Workbench, data: bytes) -> None:
    with pytest.raises(UsageError):
        api.start_text_check(bench, "text.md", data, Settings(world="demo"))
    assert bench.runs() == []


@pytest.mark.parametrize("given", ["paste", "upload"])
def test_a_reference_without_an_address_can_be_given_its_page(
    check: Check, bench: Workbench, given: str
) -> None:
    text = "Ekvik has a mill [1]. Ekvik has a school [2].\n\n[1] Berg, Mills of Ekvik, 1998\n[2] Lind, Schools, 1999"
    view = check(text)
    assert marks(view) == ["unavailable", "unavailable"]
    [first, second] = page_input.list_failed_requests(view.state)
    assert (first.kind, first.what, first.can_supply, first.can_retry) == ("Reference", "[1]", True, False)
    assert "Mills of Ekvik" in first.reason and second.what == "[2]"
    said = "Ekvik has a mill. That is all there is to say of it."
    if given == "paste":
        bench.act(view.run.id, "supply", url="[1]", text=said)
    else:
        bench.act(view.run.id, "supply", url="[1]", file={"name": "mills.txt", "data": said.encode()})
    assert bench.drive(view.run.id) is Status.DONE
    again = bench.snapshot(view.run.id)
    assert marks(again) == ["supported", "unavailable"]
    assert [one.what for one in page_input.list_failed_requests(again.state)] == ["[2]"]
    assert verify_bundle(export_run(bench, view.run.id, "bundle")).is_valid


def test_a_person_overrules_a_mark_with_a_reason(check: Check, bench: Workbench) -> None:
    view = check("Ekvik has a school.")
    (one,) = marked(view)
    with pytest.raises(UsageError, match="why"):
        bench.act(view.run.id, "overrule", sentence=one.sentence.id, mark="supported", reason=" ")
    with pytest.raises(NotFound):
        bench.act(view.run.id, "overrule", sentence="s99", mark="supported", reason="I know it.")
    bench.act(view.run.id, "overrule", sentence=one.sentence.id, mark="supported", reason="I went there.")
    (said,) = marked(bench.snapshot(view.run.id))
    assert (said.mark, said.automatic, said.overruled) == ("supported", "no_source", "I went there.")
    assert "by a person" in export_run(bench, view.run.id, "md").decode()


def test_a_search_finds_sources_for_claims_that_cite_none(check: Check) -> None:
    text = "The mill of Ekvik opened in 1902.\n\nNobody has ever counted the stars of Quarnis."
    assert marks(check(text)) == ["no_source", "no_source"]
    view = check(text, search_missing=True)
    found, other = marked(view)
    assert found.mark == "supported" and MILL in found.sentence.found and "cites nothing" in found.reason
    assert other.mark == "no_source"


def test_another_process_goes_on_where_the_first_ended(
    check: Check, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "A_STEP", 1)
    text = f"The mill of Ekvik opened in 1902 ({MILL}).\n\nEkvik is a town by a lake ({TOWN})."
    settings = Settings(world=check("One claim.").run.settings.world, model="keyless")
    run_id = api.start_text_check(bench, "t.md", text.encode(), settings)
    seen: list[int] = []

    def stop_after_two() -> None:
        seen.append(1)
        if len(seen) == 2:
            bench.act(run_id, "stop")

    assert bench.drive(run_id, watch=stop_after_two) is Status.STOPPED
    before = bench.snapshot(run_id)
    assert len(before.state.actions) == 1
    other = Workbench(bench.config)
    try:
        other.act(run_id, "resume")
        assert other.drive(run_id) is Status.DONE
        after = other.snapshot(run_id)
    finally:
        other.shutdown()
    assert marks(after) == ["supported", "supported"]
    assert after.steps[: before.head + 1] == before.steps, "nothing recorded is lost or done again"
    assert [action.query_or_url for action in after.state.actions] == [MILL, TOWN]


def test_finishing_early_compares_the_rest_by_code(check: Check, bench: Workbench) -> None:
    text = f"The mill of Ekvik opened in 1902 ({MILL}).\n\nEkvik has a school."
    settings = Settings(world=check("One claim.").run.settings.world, model="keyless")
    run_id = api.start_text_check(bench, "t.md", text.encode(), settings)
    bench.drive(run_id, watch=lambda: bench.snapshot(run_id).head == 1 and bench.act(run_id, "pause"))
    bench.act(run_id, "finish")
    assert bench.drive(run_id) is Status.DONE
    unread, uncited = marked(bench.snapshot(run_id))
    assert (unread.mark, uncited.mark) == ("unavailable", "no_source")
    assert "not asked for before the check ended" in unread.reason


def test_a_model_can_say_that_a_source_says_otherwise(check: Check, bench: Workbench) -> None:
    play(bench, lambda statement, quotes: False, contradicted=True)
    assert marks(check(f"Many people live in the mill of Ekvik ({MILL}).", model="auto")) == ["contradicted"]


def test_only_a_model_says_that_a_sentence_states_no_fact(check: Check, bench: Workbench) -> None:
    text = "What a lovely town it is. Ekvik has a school."
    assert marks(check(text)) == ["no_source", "no_source"]
    play(bench, lambda statement, quotes: True, no_claims=[1, 77])
    view = check(text, model="auto")
    assert marks(view) == ["no_source"]
    assert view.state.own.sentences["s1"].kind == "opinion"


def test_when_the_model_fails_claims_are_not_checked_with_the_reason(check: Check, bench: Workbench) -> None:
    bench.worker.model_client = lambda name, fast="": (ScriptedModel([]), "")  # type: ignore[method-assign]
    (one,) = marked(check(f"People go to the market of Ekvik on Saturdays ({TOWN}).", model="auto"))
    assert one.mark == "not_checked" and "no reply left" in one.reason
