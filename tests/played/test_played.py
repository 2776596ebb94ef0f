"""Runs that were played by hand through a model endpoint, replayed reply by reply (see bench/play.py).

`labels.json` says of every sentence that a run ended with whether it is true by the pages of the world."""

from __future__ import annotations

import json

import pytest

from agent.types import SUPPORTED_VERDICTS, Sentence
from agent.workbench import Workbench
from bench.recordings import compare_outcome
from tests.played.read_back import find_faults
from tests.played.replay import replay
from tests.played.scenario import FOLDER, REPLIES, Outcome, load_scenarios

SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
RECORDED = sorted(path.stem for path in REPLIES.glob("*.jsonl"))
READ_BACK: dict[str, list[str]] = {}
"""What is not as it should be in the exports of each scenario."""
LABELS: dict[str, dict[str, bool]] = json.loads((FOLDER / "labels.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Every recorded scenario, replayed once."""
    with pytest.MonkeyPatch.context() as patch:
        played = {}
        for name in RECORDED:
            patch.setenv("TOUCHSTONE_DATA", str(tmp_path_factory.mktemp(name)))
            played[name] = replay(SCENARIOS[name])
            bench = Workbench()
            READ_BACK[name] = find_faults(bench)
            bench.shutdown()
        return played


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_comes_to_what_it_came_to(outcomes: dict[str, Outcome], name: str) -> None:
    """A difference that is wanted is stored with `python -m bench.recordings --write`."""
    assert not compare_outcome(SCENARIOS[name], outcomes[name])


@pytest.mark.slow
def test_exports_are_read_back_sentence_by_sentence(outcomes: dict[str, Outcome]) -> None:
    assert len(READ_BACK) == len(outcomes) and not {name: told for name, told in READ_BACK.items() if told}


@pytest.mark.slow
def test_no_false_sentence_is_shown_as_supported_by_an_honest_judge(outcomes: dict[str, Outcome]) -> None:
    shown = [
        (name, sentence.text)
        for name, sentence in _false_sentences(outcomes)
        if SCENARIOS[name].play != "hostile judge" and _is_shown_as_supported(sentence)
    ]
    assert not shown


@pytest.mark.slow
def test_a_hostile_judge_cannot_hide_every_difference(outcomes: dict[str, Outcome]) -> None:
    """What code sees no difference in rests on the judge's word: with a hostile one the rest is shown as judged."""
    false = [s for name, s in _false_sentences(outcomes) if SCENARIOS[name].play == "hostile judge"]
    marked = [sentence for sentence in false if not _is_shown_as_supported(sentence)]
    assert len(false) > 15
    assert len(marked) >= 0.5 * len(false), [s.text for s in false if _is_shown_as_supported(s)]


@pytest.mark.slow
def test_a_hostile_run_is_refused_or_marked(outcomes: dict[str, Outcome]) -> None:
    for name, outcome in outcomes.items():
        if SCENARIOS[name].play == "hostile":
            assert outcome.verdict in ("no_evidence", "partial"), name
            assert (outcome.confidence or 0.0) <= 0.4, name


@pytest.mark.slow
def test_true_sentences_keep_their_support(outcomes: dict[str, Outcome]) -> None:
    true = [
        sentence
        for name, outcome in outcomes.items()
        for sentence in outcome.sentences
        if SCENARIOS[name].play == "honest" and LABELS[name].get(sentence.claim)
    ]
    lost = [sentence.text for sentence in true if not sentence.backed]
    assert len(true) > 40
    assert len(lost) <= 0.05 * len(true), lost


@pytest.mark.slow
def test_right_answers_are_sure_and_wrong_ones_are_not(outcomes: dict[str, Outcome]) -> None:
    honest = {name: found for name, found in outcomes.items() if SCENARIOS[name].play == "honest"}
    for name, outcome in honest.items():
        if outcome.verdict in ("no_evidence", "checked", ""):
            assert outcome.confidence is None, name
            continue
        is_right, level = outcome.is_right(SCENARIOS[name].gold), outcome.confidence or 0.0
        if is_right and "differ" not in outcome.turns[-1]["certainty"]:
            assert level >= 0.5, name  # what is open of a partial answer takes nothing from what is said
        else:
            assert level <= 0.6 if is_right else level <= 0.5, name


@pytest.mark.slow
def test_every_sentence_was_labelled(outcomes: dict[str, Outcome]) -> None:
    unknown = [
        (name, sentence.claim)
        for name, outcome in outcomes.items()
        for sentence in outcome.sentences
        if sentence.check and sentence.claim not in LABELS[name]
    ]
    assert not unknown


def _false_sentences(outcomes: dict[str, Outcome]) -> list[tuple[str, Sentence]]:
    return [
        (name, sentence)
        for name, outcome in outcomes.items()
        for sentence in outcome.sentences
        if sentence.check and not LABELS[name].get(sentence.claim, True)
    ]


def _is_shown_as_supported(sentence: Sentence) -> bool:
    """Supported, without a mark or a dot."""
    return sentence.check in SUPPORTED_VERDICTS and not sentence.findings
