"""The demo's examples without a model: recorded replies answer them as a model would, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import NotRecorded
from agent.llm.model import CompletionRequest
from agent.llm.recorded import RECORDED, RecordedModel, list_examples, make_key
from agent.roles.prompt_templates import render_filling
from agent.types import Settings
from agent.workbench import Workbench
from tests.web.model_server import ModelServer

EXAMPLES = list_examples()
FIRST = next(example for example in EXAMPLES if example["flow"] == "research")
DEMO = Settings(world="demo")


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
