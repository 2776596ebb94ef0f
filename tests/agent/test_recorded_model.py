"""The demo's examples without a model: recorded replies answer them as a model would, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.actions.acts import fill_act, find_recorded_act
from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.engine.run_state import RunState
from agent.errors import NotRecorded
from agent.llm.model import CompletionRequest
from agent.llm.recorded import LABEL, RECORDED, RecordedModel, list_examples, make_key
from agent.roles.prompt_templates import render_filling
from agent.types import Settings, Status
from agent.workbench import Workbench
from bench.record import replay
from tests.web.model_server import ModelServer

pytestmark = pytest.mark.slow

EXAMPLES = list_examples()
FIRST = next(example for example in EXAMPLES if example["flow"] == "research")
DEMO = Settings(world="demo")


def find(words: str) -> dict[str, Any]:
    return next(example for example in EXAMPLES if words in example["question"])


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one['flow']}: {one['question']}")
def test_an_example_comes_to_its_verdict_by_recorded_replies_alone(example) -> None:
    assert replay(example).find_faults(example) == []


def _drive(bench: Workbench, run_id: str) -> Status:
    bench.drive(run_id)
    return bench.snapshot(run_id).run.status


def test_who_answered_is_named_wherever_a_model_is_named(bench: Workbench) -> None:
    run_id = bench.start(FIRST["question"], DEMO)
    assert _drive(bench, run_id) is Status.REVIEW
    assert {call.model for call in bench.calls(run_id)} == {LABEL}
    for kind in ("md", "evidence.md", "html"):
        assert LABEL in export_run(bench, run_id, kind).decode()
    assert bench.as_json(run_id)["model"] == LABEL


def test_an_example_asked_for_otherwise_than_it_was_recorded_shows_passages(bench: Workbench) -> None:
    loggers, huts = find("return a Kallsteg"), find("mountain huts")
    elsewhere = {**loggers["settings"], "start_urls": ["https://kallsteg.example/support/"]}
    for question, settings in (
        (FIRST["question"], DEMO.replace(report="full")),
        (huts["question"], DEMO),
        (loggers["question"], Settings.model_validate({"world": "demo", "flow": "site", **elsewhere})),
    ):
        run_id = bench.start(question, settings)
        assert bench.snapshot(run_id).run.settings.model == "auto"
    assert (
        bench.snapshot(bench.start(huts["question"], DEMO.replace(report="full"))).run.settings.model
        == RECORDED
    )


def test_the_examples_show_a_ruling_a_table_a_chart_and_a_sentence_without_support() -> None:
    before, after = replay(find("How many people")).views
    assert [one.status for one in before.state.conflicts.values()] == ["open"]
    assert [one.settled_by for one in after.state.conflicts.values()] == ["person"]
    [view] = replay(find("mountain huts")).views
    answer = view.state.answer
    assert answer and {"table", "chart"} <= {block.kind for block in answer.blocks}
    assert [said.check for said in answer.sentences].count("not_supported") == 1


def test_what_was_not_recorded_rests_until_a_person_chooses(bench: Workbench) -> None:
    run_id = bench.start(FIRST["question"], DEMO)
    _drive(bench, run_id)
    bench.act(run_id, "send_back", note="Name the mountain that the youngest likes best.")
    assert _drive(bench, run_id) is Status.PAUSED
    view = bench.snapshot(run_id)
    assert view.state.halt and view.state.halt.kind == "recorded" and not find_recorded_act(view)
    bench.act(run_id, "drop_model")
    assert _drive(bench, run_id) is Status.REVIEW
    assert bench.snapshot(run_id).run.settings.model == "keyless"


def _exclude(state: RunState) -> tuple[str, dict[str, Any]]:
    return "mark", {"facts": list(state.facts)[:1], "decision": "struck"}


def _rule(state: RunState) -> tuple[str, dict[str, Any]]:
    [conflict] = state.conflicts.values()
    return "settle", {"conflict": conflict.id, "ruling": "neither", "because": "both may be old"}


@pytest.mark.parametrize(
    ("words", "say"),
    [
        ("children of the couple", lambda state: ("send_back", {"note": "Which of them skis?"})),
        ("How many people", _rule),
        ("cellar tour", _exclude),
    ],
    ids=["note", "ruling", "exclusion"],
)
def test_an_undo_returns_to_the_answer_that_stood_without_asking_the_model(
    bench: Workbench, words: str, say: Callable[[RunState], tuple[str, dict[str, Any]]]
) -> None:
    run_id = bench.start(find(words)["question"], DEMO)
    _drive(bench, run_id)
    before = bench.snapshot(run_id)
    act, given = say(before.state)
    bench.act(run_id, act, **given)
    assert _drive(bench, run_id) is Status.PAUSED, "nothing was recorded for it"
    asked = len(bench.calls(run_id))
    bench.act(run_id, "undo")
    after = bench.snapshot(run_id)
    assert (after.run.status, after.next) == (Status.REVIEW, "review")
    assert after.state.answers == before.state.answers and after.state.halt is None
    assert after.state.confidence == before.state.confidence and after.state.plan == before.state.plan
    assert find_recorded_act(after), "what was recorded to follow is still offered"
    assert len(bench.calls(run_id)) == asked


def test_what_was_recorded_is_undone_and_redone_without_asking_the_model(bench: Workbench) -> None:
    for example in (one for one in list_examples() if one["flow"] == "research" and "next" in one):
        run_id = bench.start(example["question"], DEMO)
        _drive(bench, run_id)
        first = bench.snapshot(run_id).state
        told = fill_act(first, example["next"][0])
        assert told
        bench.act(run_id, told.act, **told.given)
        assert _drive(bench, run_id) is Status.REVIEW
        second, asked = bench.snapshot(run_id).state, len(bench.calls(run_id))
        for act, stood in (("undo", first), ("redo", second), ("undo", first)):
            bench.act(run_id, act)
            now = bench.snapshot(run_id)
            assert now.run.status is Status.REVIEW and now.state.answer and stood.answer
            assert now.state.answer.sentences == stood.answer.sentences and now.state.plan == stood.plan
            assert now.state.answer.n == len(now.state.answers)
            assert now.state.current_confidence == stood.current_confidence
        assert len(bench.calls(run_id)) == asked
        assert verify_bundle(export_run(bench, run_id, "bundle")).is_valid


@pytest.mark.parametrize(
    ("question", "settings"),
    [
        (FIRST["question"], DEMO.replace(model="keyless")),
        (FIRST["question"], Settings()),
        ("Who runs Älvmora Mejeri?", DEMO),
        ("Who runs Älvmora Mejeri?", DEMO.replace(model=RECORDED)),
    ],
    ids=["no model was chosen", "in the web", "typed", "a follow-up"],
)
def test_nothing_else_is_answered_by_recorded_replies(bench: Workbench, question, settings) -> None:
    run_id = bench.start(question, settings)
    assert bench.snapshot(run_id).run.settings.model != RECORDED


def test_a_model_that_is_set_up_answers_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(lambda request: "{}", models=["served"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        bench = Workbench()
        try:
            assert bench.snapshot(bench.start(FIRST["question"], DEMO)).run.settings.model == "auto"
        finally:
            bench.shutdown()


PROMPT = """About.
<!-- system -->
You weigh stones.
<!-- user -->
Question: {{ question }}
{% if heavy %}
Mind your back.
{% endif %}
{% filter fence("facts") %}
{% for fact in facts %}
{{ fact.id | short("f") }}: {{ fact.text | line }}
{% endfor %}
{% endfilter %}
"""
BLANKS = {"question": "How heavy?", "heavy": False, "facts": [{"id": "f77aa01", "text": "It weighs 3 kg."}]}


def fill(folder: Path, prompt: str = PROMPT, mark: str = "00aa11bb", **changed: object) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "weigh.md").write_text(prompt, "utf-8")
    return render_filling("weigh", mark, folder=folder, **(BLANKS | changed))


def test_a_key_outlives_words_marks_and_ids_and_nothing_else(tmp_path: Path) -> None:
    told = fill(tmp_path)
    assert "3 kg" in told and "f1" in told and "stones" not in told and "f77aa01" not in told
    reworded = PROMPT.replace("You weigh stones", "Stones are weighed here").replace("Question:", "Asked:")
    assert fill(tmp_path / "a", reworded) == told
    assert fill(tmp_path, mark="99ff99ff") == told
    assert fill(tmp_path, facts=[{"id": "f9", "text": "It weighs 3 kg."}]) == told
    others = [{"heavy": True}, {"question": "How old?"}, {"facts": [{"id": "f1", "text": "It weighs 4 kg."}]}]
    assert len({told, *(fill(tmp_path, **other) for other in others)}) == 4


def test_a_refused_reply_has_a_second_one_of_its_own(tmp_path: Path) -> None:
    first = CompletionRequest([{"role": "user", "content": "?"}], Settings, role="weigh", filling=lambda: "3")
    file = tmp_path / "replies.jsonl"
    file.write_text(json.dumps({"of": "", "key": make_key(first), "reply": {"kg": 3}}), "utf-8")
    model = RecordedModel(file)
    assert json.loads(model.complete(first).text) == {"kg": 3}
    refused = [*first.messages, {"role": "assistant", "content": "{}"}, {"role": "user", "content": "No."}]
    with pytest.raises(NotRecorded, match="connect a model"):
        model.complete(replace(first, messages=refused))
