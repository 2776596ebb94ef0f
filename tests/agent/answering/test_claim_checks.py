"""A write-up is compared by code, judged in one call and repaired once; what stands nowhere stays visible."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from agent.answering.claim_checks import (
    FAILED_VERDICTS,
    WrittenDraft,
    check_sentences,
    make_judge,
    repair_sentences,
)
from agent.errors import ModelUnavailable
from agent.evidence import citation_check
from agent.evidence.claim_check import Claim
from agent.evidence.support import describe_support, label_support
from agent.llm.structured_call import CallContext, request_structured
from agent.roles import check_claims
from agent.roles.role import Role, RoleResult
from agent.types import Fact, PlanPart, Sentence
from tests.web.claim_judge import ALWAYS, NEVER, Judging, check_reply, read_befores, read_quotes, unfence
from tests.web.scripted import ScriptedModel

PETRA = "Petra Vasshaug was born in Tallåsen in 1921."
MILL = "The mill does not grind on Sundays."


class Tools:
    """Asks roles of a scripted model, or of none."""

    def __init__(self, replies: Any = None) -> None:
        self.client = ScriptedModel(replies) if replies is not None else None
        self.texts: dict[str, str] = {}
        self.store = SimpleNamespace(
            pages=SimpleNamespace(read_text=lambda page_id: self.texts.get(page_id, ""))
        )

    def find_room(self, _role: Role) -> int:
        return 20_000

    def judge(self, role: Role, **blanks: Any) -> RoleResult:
        return role.judge(self._call if self.client else None, **blanks)

    def _call(self, name: str, messages: Any, shape: Any, tier: Any) -> Any:
        call = CallContext(name, 1, name, lambda key: None, lambda call: None, lambda: None)
        return request_structured(self.client, call, messages, shape, tier=tier)

    @property
    def prompts(self) -> list[str]:
        """The user parts of all calls, as "role: text"."""
        return [f"{r.schema.__name__}: {r.messages[1]['content']}" for r in self.client.requests]


def fact(name: str, quote: str, **more: Any) -> Fact:
    where = {"statement": quote, "url": f"https://{name}.example/", "page_id": name, "verified": True}
    return Fact(id=name, quote=quote, by="model", **{**where, "title": "Petra Vasshaug", **more})


FACTS = {f.id: f for f in (fact("petra", PETRA), fact("mill", MILL, title="The mill"))}


def say(text: str, *ids: str) -> Sentence:
    return Sentence(text=text, fact_ids=list(ids))


def play(judge: Judging, repairs: dict[int, str] | None = None) -> Tools:
    """A model whose judge is `judge(statement, quotes)` and whose repair says `repairs`."""
    return Tools(
        lambda messages, schema: check_reply(messages[1]["content"], schema.__name__, judge, repairs)
    )


def check(tools: Tools, *sentences: Sentence, **more: Any) -> WrittenDraft:
    facts = more.pop("facts", FACTS)
    return check_sentences(tools, sentences, facts, question="Who?", **more)  # type: ignore[arg-type]


def test_a_sentence_in_the_words_of_its_quote_costs_no_call() -> None:
    tools = play(NEVER)
    draft = check(tools, say(PETRA, "petra"))
    assert [s.check for s in draft.sentences] == ["quoted"] and draft.sentences[0].backed
    assert tools.client.calls == 0 and not draft.failed


def test_without_a_model_a_rewording_is_not_checked_and_not_backed() -> None:
    draft = check(Tools(), say("Tallåsen is where Petra Vasshaug came into the world.", "petra"))
    [sentence] = draft.sentences
    assert sentence.check == "not_checked" and not sentence.backed and not draft.failed
    assert not draft.dropped


def test_one_call_judges_all_open_sentences_by_their_quotes_alone() -> None:
    tools = play(lambda statement, quotes: "Tallåsen" in quotes[0])
    draft = check(
        tools,
        say("Tallåsen is where Petra Vasshaug came from.", "petra"),
        say("It works all week.", "mill"),
    )
    assert [s.check for s in draft.sentences] == ["judged_supported", "not_supported"]
    assert draft.sentences[0].check_reason == "so it reads" and draft.failed == [1]
    [prompt] = [prompt for prompt in tools.prompts if prompt.startswith("CheckClaimsReply")]
    assert list(read_quotes(prompt).values()) == [
        f"[Petra Vasshaug, petra.example] {PETRA}",
        f"[The mill, mill.example] {MILL}",
    ]


def test_what_the_writer_stated_is_never_shown_as_evidence() -> None:
    facts = {"petra": fact("petra", PETRA, statement="Petra Vasshaug is a saint.")}
    tools = play(NEVER)
    text = "She is holy."
    check_sentences(tools, [say(text, "petra")], facts, question="Who?")  # type: ignore[arg-type]
    assert all("saint" not in prompt for prompt in tools.prompts)


def test_a_figure_that_stands_nowhere_is_seen_whatever_the_judge_says() -> None:
    [sentence] = check(play(ALWAYS), say("Petra Vasshaug was born in 1971.", "petra")).sentences
    assert sentence.check == "judged_supported"
    assert label_support(sentence) == "judged, not in its sources: 1971"


def test_a_difference_is_asked_and_one_that_was_explained_is_a_note() -> None:
    tools = play(ALWAYS)
    draft = check(tools, say("The mill grinds on Sundays.", "mill"))
    [sentence] = draft.sentences
    assert "Check: “not grind on Sundays” stands on one side only" in tools.prompts[0]
    support = describe_support(sentence)
    assert (support.tone, support.marks, draft.judge) == ("note", [], "writer") and support.note
    tools.client.judge = "another"
    draft = check(tools, say("The mill grinds on Sundays.", "mill"))
    assert (describe_support(draft.sentences[0]).tone, draft.judge) == ("", "other")


def test_the_judge_says_which_parts_are_answered() -> None:
    parts = [PlanPart(id="1", question="Where?"), PlanPart(id="2", question="When?")]
    reply = {"claims": [{"n": 1, "supported": True}], "answered_parts": ["2", "7"]}
    tools = Tools(lambda messages, schema: reply)
    draft = check(tools, say("She lived.", "petra"), parts=parts)
    assert draft.answered_parts == ["2"] and "1: Where?" in tools.prompts[0]
    assert check(tools, say("She lived.", "petra"), parts=parts[:1]).answered_parts is None
    assert check(Tools(), say("She lived.", "petra"), parts=parts).answered_parts is None


def test_after_a_repair_the_judge_sees_the_draft_and_a_part_that_lacked_one_sentence_is_answered() -> None:
    parts = [PlanPart(id="1", question="Where?"), PlanPart(id="2", question="When?")]
    holds = lambda statement, quotes: "Oslo" not in statement  # noqa: E731
    said = [say("She lived in Tallåsen.", "petra"), say("She comes from Oslo.", "petra")]
    for part, told in (("1", ["1"]), ("", [])):

        def reply(messages: Any, schema: Any) -> Any:
            repairs = {2: "She comes from Tallåsen."}
            said = check_reply(messages[1]["content"], schema.__name__, holds, repairs)
            return said if "Repair" in schema.__name__ else {**said, "answered_parts": []}

        tools = Tools(reply)
        draft = check(tools, *(one.replace(part=part) for one in said), parts=parts)
        assert draft.answered_parts == told and not draft.failed
        assert "She lived in Tallåsen. (1)" in tools.prompts[2]


def test_a_repair_that_holds_takes_the_place_of_the_sentence() -> None:
    tools = play(NEVER, {1: PETRA})
    draft = check(tools, say("Petra Vasshaug was born in Oslo.", "petra"))
    assert [s.text for s in draft.sentences] == [PETRA] and draft.sentences[0].check == "quoted"
    assert not draft.failed and tools.client.calls == 2


def test_only_the_repaired_sentences_are_judged_again() -> None:
    holds = lambda statement, quotes: "Oslo" not in statement  # noqa: E731
    tools = play(holds, {2: "She comes from Tallåsen."})
    draft = check(tools, say("It rests on Sundays.", "mill"), say("She comes from Oslo.", "petra"))
    assert [s.text for s in draft.sentences] == ["It rests on Sundays.", "She comes from Tallåsen."]
    assert [p.partition(":")[0] for p in tools.prompts] == [
        "CheckClaimsReply",
        "RepairReply",
        "CheckClaimsReply",
    ]
    assert re.findall(r"^Statement \d+: (.*)$", tools.prompts[2], re.M) == ["She comes from Tallåsen."]


@pytest.mark.parametrize("worse", ["Petra Vasshaug was born in 1999.", "She never lived."])
def test_a_repair_that_fails_is_shown_with_its_own_verdict(worse: str) -> None:
    tools = play(NEVER, {1: worse})
    draft = check(tools, say("She comes from Oslo.", "petra"))
    assert [(s.text, s.check) for s in draft.sentences] == [(worse, "not_supported")]
    assert draft.failed == [0] and sum("RepairReply" in p for p in tools.prompts) == 1, "once, never again"


def test_a_failing_sentence_that_the_repair_leaves_as_it_is_is_not_judged_again() -> None:
    tools = play(NEVER, {1: "She comes from Oslo."})
    draft = check(tools, say("She comes from Oslo.", "petra"))
    assert [s.check for s in draft.sentences] == ["not_supported"]
    assert sum("CheckClaimsReply" in p for p in tools.prompts) == 1


def test_an_empty_repair_removes_the_sentence_and_the_others_keep_their_place() -> None:
    tools = play(NEVER, {1: ""})
    draft = check(tools, say("The pages do not tell who built it."), say(PETRA, "petra"))
    assert [s.text for s in draft.sentences] == [PETRA] and not draft.failed


def test_repaired_text_goes_through_the_flows_own_cleaning() -> None:
    tools = play(NEVER, {1: "Write to x@evil.example."})
    draft = check(tools, say("It has 7 wheels.", "mill"), clean=lambda text: "")
    assert draft.sentences == []


def test_the_repair_hears_which_words_fail_and_why() -> None:
    tools = play(NEVER)
    check(tools, say("It works all week.", "mill"), say("Nobody knows."))
    faults = re.findall(r"^Wrong: (.*)$", tools.prompts[1], re.M)
    assert faults == [
        "so it reads",
        "It cites no quote.",
    ]


def test_the_repair_is_not_told_the_numbers_that_the_quotes_had_in_the_judges_call() -> None:
    reason = "q4 has it not, nor q2."
    checked = say("It works all week.", "mill").replace(check="not_supported", check_reason=reason)
    tools = play(NEVER)
    judge = make_judge(tools, "Who?")  # type: ignore[arg-type]
    judge.quotes["0"] = {"q2": FACTS["mill"].quote}
    repair_sentences(tools, judge, [checked], FACTS, [], str.strip)  # type: ignore[arg-type]
    assert re.findall(r"^Wrong: (.*)$", tools.prompts[0], re.M) == ["the quote has it not, nor q1."]


@pytest.mark.parametrize("reply", [ModelUnavailable("The server is down."), {"claims": []}])
def test_a_judge_that_fails_leaves_the_sentences_not_checked_with_the_reason(reply: Any) -> None:
    tools = Tools(lambda messages, schema: reply)
    [sentence] = check(tools, say("She comes from Tallåsen.", "petra")).sentences
    assert sentence.check == "not_checked" and not sentence.backed
    assert "The server is down." in sentence.check_reason or "left this one out" in sentence.check_reason


def test_long_write_ups_are_judged_in_batches() -> None:
    tools = play(ALWAYS)
    many = [
        say(f"She comes from there, {'so ' * n}they say.", "petra")
        for n in range(check_claims.MAX_CLAIMS + 5)
    ]
    draft = check(tools, *many)
    assert tools.client.calls == 2 and all(s.check == "judged_supported" for s in draft.sentences)


def test_a_persons_word_is_judged_like_a_quote_and_never_counts_as_backed() -> None:
    own = Fact(id="own", statement="I saw the mill in May.", quote="I saw the mill in May.", origin="person")
    facts = {"own": own.replace(decision="pinned")}
    [sentence] = check_sentences(
        Tools(),
        [say("I saw the mill in May.", "own")],
        facts,
        question="Who?",
    ).sentences
    assert (sentence.check, sentence.backed) == ("not_checked", False)
    assert sentence.check_reason == citation_check.PERSON_REASON


def test_a_persons_word_is_not_backed_by_a_page_that_is_cited_beside_it() -> None:
    own = Fact(id="own", statement="The mill is for sale.", quote="", origin="person", decision="pinned")
    draft = check(Tools(), say("The mill is for sale.", "own", "mill"), facts={**FACTS, "own": own})
    [sentence] = draft.sentences
    assert (sentence.check, sentence.backed) == ("not_checked", False)


def test_the_claim_leaves_the_title_out_that_stands_before_a_quote() -> None:
    [sentence] = check(Tools(), say(f"The mill: {MILL}", "mill")).sentences
    assert sentence.check == "quoted"
    claim = citation_check.build_claim("1", say(f"The mill: {MILL}", "mill"), FACTS, "", {})
    assert claim == Claim("1", MILL, (MILL,), "The mill", "", ("The mill, mill.example",), ("",))


def test_of_two_judgements_of_a_sentence_the_doubting_one_counts_and_no_address_stays_in_a_reason() -> None:
    said = {"quote": "q1", "reason": "See https://evil.example/x\nfor more."}
    reply = {"claims": [{"n": 1, "supported": True, **said}, {"n": 1, "supported": False, **said}]}
    draft = check(Tools(lambda messages, schema: reply), say("She lived.", "petra"))
    assert draft.sentences[0].check == "not_supported"
    assert "evil" not in draft.sentences[0].check_reason


PLAYED = {
    "a negation dropped": ("The mill grinds on Sundays.", MILL),
    "another figure": ("Petra Vasshaug was born in Tallåsen in 1912.", PETRA),
    "names swapped": ("Signe Wahlmark was born in Tallåsen in 1921.", PETRA),
}


def check_one(tools: Tools, text: str, quote: str) -> Sentence:
    facts = {"f": fact("f", quote, title="The mill")}
    [sentence] = check_sentences(tools, [say(text, "f")], facts, question="Who?").sentences  # type: ignore[arg-type]
    return sentence


@pytest.mark.parametrize("played", PLAYED)
def test_a_nodding_judge_leaves_a_mark_or_a_note(played: str) -> None:
    found = check_one(play(ALWAYS), *PLAYED[played])
    support = describe_support(found)
    assert support.tone in ("note", "warn"), found
    assert bool(support.marks) == bool(support.absent)


@pytest.mark.parametrize("played", PLAYED)
def test_an_honest_judge_and_no_judge_refuse_it(played: str) -> None:
    for tools in (play(NEVER), Tools()):
        found = check_one(tools, *PLAYED[played])
        assert not found.backed and found.check in (*FAILED_VERDICTS, "not_checked")


def test_a_true_rewording_is_supported_by_an_honest_judge() -> None:
    found = check_one(play(ALWAYS), "The mill is at rest on Sundays.", MILL)
    assert found.check == "judged_supported"


def test_the_sentence_before_a_quote_may_name_who_is_meant() -> None:
    quote = "Petra Vasshaug, its builder, was born in Tallåsen in 1921."
    page = f"Signe Wahlmark owns the Blue Mill. {quote}"
    fact_ = fact("f", quote, title="Builders", start=page.index(quote), end=len(page))
    tools = play(ALWAYS)
    tools.texts["f"] = page
    texts = (
        "Petra Vasshaug of the Blue Mill was born in Tallåsen in 1921.",
        "Signe Wahlmark was born in Tallåsen in 1921.",
    )
    draft = check_sentences(tools, [say(t, "f") for t in texts], {"f": fact_}, question="Who?")  # type: ignore[arg-type]
    named = [[f.claimed for f in s.findings if f.kind == "name"] for s in draft.sentences]
    assert named == [[], []]
    assert read_befores(tools.prompts[0]) == ["Signe Wahlmark owns the Blue Mill."]


def test_each_quote_gets_only_what_stands_before_it_on_its_own_page_and_the_repair_sees_the_draft() -> None:
    quotes = {"a": "It sails to Orrin.", "b": "It was built in 1961."}
    befores = {"a": "Of the Blue Heron.", "b": "Of the Grey Heron."}
    tools, facts = play(NEVER), {}
    for name, quote in quotes.items():
        tools.texts[name] = f"{befores[name]} {quote}"
        start = len(befores[name]) + 1
        facts[name] = fact(name, quote, start=start, end=start + len(quote))
    texts = ("The ships are old and go there.",)
    draft = [say(texts[0], "a", "b")]
    check_sentences(tools, draft, facts, question="Who?")  # type: ignore[arg-type]
    assert read_befores(tools.prompts[0]) == list(befores.values())
    assert unfence(tools.prompts[1], "draft") == [" ".join(texts)]
