"""The drawing of two runs side by side: nothing of the web becomes markup, each sentence has its facts."""

from __future__ import annotations

from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.types import Answer, AnswerBlock, Fact, Run, Sentence, Settings, Status, Usage
from pages.widgets.run import comparison
from tests.records import fill

EVIL = "<img src=x onerror=alert(1)>"


def side(name: str, *texts: str) -> RunSnapshot:
    """A run with an answer of these sentences, all of one fact."""
    run = fill(Run, id=name, question=EVIL, status=Status.REVIEW, settings=Settings())
    said = [Sentence(text=text, fact_ids=["f1"]) for text in texts]
    fact = Fact(id="f1", statement=EVIL, quote=f"{EVIL} quoted", url="https://a.example/", verified=True)
    state = RunState(
        question=EVIL, answers=[Answer(n=1, verdict="answered", sentences=said)], facts={"f1": fact}
    )
    return RunSnapshot(run, state, [], Usage(), 7, "decide")


def test_an_answer_lies_beside_the_other_each_sentence_with_its_facts():
    told = comparison.render_answers(
        side("a", f"It opened in 1905. {EVIL}"), side("b", "Nobody lives there.")
    )
    assert "<img" not in told and told.count("&lt;img") >= 2
    assert told.count('data-n="1"') == told.count('data-n="2"') == 2
    assert told.count("not in this answer") == 2 and told.count("a.example") == 2


def test_tables_are_compared_cell_by_cell():
    def answer(beds: str, row: str) -> Answer:
        table = AnswerBlock(id="t", kind="table", heads=["Hut", "Beds", "Built"], row_labels=[row])
        cells = [
            Sentence(text=beds, block="t", row=0, column=1),
            Sentence(text="1956", block="t", row=0, column=2),
        ]
        return Answer(n=1, verdict="answered", sentences=cells, blocks=[table])

    told = comparison.render_tables(answer("36", "Storfall"), answer("32", "storfall"))
    assert "<b>1</b> 36<br><b>2</b> 32" in told and told.count("1956") == 1 and told.count("<tr>") == 2
    other = comparison.render_tables(answer("36", "Storfall"), answer("24", EVIL))
    assert "<img" not in other and "<b>1</b> –<br><b>2</b> 24" in other
    assert comparison.render_tables(answer("36", "Storfall"), None) and not comparison.render_tables(
        None, None
    )
