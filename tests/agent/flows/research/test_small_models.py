"""A model that takes few tokens: a whole run with a full report fits into its context, and what a server
refuses as too long is asked again, shorter."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agent.evidence.block_layout import lay_out_blocks
from agent.flows.research import report_steps
from agent.types import Fact, Status
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


def test_a_small_context_reads_its_pages_in_more_calls_and_shows_less_of_each() -> None:
    small, large = report_with(4096)[2], report_with(65_536)[2]
    sizes = {
        script: max(len(prompt) for role, prompt in script.prompts if role == "analyzer")
        for script in (small, large)
    }
    assert sum(role == "analyzer" for role, _ in large.prompts) == 1
    assert sum(role == "analyzer" for role, _ in small.prompts) == 4
    assert sizes[small] < sizes[large]


def test_the_facts_of_a_section_are_written_in_as_many_calls_as_a_small_model_needs() -> None:
    facts = [Fact(id=str(n), statement="x" * 100, quote="y" * 840, page_id="p") for n in range(9)]
    for room, sizes in ((20_000, [9]), (2_000, [5, 4]), (100, [1] * 9)):
        tools: Any = SimpleNamespace(find_room=lambda _role, room=room: room)
        pieces = report_steps._split_facts(tools, facts)
        assert [len(piece) for piece in pieces] == sizes and [f for p in pieces for f in p] == facts


def test_a_server_that_tells_nothing_is_obeyed_after_its_first_refusal() -> None:
    view, server, _ = report_with(5000, tells=False)
    assert 0 < server.refused <= 3
    assert view.state.answer.length == "full" and not view.state.answer.trouble


def test_a_context_that_no_prompt_fits_into_is_told() -> None:
    view, _, script = report_with(1024, rests=Status.PAUSED)
    assert not script.prompts and "MODEL_CONTEXT" in view.state.halt.why
