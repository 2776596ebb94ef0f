"""The one way to an answer: a writer's quotes become facts, its sentences are checked, and code judges."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agent.answering import fact_view
from agent.answering.claim_checks import WrittenDraft, check_sentences
from agent.answering.fact_view import add_facts
from agent.answering.verdict import finish_answer
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.evidence.citation_check import verify_fact
from agent.evidence.quote_match import verify_quote
from agent.evidence.sources import assess_trust
from agent.retrieval.answer import Quotation
from agent.retrieval.scorer import score_fact
from agent.roles.report import ReportBlock, ReportReply, ReportSentence
from agent.roles.role import Role, RoleResult
from agent.text.contacts import remove_unfounded_contacts
from agent.text.plurals import clip
from agent.text.urls import find_urls, remove_unknown_urls
from agent.types import Actor, Answer, AnswerBlock, Fact, Page, Passage, Sentence
from agent.types.facts import cite_page, make_fact_id

MAX_HEADING_WORDS = 14
"""Words of a heading, caption or label; what is longer states something, and is checked as a sentence (our
own judgement: headings of articles have about half of that)."""
_MARKUP = re.compile(r"^[#*_\s>|-]+|[*_\s|:]+$")


class QuotedDraft(NamedTuple):
    """A writer's judgement, the change of its quotes' facts, the state after it, and the checked draft."""

    judgement: RoleResult
    change: Change
    state: RunState[Any]
    written: WrittenDraft


def answer_from_quotes(
    state: RunState[Any],
    tools: RunContext,
    role: Role,
    passages: Sequence[Passage],
    blanks: Mapping[str, Any],
    *,
    question: str,
    weighed_by: str = "",
    caveat: str,
    journey: str,
    find_more: Callable[[Any], Iterable[str]] = lambda reply: (),
) -> tuple[QuotedDraft, Answer]:
    """What a writer says of these passages, and the answer that a person reviews. `blanks` are those of the
    role's prompt; for the rest see `ask_writer`, `draft_from_quotes` and `finish_answer`."""
    judgement = ask_writer(tools, role, passages, find_more, **blanks)
    draft = draft_from_quotes(state, tools, judgement, passages, question=question, weighed_by=weighed_by)
    answer = finish_answer(draft.state, draft.written, tools.step, caveat=caveat, journey=journey)
    return draft, answer


def ask_writer(
    tools: RunContext,
    role: Role,
    passages: Sequence[Passage],
    find_more: Callable[[Any], Iterable[str]] = lambda reply: (),
    /,
    **blanks: Any,
) -> RoleResult:
    """What a writer of quoted sentences says, asked once more where quotes or `find_more` find faults."""

    def find_problems(reply: Any) -> Iterator[str]:
        for n, sentence in enumerate(reply.answer, start=1):
            if not sentence.quotes and not getattr(sentence, "pictures", ()):
                yield f"Sentence {n} has no quote: copy the words of a passage that state it."
            for quote in sentence.quotes:
                passage = find_quoted_passage(passages, quote.passage_id, quote.quote)
                if passage is None:
                    yield f"Sentence {n} quotes passage {quote.passage_id!r}, which is not listed."
                elif not has_page_quote(tools.page(passage.page_id), quote.quote):
                    yield f"Sentence {n}: “{clip(quote.quote)}” is not there: copy it character by character."

    return tools.judge(role, check=lambda reply: [*find_problems(reply), *find_more(reply)], **blanks)


def draft_from_quotes(
    state: RunState[Any],
    tools: RunContext,
    judgement: RoleResult,
    passages: Sequence[Passage],
    *,
    question: str,
    weighed_by: str = "",
    clean: Callable[[str], str] | None = None,
    more_facts: Iterable[Fact] = (),
    by_code: Collection[str] = (),
    is_judged: bool = True,
    rules_on_conflicts: bool = True,
) -> QuotedDraft:
    """The sentences of a judgement with `answer` and its quotes, each checked as an answer to `question`.

    The quotes become facts, whose relevance is to `weighed_by` (else the question); `more_facts` join them. A
    sentence on a fact that a person corrected is in the person's words. `clean` and `by_code`: see
    `check_sentences`; by default addresses are removed that the run does not know. Unless `is_judged`, no
    model is asked; nor is it for new conflicts unless it `rules_on_conflicts`."""
    found, sentences = dict[str, Fact](), list[ReportSentence]()
    for said in judgement.value.answer:
        statement, ids = said.text.strip() if len(said.quotes) == 1 else "", list[str]()
        for quote in said.quotes:
            passage = find_quoted_passage(passages, quote.passage_id, quote.quote)
            if passage is None:  # an id without a fact, so that it is counted as dropped
                ids.append(clip(f"unknown:{quote.passage_id}"))
                continue
            quotation = Quotation(passage.page_id, quote.quote.strip(), statement, clip(passage.title))
            page = tools.page(passage.page_id)
            fact = build_fact_from_quote(weighed_by or question, tools, page, quotation, by=judgement.by)
            ids.append(fact.id)
            found[fact.id] = fact.replace(
                title=passage.title or fact.title,
                heading=passage.above,
                part=getattr(said, "part", ""),
                published_at=passage.published_at or fact.published_at,
            )
        sentences.append(ReportSentence(text=said.text, fact_ids=ids))
    found |= {fact.id: fact for fact in more_facts}
    new = [fact for name, fact in found.items() if name not in state.facts]
    change = add_facts(
        state,
        tools.step,
        new,
        model=getattr(judgement.value, "confidence", None) if judgement.by == "model" else None,
        reviewed_by=tools if is_judged and rules_on_conflicts else None,
    )
    now = state_after(state, change)
    for sentence in sentences:
        # The text of a sentence; the words of its facts where a person corrected one of these
        cited = [state.facts[i] for i in sentence.fact_ids if i in state.facts]
        is_corrected = any(fact.former for fact in cited)
        sentence.text = " ".join(fact.statement for fact in cited) if is_corrected else sentence.text
    written = draft_from_reply(
        now,
        tools if is_judged else None,
        judgement.replace(
            value=ReportReply(
                answer=sentences,
                open=getattr(judgement.value, "open", ""),
                assumed=getattr(judgement.value, "assumed", ""),
            )
        ),
        question=question,
        clean=clean,
        by_code=by_code,
    )
    return QuotedDraft(judgement, change, now, written)


def draft_from_reply(
    state: RunState[Any],
    tools: RunContext | None,
    judgement: RoleResult,
    *,
    question: str = "",
    clean: Callable[[str], str] | None = None,
    by_code: Collection[str] = (),
    prefix: str = "b",
) -> WrittenDraft:
    """A report's reply as blocks, with ids that begin with `prefix`, and sentences that are checked and, with
    a model, repaired once; by code alone without `tools`. They answer `question`, else the run's own."""
    reply: ReportReply = judgement.value
    facts, conflicts = fact_view.facts_after_notes(state), list(state.conflicts.values())

    quoted = (url for fact in facts.values() for url in find_urls(fact.quote))
    known = {*fact_view.recorded_urls(state), *quoted}

    def remove_contacts(said: Sentence, is_founded: bool = True) -> Sentence:
        """The sentence with such addresses, mailboxes and numbers only as its quotes hold."""
        cited = [facts[i] for i in said.fact_ids if is_founded and i in facts]
        quotes = " ".join(f"{f.quote} {f.statement if f.rests_on_person else ''}" for f in cited)
        text = remove_unfounded_contacts(said.text, known, quotes)
        return said.replace(text=text, context=fact_view.clean_message(state, said.context))

    has_own_rule = clean is not None
    clean = clean or (lambda text: remove_unknown_urls(text, known).strip())
    blocks, drafts = lay_out_reply(reply.blocks, clean, prefix=prefix)
    if not drafts:
        drafts = [Sentence(text=clean(said.text), fact_ids=said.fact_ids) for said in reply.answer]
    drafts = [sentence for sentence in drafts if sentence.text]
    if not has_own_rule:
        drafts = [remove_contacts(sentence) for sentence in drafts]
        blocks = [
            block.replace(
                text=fact_view.clean_message(state, block.text),
                heads=[fact_view.clean_message(state, head) for head in block.heads],
                row_labels=[fact_view.clean_message(state, label) for label in block.row_labels],
            )
            for block in blocks
        ]
    question = question or state.standalone_question or state.question
    written = check_sentences(
        tools, drafts, facts, conflicts, question=question, clean=clean, by_code=by_code, parts=state.plan
    )
    if not has_own_rule:  # again: repaired ones have other words
        cleaned = [remove_contacts(sentence, sentence.backed) for sentence in written.sentences]
        written = written.replace(sentences=cleaned)
    return written.replace(
        blocks=blocks,
        by=judgement.by,
        trouble=judgement.failure,
        open=fact_view.clean_message(state, reply.open),
        assumed=fact_view.clean_message(state, reply.assumed),
    )


def find_quoted_passage(passages: Sequence[Passage], passage_id: str, quote: str) -> Passage | None:
    """The passage that a quote is from: the named one, unless only another holds its words."""
    words = " ".join(quote.casefold().split())
    named = next((passage for passage in passages if passage.id == passage_id), None)
    holding = [one for one in passages if words and words in " ".join(one.text.casefold().split())]
    return named if named in holding or not holding else holding[0]


def has_page_quote(page: Page, quote: str) -> bool:
    """Whether a quote is found on a page."""
    fact = Fact(id="", statement=quote, quote=quote.strip())
    return verify_quote(fact, page.text, page.sha256).verified


def build_fact_from_quote(
    question: str, tools: RunContext, page: Page, quotation: Quotation, *, by: Actor
) -> Fact:
    """A quote of a stored page as a fact: checked against the page, with its relevance to the question."""
    statement = quotation.statement or quotation.quote
    fact = Fact(
        id=make_fact_id(quotation.page_id, quotation.quote, statement),
        statement=statement,
        quote=quotation.quote,
        page_id=quotation.page_id,
        subject=quotation.subject,
        trust=assess_trust(page).value,
        step=tools.step,
        by=by,
        **cite_page(page),
    )
    fact = verify_fact(fact, page.text, page.sha256)
    return fact.replace(relevance=max(quotation.score, score_fact(question, fact)))


def lay_out_reply(
    blocks: Sequence[ReportBlock], clean: Callable[[str], str], *, prefix: str = "b"
) -> tuple[list[AnswerBlock], list[Sentence]]:
    """A writer's blocks, numbered behind `prefix`, with their sentences and cells, all `clean`ed."""
    laid, sentences = list[AnswerBlock](), list[Sentence]()
    for n, block in enumerate(blocks, start=1):
        frame = AnswerBlock(id=f"{prefix}{n}", kind=block.kind, part=block.part)
        words, drafts = _MARKUP.sub("", clean(block.text)), list(block.sentences)
        is_label = len(words.split()) <= MAX_HEADING_WORDS
        if words and not (is_label and (drafts or block.kind in ("heading", "table"))):
            drafts.insert(0, ReportSentence(text=words))
        if block.kind == "table":
            is_repeated = bool(laid) and laid[-1].kind == "heading" and laid[-1].text == words
            title = words if is_label and not is_repeated else ""
            table, cells = _lay_out_table(block, frame.replace(text=title), clean)
            laid, sentences = [*laid, table], [*sentences, *cells]
        elif block.kind == "heading" and words and is_label:
            laid.append(frame.replace(text=words, level=min(max(block.level, 2), 3)))
        frame = frame.replace(id=f"{frame.id}p", kind="list" if block.kind == "list" else "paragraph")
        lines = [
            Sentence(text=clean(draft.text), fact_ids=draft.fact_ids, block=frame.id, part=frame.part)
            for draft in drafts
        ]
        if lines := [line for line in lines if line.text]:
            laid, sentences = [*laid, frame], [*sentences, *lines]
    return laid, sentences


def _lay_out_table(
    block: ReportBlock, table: AnswerBlock, clean: Callable[[str], str]
) -> tuple[AnswerBlock, list[Sentence]]:
    """The table with a head for every column, and its cells; one that says nothing is left empty."""
    wide = max((len(row.cells) for row in block.rows), default=0)
    heads = [clean_label(head, clean) for head in block.heads]
    heads = ["", *heads] if len(heads) <= wide else heads
    labels = [clean_label(row.label, clean) for row in block.rows]
    table = table.replace(heads=heads[: wide + 1], row_labels=labels)
    nothing = ("", "-", "–", "—", "n/a", "na", "none", "null", "unknown", "not found", "?")
    cells = [
        Sentence(
            text=clean(cell.text),
            fact_ids=cell.fact_ids,
            block=table.id,
            part=table.part,
            row=n,
            column=column,
            context=table.describe_cell(n, column),
        )
        for n, row in enumerate(block.rows)
        for column, cell in enumerate(row.cells, start=1)
        if cell.fact_ids or cell.text.strip().casefold() not in nothing
    ]
    return table, [cell for cell in cells if cell.text]


def clean_label(text: str, clean: Callable[[str], str]) -> str:
    """A heading, or a label of a table, on one line without markup; of a longer one the beginning."""
    words = _MARKUP.sub("", clean(text)).split()
    return " ".join(words[:MAX_HEADING_WORDS])
