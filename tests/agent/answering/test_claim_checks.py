"""A write-up is compared by code, judged in one call and repaired once; what stands nowhere stays visible."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from agent.answering.claim_checks import WrittenDraft, check_sentences
from agent.errors import ModelUnavailable
from agent.evidence import citation_check
from agent.evidence.support import describe_support
from agent.llm.structured_call import CallContext, request_structured
from agent.roles.role import Role, RoleResult
from agent.types import Fact, Sentence
from tests.web.claim_judge import ALWAYS, NEVER, Judging, check_reply, read_quotes
from tests.web.scripted import ScriptedModel

PETRA = "Petra Vasshaug was born in Tallåsen in 1921."
MILL = "The mill does not grind on Sundays."


class Tools:
    """Asks roles of a scripted model, or of none."""

    show_checked = staticmethod(len)

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


def test_one_call_judges_all_open_sentences_by_their_quotes_alone() -> None:
    tools = play(lambda statement, quotes: "Tallåsen" in quotes[0])
    draft = check(
        tools, say("Tallåsen is where Petra Vasshaug came from.", "petra"), say("It works all week.", "mill")
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


def test_a_repair_that_holds_takes_the_place_of_the_sentence() -> None:
    tools = play(NEVER, {1: PETRA})
    draft = check(tools, say("Petra Vasshaug was born in Oslo.", "petra"))
    assert [s.text for s in draft.sentences] == [PETRA] and draft.sentences[0].check == "quoted"
    assert not draft.failed and tools.client.calls == 2


@pytest.mark.parametrize("worse", ["Petra Vasshaug was born in 1999.", "She never lived."])
def test_a_repair_that_fails_is_shown_with_its_own_verdict(worse: str) -> None:
    tools = play(NEVER, {1: worse})
    draft = check(tools, say("She comes from Oslo.", "petra"))
    assert [(s.text, s.check) for s in draft.sentences] == [(worse, "not_supported")]
    assert draft.failed == [0] and sum("RepairReply" in p for p in tools.prompts) == 1, "once, never again"


def test_the_repair_hears_which_words_fail_and_why() -> None:
    tools = play(NEVER)
    check(tools, say("It works all week.", "mill"), say("Nobody knows."))
    faults = re.findall(r"^Wrong: (.*)$", tools.prompts[1], re.M)
    assert faults == ["so it reads", "It cites no quote."]


@pytest.mark.parametrize("reply", [ModelUnavailable("The server is down."), {"claims": []}])
def test_a_judge_that_fails_leaves_the_sentences_not_checked_with_the_reason(reply: Any) -> None:
    tools = Tools(lambda messages, schema: reply)
    [sentence] = check(tools, say("She comes from Tallåsen.", "petra")).sentences
    assert sentence.check == "not_checked" and not sentence.backed
    assert "The server is down." in sentence.check_reason or "left this one out" in sentence.check_reason


def test_a_persons_word_is_judged_like_a_quote_and_never_counts_as_backed() -> None:
    own = Fact(id="own", statement="I saw the mill in May.", quote="I saw the mill in May.", origin="person")
    facts = {"own": own.replace(decision="pinned")}
    [sentence] = check_sentences(
        Tools(), [say("I saw the mill in May.", "own")], facts, question="Who?"
    ).sentences
    assert (sentence.check, sentence.backed) == ("not_checked", False)
    assert sentence.check_reason == citation_check.PERSON_REASON


def test_of_two_judgements_of_a_sentence_the_doubting_one_counts_and_no_address_stays_in_a_reason() -> None:
    said = {"quote": "q1", "reason": "See https://evil.example/x\nfor more."}
    reply = {"claims": [{"n": 1, "supported": True, **said}, {"n": 1, "supported": False, **said}]}
    draft = check(Tools(lambda messages, schema: reply), say("She lived.", "petra"))
    assert draft.sentences[0].check == "not_supported"
    assert "evil" not in draft.sentences[0].check_reason
