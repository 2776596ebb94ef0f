"""The drawing of two runs side by side: nothing of the web becomes markup, long lists fold, what is the same
is told once."""

from __future__ import annotations

from agent.actions.run_diff import ComparedFigure, ListDiff, RunComparison
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.evidence.citation_check import AnswerChange
from agent.types import (
    Answer,
    Conflict,
    ConflictSide,
    Fact,
    PageRef,
    Run,
    Sentence,
    Settings,
    Source,
    Status,
    Step,
    Usage,
)
from pages.widgets.run import comparison

EVIL = "<img src=x onerror=alert(1)>"


SAID = Sentence(text=EVIL, fact_ids=["f1"])


def side(name: str, **more) -> RunSnapshot:
    """A run with an answer that stands on one source, and a note in its last step."""
    run = Run(id=name, question=EVIL, status=Status.REVIEW, settings=Settings(), **more)
    source = Source(n=1, url="https://a.example/", title=EVIL, fact_ids=["f1"])
    answer = Answer(n=1, verdict="answered", sentences=[SAID], sources=[source])
    steps = [Step(n=n, name="steer", change={"notes": [{"text": EVIL}]}, next="decide") for n in range(8)]
    return RunSnapshot(run, RunState(question=EVIL, answers=[answer]), steps, Usage(), 7, "decide")


def fact(n: int, **more) -> Fact:
    return Fact(
        id=f"f{n}", statement=f"{EVIL} {n}", quote="q", url="https://a.example/", verified=True, **more
    )


def found(**more) -> RunComparison:
    lists = ListDiff(
        one=[fact(n) for n in range(250)], two=[fact(900)], both=[(fact(1), fact(1, disputed=True))]
    )
    clash = Conflict(
        id="c",
        subject=EVIL,
        attribute="x",
        kind="name",
        values=[ConflictSide(text=EVIL, fact_ids=[], sites=[])],
    )
    settled = clash.model_copy(update={"status": "settled", "chosen": EVIL})
    page = PageRef(url="https://a.example/", title=EVIL, page_id="p")
    base = {
        "one": side("1"),
        "two": side("2", forked_from="1", forked_at=6),
        "shared": 7,
        "settings": {"model": ("auto", EVIL)},
        "figures": [
            ComparedFigure(name="cost", one=None, two=0.2, shared=None),
            ComparedFigure(name="steps", one=3, two=4, shared=2),
        ],
        "answer": [
            AnswerChange("reworded", SAID, SAID),
            AnswerChange("added", None, Sentence(text="x")),
        ],
        "facts": lists,
        "sources": ListDiff(one=[page]),
        "conflicts": ListDiff(both=[(clash, settled)]),
    }
    return RunComparison(**(base | more))


def whole(given: RunComparison) -> str:
    parts = (
        comparison.render_runs(given),
        comparison.render_stats(given.figures),
        comparison.render_settings(given),
        comparison.render_answers(given),
    )
    return "".join(
        [
            *parts,
            comparison.render_facts(given),
            comparison.render_pages(given),
            comparison.render_conflicts(given.conflicts),
        ]
    )


def test_nothing_of_the_web_is_markup():
    assert "<img" not in whole(found()) and "&lt;img" in whole(found())


def test_a_long_list_folds_and_is_cut():
    told = comparison.render_facts(found())
    assert "Show 242 more" in told and "and 50 more" in told and told.count("<li>") == 201
    assert "disputed" in told and "accepted" in told


def test_what_differs_is_bold_and_what_is_shared_is_told():
    told = comparison.render_stats(found().figures)
    assert "unknown" in told and "2 of each in the steps they share" in told and told.count("<td><b>") == 4
    assert comparison.describe_shared_steps(found()).startswith("Steps 1 to 2 are the same in both")
    assert "share no step" in comparison.describe_shared_steps(found(shared=0))


def test_an_answer_lies_beside_the_other():
    told = comparison.render_answers(found())
    assert told.count('data-n="1"') == told.count('data-n="2"') == 2 and "not in this answer" in told
    assert (
        comparison.render_answers(found(answer=[])) == ""
        and comparison.render_settings(found(settings={})) == ""
    )
    assert comparison.render_conflicts(ListDiff()) == "" and "cited" in comparison.render_pages(found())
