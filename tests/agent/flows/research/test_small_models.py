"""A model that takes few tokens: a whole run with a full report fits into its context, and what a server
refuses as too long is asked again, shorter."""

from __future__ import annotations

import pytest

from agent.evidence.block_layout import lay_out_blocks
from agent.types import Status
from agent.workbench import RunSnapshot
from tests.web.hut_model import QUESTION, HutScript
from tests.web.model_server import ModelServer
from tests.web.researching_model import run, workbench

pytestmark = pytest.mark.slow


def report_with(
    context: int, *, tells: bool = True, rests: Status = Status.REVIEW
) -> tuple[RunSnapshot, ModelServer, HutScript]:
    script = HutScript()
    server = ModelServer(script.served, context=context, tells_context=tells)
    with server, workbench(server) as bench:
        return run(bench, QUESTION, rests, report="full", at_cap="report"), server, script


@pytest.mark.parametrize("context", [4096, 8192])
def test_a_run_with_a_full_report_fits_into_a_small_context(context: int) -> None:
    view, server, script = report_with(context)
    answer = view.state.answer
    assert server.refused == 0 and answer.length == "full" and answer.by == "model"
    assert view.run.status is Status.REVIEW and not answer.trouble
    assert view.state.pages_read_count == 4 and answer.statements.unsupported == 0
    assert {"table", "paragraph"} <= {layout.block.kind for layout in lay_out_blocks(answer)}
    asked = [role for role, _ in script.prompts]
    assert {"plan", "decision", "analyzer", "outline", "section", "summary"} <= set(asked)


def test_a_server_that_tells_nothing_is_obeyed_after_its_first_refusal() -> None:
    view, server, _ = report_with(5000, tells=False)
    assert 0 < server.refused <= 3
    assert view.state.answer.length == "full" and not view.state.answer.trouble


def test_a_context_that_no_prompt_fits_into_is_told() -> None:
    view, _, script = report_with(1024, rests=Status.PAUSED)
    assert not script.prompts and "MODEL_CONTEXT" in view.state.halt.why
