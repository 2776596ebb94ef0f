"""The verdict of code on a claim, and what a judge may change of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from agent.evidence.claim_check import (
    Claim,
    Judgement,
    OpenClaim,
    check_by_code,
    check_claims,
    describe_finding,
)
from agent.types import ClaimFinding

BRIDGE = "The bridge was opened in 1961 and was closed in 1986."


def _claim(statement: str, *quotes: str, context: str = "", question: str = "") -> Claim:
    return Claim(statement, statement, quotes, context, question)


def _agree(claims: Sequence[OpenClaim]) -> Mapping[str, Judgement]:
    return {one.claim.id: Judgement(True, "it says so", 0) for one in claims}


@pytest.mark.parametrize(
    ("verdict", "statement", "quote"),
    [
        ("quoted", "20% of the patients recovered.", "20 percent of the patients recovered."),
        ("quoted", "The museum is open 10 am to 5 pm.", "The museum is open 10.00–17.00."),
        ("computed", "The bridge was closed 25 years after it was opened.", BRIDGE),
        ("vetoed", "The bridge was closed 35 years after it was opened.", BRIDGE),
        ("vetoed", "Ninety percent of the patients recovered.", "20 percent of the patients recovered."),
        ("vetoed", "Surgery cures the disease.", "Surgery will not cure the disease."),
        ("vetoed", "Nordvik is a village.", "Nordvik is not a village."),
        ("vetoed", "The warranty covers the battery.", "The warranty does not cover the battery."),
        ("vetoed", "The museum is open 10 am to 6 pm.", "The museum is open 10.00–17.00."),
        ("vetoed", "The firm was founded in 1971.", "Der Betrieb wurde 1961 gegründet."),
        ("vetoed", "学校有400名学生。", "学校有350名学生。"),
        ("doubted", "Signe Wahlmark founded the dairy.", "Petra Vasshaug founded the dairy."),
        ("doubted", "Dale Dairy bought Berg Foods.", "Berg Foods bought Dale Dairy."),
        ("doubted", "All residents agreed.", "Most residents agreed."),
        ("doubted", "30 % of the fish are lost.", "Up to 30 % of the fish are lost."),
        ("doubted", "The town builds a school.", "The town plans to build a school."),
        ("doubted", "The plant closed in 1990.", "He denied that the plant closed in 1990."),
        ("not_checked", "The bridge was opened 25 years after it was closed.", BRIDGE),
        ("not_checked", "The firm was founded in 1961.", "Der Betrieb wurde 1961 gegründet."),
        ("not_checked", "In 1961 the crossing was inaugurated and later shut.", BRIDGE),
    ],
)
def test_the_verdict_of_code(verdict: str, statement: str, quote: str) -> None:
    check = check_by_code(_claim(statement, quote))
    assert check.verdict == verdict
    assert bool(check.findings) == (verdict in ("vetoed", "doubted"))


def test_a_calculation_is_shown() -> None:
    computed = check_by_code(_claim("The bridge was closed 25 years after it was opened.", BRIDGE))
    assert computed.reason == "1986 − 1961 = 25"


def test_a_calculation_may_take_its_figures_from_two_quotes() -> None:
    life = "Ingrid Dahl (12 March 1927 – 4 November 2003) was a ship owner."
    claim = _claim("Ingrid Dahl was 34 when she founded Holm Lines.", life, "In 1961 she founded Holm Lines.")
    check = check_by_code(claim)
    assert (check.verdict, check.reason) == ("computed", "1961 − 1927 = 34")
    younger = _claim("Ingrid Dahl was 24 when she founded Holm Lines.", *claim.quotes)
    assert check_by_code(younger).verdict == "vetoed"


def test_a_claim_without_a_quote_is_not_supported() -> None:
    assert check_claims([_claim("It rains.")], _agree)[0].verdict == "not_supported"


def test_a_claim_stands_in_one_quote_not_in_two() -> None:
    quotes = "It was built by Anna Berg.", "It was painted in 1961."
    assert check_by_code(_claim("It was painted in 1961.", *quotes)).quote == 1
    assert check_by_code(_claim("It was built in 1961.", *quotes)).verdict == "doubted"


def test_the_context_names_who_is_meant_but_gives_no_figure() -> None:
    quote = "She founded the dairy."
    assert check_by_code(_claim("Petra Vasshaug founded the dairy.", quote)).verdict == "doubted"
    title = "Petra Vasshaug (1921)"
    assert (
        check_by_code(_claim("Petra Vasshaug founded the dairy.", quote, context=title)).verdict
        == "not_checked"
    )
    in_1921 = "Petra Vasshaug founded the dairy in 1921."
    assert check_by_code(_claim(in_1921, quote, context=title, question="Who, in 1921?")).verdict == "vetoed"


def test_the_number_of_a_name_in_the_title_is_no_figure() -> None:
    claim = _claim("On the Korr 2, E7 means that the filter is full.", "E7 means that the filter is full.")
    assert check_by_code(claim).verdict == "vetoed"
    assert check_by_code(replace(claim, context="Korr 2 – codes")).verdict != "vetoed"


def test_a_day_in_the_line_of_the_source_is_evidence_of_a_date() -> None:
    claim = _claim("Marla wrote on 5 October 2026 that the tent leaks.", "The tent leaks, as I saw.")
    assert check_by_code(claim).verdict == "vetoed"
    dated = replace(claim, sources=("marla, 2026-10-05, post 4",))
    assert check_by_code(dated).verdict != "vetoed"


def test_a_judge_does_not_overrule_a_veto() -> None:
    asked: list[str] = []

    def judge(claims: Sequence[OpenClaim]) -> Mapping[str, Judgement]:
        asked.extend(one.claim.id for one in claims)
        return _agree(claims)

    vetoed = _claim("Ninety percent recovered.", "20 percent recovered.")
    assert [check.verdict for check in check_claims([vetoed], judge)] == ["vetoed"]
    assert asked == []


def test_a_doubt_stays_when_a_judge_calls_the_claim_supported() -> None:
    doubted = check_claims([_claim("All residents agreed.", "Residents agreed.")], _agree)[0]
    assert (doubted.verdict, doubted.reason, doubted.quote) == ("judged_supported", "it says so", 0)
    assert [finding.kind for finding in doubted.findings] == ["quantifier"]


def test_a_judge_hears_the_calculation_of_a_claim_that_is_not_carried() -> None:
    notes: list[str] = []

    def judge(claims: Sequence[OpenClaim]) -> Mapping[str, Judgement]:
        notes.extend(one.note for one in claims)
        return {}

    claim = _claim("The bridge served the town for 25 years.", BRIDGE)
    assert check_claims([claim], judge)[0].verdict == "not_checked"
    assert notes == ["1986 − 1961 = 25"]


@pytest.mark.parametrize(
    ("finding", "sentence"),
    [
        (
            ClaimFinding(kind="name", claimed="Signe Wahlmark", quoted="Petra Vasshaug"),
            "The quote names Petra Vasshaug; the claim names Signe Wahlmark.",
        ),
        (
            ClaimFinding(kind="figure", claimed="90 %", quoted="20 %", is_veto=True),
            "The claim gives 90 %; the quote gives 20 %.",
        ),
        (ClaimFinding(kind="date", claimed="1962"), "The claim gives 1962; the quote gives no such figure."),
        (ClaimFinding(kind="quantifier", claimed="all"), "The claim says “all”; the quote does not."),
        (ClaimFinding(kind="modality", quoted="may"), "The quote says “may”; the claim leaves it out."),
        (
            ClaimFinding(kind="antonym", claimed="lower", quoted="higher"),
            "The quote says “higher”; the claim says “lower”.",
        ),
    ],
)
def test_a_finding_is_one_sentence(finding: ClaimFinding, sentence: str) -> None:
    assert describe_finding(finding) == sentence


def test_a_judge_sees_a_quoted_sentence_that_opens_with_a_pronoun() -> None:
    quote = "It was designed by Vera Holm and built in 1904."
    claim = Claim("1", "It was designed by Vera Holm.", (quote,), sources=("Long Bridge",))
    other = Claim("2", "The pier is old.", ("The pier is old.",), sources=("The pier",))
    seen: list[str] = []

    def refuse(claims: Sequence[OpenClaim]) -> dict[str, Judgement]:
        seen.extend(each.claim.id for each in claims)
        return {"1": Judgement(is_supported=False, reason="the text means another bridge")}

    assert check_claims([claim, other])[0].verdict == "quoted"
    assert check_claims([claim, other], lambda _: {})[0].verdict == "quoted"
    assert check_claims([claim], refuse)[0].verdict == "quoted"
    assert check_claims([claim, other], refuse)[0].verdict == "not_supported"
    assert seen == ["1"]
