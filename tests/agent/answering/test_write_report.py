"""An answer that is written anew for an edit: the model is shown what still counts, and nothing else."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from agent.settings import config
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.model_server import ModelServer
from tests.web.researching_model import ASK, QUOTE, ROOF, SOLAR, Script, crawl

pytestmark = pytest.mark.slow
BEAMS = "The roof was strengthened with 26 new beams of spruce from Tallåsen."


@contextmanager
def reviewed(script: Script):
    with ModelServer(script.served) as server:
        bench = Workbench(config.read_config({"OPENAI_BASE_URL": server.url, "MODEL": "served"}))
        try:
            run_id = bench.start(SOLAR, Settings(world="demo"))
            assert bench.drive(run_id) is Status.REVIEW
            yield bench, run_id
        finally:
            bench.shutdown()


def report_prompt(script: Script) -> str:
    """What the writer was asked last."""
    return [prompt for role, prompt in script.prompts if role == "report"][-1]


def test_what_was_struck_is_not_shown_to_the_writer():
    judge = lambda said, quotes: "412" not in said or any("412" in quote for quote in quotes)  # noqa: E731
    script = Script(ASK, crawl(ROOF), quotes=[QUOTE, BEAMS], judge=judge)
    with reviewed(script) as (bench, run_id):
        gone = next(fact for fact in bench.snapshot(run_id).state.facts.values() if fact.quote == QUOTE)
        bench.act(run_id, "mark", facts=[gone.id], decision="struck")
        assert bench.drive(run_id) is Status.REVIEW
        prompt = report_prompt(script)
        assert BEAMS in prompt
        assert "412" not in prompt and gone.id not in prompt
        answer = bench.snapshot(run_id).state.answer
        assert answer.n == 2 and all(
            any(found.is_absent for found in said.findings) for said in answer.sentences if "412" in said.text
        )
        bench.act(run_id, "undo")
        again = bench.snapshot(run_id)
        assert again.run.status is Status.REVIEW and again.state.answer.verdict == "answered"
        assert report_prompt(script) == prompt, "the answer that stood stands again, and nobody is asked"
        bench.act(run_id, "rewrite", length="brief")
        assert bench.drive(run_id) is Status.REVIEW
        assert QUOTE in report_prompt(script)
