"""Each sentence says in plain words how it is supported; the count line says it of all."""

from __future__ import annotations

from typing import Any

import pytest

from agent.evidence.citation_check import PERSON_REASON
from agent.evidence.report_words import load_report_words
from agent.evidence.support import count_support, describe_mark, describe_support, label_support, list_checks
from agent.types import Answer, ClaimFinding, Sentence, StatementCounts
from tests.records import fill

ABSENT = ClaimFinding(kind="figure", claimed="71", quoted="17", is_absent=True)
DENIED = fill(ClaimFinding, kind="negation", quoted="not on Sundays")


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
        (said("not_checked", check_reason=PERSON_REASON), "own knowledge: no page says it", "warn"),
        (Sentence(text="So."), "not supported", "bad"),
        (Sentence(text="So.", backed=True), "", ""),
    ],
)
def test_how_a_sentence_is_supported(sentence: Sentence, text: str, tone: str) -> None:
    found = describe_support(sentence)
    assert (found.text, found.tone) == (text, tone)


@pytest.mark.parametrize(
    ("sentence", "mark", "label", "tone"),
    [
        (said("quoted"), "", "", ""),
        (said("judged_supported", findings=[DENIED]), "", "judged", "note"),
        (
            said("judged_supported", findings=[ABSENT]),
            "not in its sources: 71",
            "judged, not in its sources: 71",
            "warn",
        ),
        (said("not_supported", findings=[ABSENT]), "not supported", "not supported", "bad"),
        (
            said("not_supported", disputed="b says “1”"),
            "not supported; disputed",
            "not supported, disputed",
            "bad",
        ),
        (said("quoted", disputed="b says “1”"), "disputed", "disputed", "warn"),
        (said("differs", findings=[DENIED]), "differs from the quote", "differs", "warn"),
        (said("not_checked"), "not checked", "not checked", "warn"),
    ],
)
def test_what_must_be_seen_beside_a_sentence(sentence: Sentence, mark: str, label: str, tone: str) -> None:
    assert describe_mark(sentence, load_report_words("en")) == mark
    assert (label_support(sentence), describe_support(sentence).tone) == (label, tone)


def test_the_count_line_says_how_many_are_supported_and_how() -> None:
    judged = said("judged_supported")
    sentences = [said("quoted")] * 3 + [judged, judged.replace(findings=[DENIED])]
    sentences += [said("not_supported", findings=[ABSENT]), said("not_checked")]
    answer = Answer(n=1, verdict="partial", sentences=sentences, statements=StatementCounts(dropped=2))
    assert count_support(answer) == (
        "5 of 7 supported: 3 quoted, 2 judged; 1 not supported, 1 not checked; "
        "2 citations of unusable facts dropped"
    )
    assert len(list_checks(answer)) == 4, "quoted ones need no line"


def test_an_answer_of_an_older_version_is_counted_without_kinds() -> None:
    old = [Sentence(text="a", backed=True), Sentence(text="b")]
    assert count_support(Answer(n=1, verdict="partial", sentences=old)) == "1 of 2 supported; 1 not supported"
