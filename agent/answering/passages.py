"""The answer without a model: for each question the passages that fit it best, as quotes, or that there are
none. Research, site and chat show passages in this one way; nothing is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agent.answering import conflict_sentences, fact_view, verdict
from agent.answering.claim_checks import check_sentences
from agent.answering.draft import build_fact_from_quote
from agent.answering.fact_intake import add_facts
from agent.answering.journey import describe_journey
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.evidence.block_layout import prune_blocks
from agent.evidence.citation_check import (
    accept_quotations,
    collect_sources,
    count_statements,
    filter_citations,
    has_page_support,
    state_with_subject,
)
from agent.evidence.contradiction import read_cells
from agent.evidence.report_words import words_for
from agent.retrieval.answer import PartAnswer, Quotation, find_answer
from agent.retrieval.scorer import UNCOUNTED
from agent.text.question_analysis import format_question
from agent.types import Answer, AnswerBlock, Fact, Passage, Sentence, StatementCounts

NOTE = "note"
"""The name of the newest note among the questions that passages are shown for."""


def show_passages(
    state: RunState,
    tools: RunContext,
    passages: Sequence[Passage] = (),
    *,
    facts: Sequence[Fact] | None = None,
    question: str = "",
    caveat: str = "",
    journey: str = "",
) -> tuple[Change, Answer]:
    """The change of the facts that are quoted, and an answer with them: `passages_found`, or `no_evidence`
    with the names of the question that no passage has.

    Chosen among `passages`, best first, or among the quotes of `facts`. Shown for `question`; else for each
    part of the plan, and for the newest public note. What a person pinned comes first."""
    asked = _list_questions(state, question)
    among, counts = (passages, None) if facts is None else (join_facts(facts), UNCOUNTED)
    found = find_answer(question or state.full_question, among, counts=counts, parts=list(asked.values()))
    answered = dict(zip(asked, found.parts, strict=True))
    known, new = {fact.id: fact for fact in facts or ()}, dict[str, Fact]()
    quoted = list[tuple[str, Quotation, Fact]]()  # the block, what stands in it, and its fact
    for name, part in answered.items():
        for n, quote in enumerate(part.quotes):
            fact = _find_quoted(quote, known) if facts is not None else _make_fact(state, tools, quote)
            if fact and fact.decision not in ("struck", "pinned"):
                quoted.append((f"p{name}" if n else f"p{name}lead", quote, fact))
                new |= {fact.id: fact} if fact.id not in state.facts else {}
    change: Change = add_facts(state, tools.step, list(new.values())) if new else {}
    now = state_after(state, change)
    usable = fact_view.facts_after_notes(now)
    stated = [
        Sentence(text=state_with_subject(fact), fact_ids=[fact.id], heading=fact.heading, block="pinned")
        for fact in fact_view.facts_for_answer(now)
        if fact.decision == "pinned"
    ]
    blocks = _list_blocks(answered)
    parts = {block.id: block.part for block in blocks}
    for name, quote, fact in quoted:
        text = fact.statement if fact.former else quote.statement
        placed = Sentence(text=text, fact_ids=[fact.id], heading=quote.heading, block=name)
        stated.append(placed.replace(part=parts[name]))
    checked = check_sentences(
        None, stated, usable, list(now.conflicts.values()), question=question or state.full_question
    )
    stated = [said for said in checked.sentences if said.fact_ids]
    answer = Answer(
        n=len(state.answers) + 1,
        verdict="passages_found",
        journey=journey or describe_journey(now),
        trouble=tools.model_failure,
        why_stopped=now.why_stopped,
        because=verdict.describe_edits(now),
        step=tools.step,
    )
    if not any(has_page_support(usable[name]) for said in stated for name in said.fact_ids):
        return change, _refuse(now, answer, found.missing, caveat, checked.dropped)
    conflicts = conflict_sentences.find_relevant_conflicts(now, stated, usable)
    named = conflict_sentences.write_conflict_sentences(now, conflicts, [], usable)
    named, dropped = filter_citations(named, usable, now.conflicts.values())
    named = [said.replace(block="k") for said in accept_quotations(named, usable)]
    told = {name for said in named for name in said.fact_ids}  # both sides stand there
    stated = [said for said in stated if not told.issuperset(said.fact_ids)]
    blocks, sentences = prune_blocks(list(_tell_gaps(blocks, stated, now.question)), [*named, *stated])
    works = {page.page_id: page.publication for page in now.pages.values() if page.publication}
    shown = {said.part for said in stated}
    plan = [part.replace(status="found" if part.id in shown else "not_found") for part in now.plan]
    return change, answer.replace(
        blocks=blocks,
        sentences=sentences,
        sources=collect_sources(sentences, usable, works),
        statements=count_statements(sentences, checked.dropped + dropped),
        conflicts=[conflict.id for conflict in conflicts if conflict.status == "open"],
        parts=plan if len(plan) > 1 else [],
        missing=_name_missing(found.missing),
        certainty=caveat,
    )


def _list_questions(state: RunState, question: str) -> dict[str, str]:
    """What passages are shown for, by the id of the plan's part, or NOTE."""
    if question:
        return {state.plan[0].id: question}
    notes = fact_view.public_note_texts(state)
    return ({NOTE: notes[-1]} if notes else {}) | {part.id: part.question for part in state.plan}


def _make_fact(state: RunState, tools: RunContext, quote: Quotation) -> Fact:
    """A quotation as a fact of the run; as the run knows it already."""
    page = tools.page(quote.page_id)
    fact = build_fact_from_quote(state.full_question, tools, page, quote, by="keyless")
    return state.facts.get(fact.id) or fact.replace(heading=quote.heading)


def join_facts(facts: Sequence[Fact]) -> list[Passage]:
    """The quotes of facts as passages: those of a page a paragraph each, best first, the rows of a table with
    its header. The id of a passage has those of its facts."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: -fact.relevance):
        groups.setdefault((fact.page_id or fact.id, _split_row(fact)[0]), []).append(fact)
    passages = []
    for (page_id, label), own in groups.items():
        own = sorted(own, key=lambda fact: fact.start) if label else own
        text = ("\n" if label else "\n\n").join(_split_row(fact)[1] for fact in own)
        passages.append(
            Passage(
                id=" ".join(fact.id for fact in own),
                page_id=page_id,
                url=own[0].url,
                title=own[0].title,
                heading=own[0].heading,
                kind="rows" if label else "prose",
                label=label,
                start=0,
                end=len(text),
                text=text,
            )
        )
    return passages


def _split_row(fact: Fact) -> tuple[str, str]:
    """The header and the cells of a table row; "" and the words of any other quote."""
    said = fact.quote if fact.by == "model" and not fact.former else fact.statement
    cells = read_cells(said)
    return " | ".join(name for name, _ in cells), " | ".join(value for _, value in cells) or said


def _find_quoted(found: Quotation, facts: Mapping[str, Fact]) -> Fact | None:
    """The fact among those of its passage that a quotation is from."""
    among = [facts[name] for name in found.passage_id.split() if name in facts]
    quote = " ".join(found.quote.split())
    return next((fact for fact in among if quote in " ".join(_split_row(fact)[1].split())), None)


def _list_blocks(answered: Mapping[str, PartAnswer]) -> list[AnswerBlock]:
    """The blocks: conflicts, what a person pinned, then for each question its lead and its passages, of
    several below its heading."""
    blocks = [AnswerBlock(id="k"), AnswerBlock(id="pinned", kind="list", role="passage")]
    for name, part in answered.items():
        block = AnswerBlock(id=f"p{name}", part=name if name != NOTE else "")
        head = block.replace(id=f"p{name}h", kind="heading", role="lead", text=format_question(part.question))
        blocks += [head] if len(answered) > 1 else []
        blocks += [
            block.replace(id=f"p{name}lead", role="lead"),
            block.replace(kind="list", role="passage"),
        ]
    return blocks


def _tell_gaps(
    blocks: Sequence[AnswerBlock], stated: Sequence[Sentence], question: str
) -> Iterator[AnswerBlock]:
    """The blocks, with one that says so below each heading under which nothing was found."""
    shown = {said.block.removesuffix("lead") for said in stated}
    for block in blocks:
        yield block
        if block.kind == "heading" and block.id.removesuffix("h") not in shown:
            lines = [words_for(question)["part_not_found"]]
            yield AnswerBlock(id=f"{block.id}gap", role="gap", part=block.part, by_code=True, lines=lines)


def _refuse(state: RunState, answer: Answer, missing: Sequence[str], caveat: str, dropped: int) -> Answer:
    told = verdict.explain_no_evidence(state)
    said = filter(None, (told["certainty"], _name_missing(missing), caveat))
    return answer.replace(
        **{**told, "certainty": " ".join(said)},
        verdict="no_evidence",
        statements=StatementCounts(dropped=dropped),
    )


def _name_missing(terms: Sequence[str]) -> str:
    return f"No passage holds {', '.join(f'“{term}”' for term in terms)}." if terms else ""
