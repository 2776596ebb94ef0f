"""Checks the sentences of a write-up: by code, by a judge in one call, and after one repair of what failed.

The flow decides what becomes of the sentences that still fail: it marks, trims or drops them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from agent.answering.fact_view import find_part
from agent.engine.context import RunContext
from agent.evidence.citation_check import check_support, filter_citations, list_evidence
from agent.evidence.claim_check import describe_finding, surrounding_text, words_before
from agent.llm.model import BYTES_PER_TOKEN, choose_model
from agent.roles.check_claims import (
    CHECK_CLAIMS,
    MAX_CALL_CHARS,
    REPAIR,
    ClaimJudge,
    FailedSentence,
    QuoteShown,
)
from agent.types import Actor, AnswerBlock, Conflict, Fact, PlanPart, Record, Sentence

FAILED_VERDICTS = frozenset({"differs", "not_supported"})
"""Verdicts of a sentence that its quotes do not support. `not_checked` is none: nobody judged it."""
MAX_REPAIR_QUOTES = 40
"""Quotes that the repair of a draft is shown, about 3,000 tokens."""
ROOM_SHARE = 0.75
"""The part of a small model's room that facts, or claims and quotes, get; the rest is for the question."""


class WrittenDraft(Record):
    """A write-up whose sentences are checked, with its blocks: what an answer is made of."""

    sentences: list[Sentence] = Field(default_factory=list)
    dropped: int = 0
    """Citations that do not hold, and were dropped."""
    repairs: dict[str, str] = Field(default_factory=dict)
    """Sentences that were repaired: old text -> new text, "" for one that was withdrawn."""
    check_trouble: str = ""
    """Why a call of the judge or of the repair failed; "" when none did."""
    blocks: list[AnswerBlock] = Field(default_factory=list)
    by: Actor = "keyless"
    trouble: str = ""
    """Why the writer's call failed; "" when it did not."""
    open: str = ""
    """As `Answer.open`."""
    assumed: str = ""
    """As `Answer.assumed`."""
    answered_parts: list[str] | None = None
    """The ids of the plan's parts that the supported sentences answer, by the judge; None without one."""
    judge: Literal["", "writer", "other"] = ""
    """As `Answer.judge`."""

    @property
    def failed(self) -> list[int]:
        """The indices of the sentences that their quotes do not support."""
        return [n for n, sentence in enumerate(self.sentences) if sentence.check in FAILED_VERDICTS]

    @property
    def held(self) -> list[Sentence]:
        """The sentences that did not fail."""
        return [sentence for sentence in self.sentences if sentence.check not in FAILED_VERDICTS]

    @property
    def refused(self) -> int:
        """How many sentences failed, those that their repair withdrew among them."""
        return len(self.failed) + list(self.repairs.values()).count("")

    @property
    def drafted(self) -> int:
        """How many sentences were written."""
        return len(self.held) + self.refused


def check_sentences(
    tools: RunContext | None,
    sentences: Sequence[Sentence],
    facts: Mapping[str, Fact],
    conflicts: Sequence[Conflict] = (),
    *,
    question: str,
    clean: Callable[[str], str] = str.strip,
    by_code: Collection[str] = (),
    parts: Sequence[PlanPart] = (),
) -> WrittenDraft:
    """The sentences with the citations that hold, checked against their quotes.

    Costs at most three model calls for up to 40 open sentences: the judge's, one repair of the failing
    sentences, and the judge's of the repaired ones. A repaired sentence takes the place of the failing one,
    with its own verdict; an empty one removes it. The judge says which of the `parts` are answered. `clean`
    is applied to repaired text (addresses, contacts); "" removes the sentence. Code alone checks the
    sentences with the texts `by_code`, and all without a model or `tools`; none of them is repaired."""
    drafted, dropped = filter_citations(sentences, facts, conflicts)
    if tools is None:
        checked = check_support(drafted, facts, question=question)
        return WrittenDraft(sentences=checked, dropped=dropped)
    open_ones = [sentence for sentence in drafted if sentence.text not in by_code]
    judge = make_judge(tools, question, " ".join(sentence.claim for sentence in open_ones), parts)
    checked = judge_sentences(tools, judge, open_ones, facts)
    tools.show_checked(checked)
    draft = repair_sentences(tools, judge, checked, facts, conflicts, clean)
    has_judged = any(sentence.check == "judged_supported" for sentence in draft.sentences)
    draft = draft.replace(judge=("other" if judge.is_independent else "writer") if has_judged else "")
    if by_code:
        ruled = [sentence for sentence in drafted if sentence.text in by_code]
        seen, rest = iter(check_support(ruled, facts, question=question)), iter(draft.sentences)
        joined = [next(seen) if said.text in by_code else next(rest, None) for said in drafted]
        draft = draft.replace(sentences=[sentence for sentence in joined if sentence])
    return draft.replace(dropped=draft.dropped + dropped, check_trouble=judge.trouble or draft.check_trouble)


def repair_sentences(
    tools: RunContext,
    judge: ClaimJudge,
    checked: Sequence[Sentence],
    facts: Mapping[str, Fact],
    conflicts: Sequence[Conflict],
    clean: Callable[[str], str],
) -> WrittenDraft:
    """Sentences that `judge` has checked, the failing ones in other words, with the verdict on these: one
    call of the writer, who is told what is wrong, and one of the judge."""
    draft = WrittenDraft(sentences=list(checked), answered_parts=judge.answered_parts)
    failed, answered = draft.failed, draft.answered_parts
    if not failed:
        return draft
    repaired, trouble = _repair(tools, judge, checked, failed, facts, clean)
    replacing = {n: sentence for n, sentence in repaired.items() if sentence.text}
    drafts, dropped = filter_citations(replacing.values(), facts, conflicts)
    text = " ".join(
        said.claim
        for n, one in enumerate(checked)
        if (said := repaired.get(n, one)).text and (n in repaired or n not in failed)
    )
    is_whole = len(judge.parts) > 1 and len(answered or ()) < len(judge.parts)
    again = replace(make_judge(tools, judge.question, text, judge.parts), is_whole=is_whole)
    new = dict(zip(replacing, judge_sentences(tools, again, drafts, facts), strict=True))
    left = [new.get(n, one) for n, one in enumerate(checked) if n in new or n not in repaired]
    if judge.parts and (again.answered_parts or answered is not None):
        answered = [*(answered or ()), *(again.answered_parts or ())]
        for part in judge.parts:  # all its sentences are supported now that one of them was repaired
            own = [
                said
                for said in left
                if part.id in {said.part, *(find_part(judge.parts, facts[i]) for i in said.fact_ids)}
            ]
            changed = [said for said in own if any(said is one for one in new.values())]
            if 0 < len(changed) < len(own) and all(said.backed for said in own):
                answered.append(part.id)
        answered = list(dict.fromkeys(answered))
    return WrittenDraft(
        sentences=left,
        dropped=dropped,
        repairs={checked[n].text: sentence.text for n, sentence in repaired.items()},
        check_trouble=trouble or again.trouble,
        answered_parts=answered,
    )


def make_judge(
    tools: RunContext, question: str, text: str = "", parts: Sequence[PlanPart] = ()
) -> ClaimJudge:
    """The judge of a run. `text` is the whole draft, to tell whom a pronoun means."""
    room = int(tools.find_room(CHECK_CLAIMS) * BYTES_PER_TOKEN * ROOM_SHARE)
    client = tools.client
    is_independent = client is not None and choose_model(client, "judge") != client.strong
    most = min(MAX_CALL_CHARS, room)
    return ClaimJudge(tools.judge, question, text, most, parts, is_independent)


def judge_sentences(
    tools: RunContext, judge: ClaimJudge, sentences: Sequence[Sentence], facts: Mapping[str, Fact]
) -> list[Sentence]:
    """The sentences with their verdicts; their citations must hold."""
    nearby = _read_nearby(tools, facts, (i for sentence in sentences for i in sentence.fact_ids))
    return check_support(
        sentences,
        facts,
        judge if tools.client else None,
        question=judge.question,
        failures=judge.failures,
        nearby=nearby,
    )


def _read_nearby(tools: RunContext, facts: Mapping[str, Fact], ids: Iterable[str]) -> dict[str, str]:
    """By fact the text around its quote on its page."""
    texts, nearby = dict[str, str](), dict[str, str]()
    for name in dict.fromkeys(ids):
        fact = facts[name]
        if fact.verified and fact.page_id:
            if fact.page_id not in texts:
                texts[fact.page_id] = tools.store.pages.read_text(fact.page_id)
            nearby[name] = surrounding_text(texts[fact.page_id], fact.start, fact.end)
    return nearby


def _repair(
    tools: RunContext,
    judge: ClaimJudge,
    sentences: Sequence[Sentence],
    failed: Sequence[int],
    facts: Mapping[str, Fact],
    clean: Callable[[str], str],
) -> tuple[dict[int, Sentence], str]:
    """By index the failing sentences in new words, without those that nobody changed (none is judged twice),
    and why the call failed. One that cites nothing may be given any quote of the draft, if it has some."""
    citing = [sentences[n] for n in failed] if all(sentences[n].fact_ids for n in failed) else sentences
    ids = list(dict.fromkeys(i for sentence in citing for i in sentence.fact_ids))[:MAX_REPAIR_QUOTES]
    if not ids:
        return {}, ""
    names = {fact_id: f"q{n}" for n, fact_id in enumerate(ids, start=1)}
    nearby = _read_nearby(tools, facts, ids)
    ids_by_quote = {quote: names[i] for i in reversed(ids) for quote, _ in list_evidence(facts[i])}

    def explain(n: int) -> str:
        """The judge's reason with the quotes' ids of this call in the place of those of its own."""
        told = judge.quotes.get(str(n), {})
        name = lambda match: ids_by_quote.get(told.get(match[0], ""), "the quote")  # noqa: E731
        return re.sub(r"\bq\d+\b", name, sentences[n].check_reason)

    near = {n + step for n in failed for step in (-1, 0, 1)}
    shown = [sentence.claim if n in near else "…" for n, sentence in enumerate(sentences)]
    result = tools.judge(
        REPAIR,
        question=judge.question,
        text=" ".join(text for n, text in enumerate(shown) if text != "…" or shown[n - 1 : n] != ["…"]),
        quotes=[
            QuoteShown(id=names[i], text=quote, source=source, before=words_before(quote, nearby.get(i, "")))
            for i in ids
            for quote, source in list_evidence(facts[i])
        ],
        sentences=[
            FailedSentence(
                n=n + 1,
                text=sentences[n].text,
                cell=sentences[n].context,
                quotes=[names[i] for i in sentences[n].fact_ids if i in names],
                faults=[
                    *map(describe_finding, sentences[n].findings),
                    *([] if sentences[n].fact_ids else ["It cites no quote."]),
                    *filter(None, [explain(n)]),
                ],
            )
            for n in failed
        ],
    )
    given = {name: fact_id for fact_id, name in names.items()}
    changed = dict[int, Sentence]()
    for reply in result.value.sentences:
        if (n := reply.n - 1) not in failed:
            continue
        old, cited = sentences[n], [given[name] for name in dict.fromkeys(reply.quotes) if name in given]
        text = clean(reply.text).strip().removeprefix(f"{old.context}:" if old.context else "").strip()
        changed[n] = Sentence(
            text=text,
            fact_ids=cited or old.fact_ids,
            **old.model_dump(include={"part", "block", "row", "column", "context"}),
        )
    changed = {
        n: new
        for n, new in changed.items()
        if (new.text, new.fact_ids) != (sentences[n].text, sentences[n].fact_ids)
    }
    return changed, result.failure
