"""The shape of an answer: running text, and where conflicts are named."""

from __future__ import annotations

import pytest

from agent.answering.verdict import lay_out_answer
from agent.evidence.block_layout import prune_blocks
from agent.types import AnswerBlock, Sentence

SAID, NAMED = Sentence(text="One."), Sentence(text="They differ.")


@pytest.mark.parametrize("first", [True, False])
def test_conflicts_stand_before_or_after_what_is_stated(first: bool) -> None:
    blocks, told = prune_blocks(*lay_out_answer([], [SAID], [NAMED], conflicts_first=first))
    texts = [[said.text for said in told if said.block == block.id] for block in blocks]
    assert texts == ([["They differ."], ["One."]] if first else [["One."], ["They differ."]])


def test_a_report_names_them_in_their_section() -> None:
    section = AnswerBlock(id="k2", kind="list")
    blocks, told = prune_blocks(
        *lay_out_answer([section], [], [NAMED], conflict_block="k2", conflicts_first=True)
    )
    assert (blocks, [said.block for said in told]) == ([section], ["k2"])
