"""Each sentence says in plain words how it is supported; the count line says it of all."""

from __future__ import annotations

from typing import Any

import pytest

from agent.evidence.citation_check import PERSON_REASON
from agent.evidence.support import count_support, describe_support, label_support, list_checks
from agent.types import Answer, ClaimFinding, Sentence, StatementCounts

DOUBT = ClaimFinding(kind="name", claimed="Signe Wahlmark", quoted="Petra Vasshaug")
VETO = ClaimFinding(kind="figure", claimed="71", quoted="17", is_veto=True)


def said(check: str, **more: Any) -> Sentence:
    backed = check in ("quoted", "computed", "judged_supported")
    return Sentence(text="So.", fact_ids=["f"], check=check, backed=backed, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "text", "tone"),
    [
        (said("quoted"), "", ""),
        (said("computed", check_reason="1986 − 1961 = 25"), "computed: 1986 − 1961 = 25", ""),
        (said("judged_supported", check_reason="It says so."), "judged: by the model: It says so", ""),
        (said("not_supported", check_reason="No word of it."), "not supported: No word of it", "bad"),
        (said("not_checked"), "not checked: no model was asked", "warn"),
        (
            said("not_checked", check_reason=PERSON_REASON),
            "own knowledge: no page says it",
            "warn",
        ),
        (Sentence(text="So."), "not supported", "bad"),
        (Sentence(text="So.", backed=True), "", ""),
    ],
)
def test_how_a_sentence_is_supported(sentence: Sentence, text: str, tone: str) -> None:
    found = describe_support(sentence)
    assert (found.text, found.tone) == (text, tone)


def test_a_veto_names_both_figures() -> None:
    found = describe_support(said("vetoed", findings=[VETO]))
    assert found.label == "vetoed" and "17" in found.detail and "71" in found.detail and found.tone == "bad"


def test_a_doubt_stays_visible_beside_the_judges_word() -> None:
    sentence = said("judged_supported", check_reason="Fine.", findings=[DOUBT])
    found = describe_support(sentence)
    assert "Petra Vasshaug" in found.doubt and found.tone == "warn" and "Petra Vasshaug" in found.text
    assert label_support(sentence) == "judged, in doubt"


def test_the_count_line_says_how_many_are_supported_and_how() -> None:
    judged = said("judged_supported")
    sentences = [said("quoted")] * 3 + [judged, judged.replace(findings=[DOUBT])]
    sentences += [said("vetoed", findings=[VETO]), said("not_checked")]
    answer = Answer(n=1, verdict="partial", sentences=sentences, statements=StatementCounts(dropped=2))
    assert count_support(answer) == (
        "5 of 7 supported: 3 quoted, 2 judged (1 in doubt); 1 not supported, 1 not checked; "
        "2 citations of unusable facts were dropped"
    )
    assert len(list_checks(answer)) == 4, "quoted ones need no line"


def test_quotes_that_nobody_judged_are_not_called_support() -> None:
    quoted = Answer(n=1, verdict="passages_found", sentences=[said("quoted")] * 2)
    assert count_support(quoted) == "2 of 2 quoted word for word"
    mixed = quoted.replace(sentences=[said("quoted"), said("not_checked")])
    assert count_support(mixed) == "1 of 2 quoted word for word; 1 not checked"


def test_an_answer_of_an_older_version_is_counted_without_kinds() -> None:
    old = [Sentence(text="a", backed=True), Sentence(text="b")]
    assert count_support(Answer(n=1, verdict="partial", sentences=old)) == "1 of 2 supported; 1 not supported"
