"""The verdict of code on a claim, and what a judge makes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.evidence.claim_check import Claim, Judgement, OpenClaim, check_by_code, check_claims
from tests.tables import by_table

BRIDGE = "The bridge was opened in 1961 and was closed in 1986."
MILL = "The mill does not grind on Sundays."


def _claim(statement: str, *quotes: str, context: str = "", question: str = "") -> Claim:
    return Claim(statement, statement, quotes, context, question)


def _agree(claims: Sequence[OpenClaim]) -> Mapping[str, Judgement]:
    return {one.claim.id: Judgement(True, "it says so", 0) for one in claims}


@by_table
def test_the_verdict_of_code(verdict: str, statement: str, quote: str) -> None:
    assert check_by_code(_claim(statement, quote)).verdict == verdict


@by_table
def test_what_stands_nowhere_is_absent(statement: str, absent: list[str]) -> None:
    [check] = check_claims([_claim(statement, BRIDGE)], _agree)
    assert check.verdict == "judged_supported"
    assert [finding.claimed for finding in check.findings if finding.is_absent] == absent


def test_a_figure_of_the_question_is_excused_and_a_part_of_one_is_not() -> None:
    claim = _claim("It was 20.", BRIDGE)
    for question, is_absent in (("Was it 20?", False), ("What was it in 2015?", True)):
        [finding] = check_by_code(replace(claim, question=question)).findings
        assert finding.is_absent is is_absent


def test_what_stands_around_a_quote_is_no_difference() -> None:
    claim = _claim("On the Korr 2, Petra Vasshaug read E7 in 1934.", "She read E7.")
    assert len(check_by_code(claim).findings) == 3
    told = replace(
        claim, context="Korr 2 – codes of Petra Vasshaug", question="Who?", nearby=("In 1934. She read E7.",)
    )
    assert check_by_code(told).findings == ()
    dated = replace(claim, sources=("Petra Vasshaug, 1934-10-05, Korr 2",))
    assert check_by_code(dated).findings == ()


def test_a_calculation_may_take_its_figures_from_two_quotes() -> None:
    life = "Ingrid Dahl (12 March 1927 – 4 November 2003) was a ship owner."
    claim = _claim("Ingrid Dahl was 34 when she founded Holm Lines.", life, "In 1961 she founded Holm Lines.")
    check = check_by_code(claim)
    assert (check.verdict, check.reason) == ("not_checked", "1961 − 1927 = 34")
    younger = _claim("Ingrid Dahl was 24 when she founded Holm Lines.", *claim.quotes)
    assert check_by_code(younger).verdict == "differs"


def test_a_claim_without_a_quote_is_not_supported() -> None:
    assert check_claims([_claim("It rains.")], _agree)[0].verdict == "not_supported"


def test_a_claim_stands_in_one_quote_not_in_two() -> None:
    quotes = "It was built by Anna Berg.", "It was painted in 1961."
    assert check_by_code(_claim("It was painted in 1961.", *quotes)).quote == 1
    assert check_by_code(_claim("It was built in 1961.", *quotes)).verdict == "not_checked"


def test_the_judge_decides_and_hears_differences_and_calculations() -> None:
    asked: list[OpenClaim] = []

    def judge(claims: Sequence[OpenClaim]) -> Mapping[str, Judgement]:
        asked.extend(claims)
        return _agree(claims)

    claims = [_claim("The mill grinds on Sundays.", MILL), _claim("The bridge served for 25 years.", BRIDGE)]
    denied, served = check_claims(claims, judge)
    assert (denied.verdict, [one.kind for one in denied.findings]) == ("judged_supported", ["negation"])
    assert (served.reason, served.quote, asked[1].note) == ("it says so", 0, "1986 − 1961 = 25")
    assert check_claims(claims[:1], lambda _: {})[0].verdict == "not_checked", "nobody answered"
    other = Judgement(True, is_independent=True)
    assert check_claims(claims[:1], lambda one: {one[0].claim.id: other})[0].findings == ()


def test_a_judge_sees_a_quoted_sentence_that_opens_with_a_pronoun() -> None:
    quote = "It was designed by Vera Holm."
    claim = Claim("1", quote, (quote,), sources=("Long Bridge",))
    other = Claim("2", "The pier is old.", ("The pier is old.",), sources=("The pier",))
    seen: list[str] = []

    def refuse(claims: Sequence[OpenClaim]) -> dict[str, Judgement]:
        seen.extend(each.claim.id for each in claims)
        return {"1": Judgement(is_supported=False, reason="the text means another bridge")}

    assert check_claims([claim, other], lambda _: {})[0].verdict == "quoted"
    assert check_claims([claim], refuse)[0].verdict == "quoted"
    assert check_claims([claim, other], refuse)[0].verdict == "not_supported"
    assert seen == ["1"]
