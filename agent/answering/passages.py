"""The answer without a model: for each question the passages that fit it best, as quotes, or that there are
none. Research, site and chat show passages in this one way; nothing is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.answering import fact_view, verdict
from agent.answering.claim_checks import check_sentences
from agent.answering.draft import build_fact_from_quote
from agent.answering.fact_view import add_facts
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.evidence.citation_check import read_cells, state_with_subject
from agent.evidence.report_words import words_for
from agent.retrieval.answer import PartAnswer, find_answer
from agent.retrieval.scorer import UNCOUNTED
from agent.text.question_analysis import format_question
from agent.types import Answer, AnswerBlock, Fact, Passage, Sentence

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
    notes = [] if question else fact_view.note_texts(state, public=True)
    asked = {NOTE: notes[-1]} if notes else {}
    asked |= {part.id: question or part.question for part in state.plan[: 1 if question else None]}
    among, counts = (passages, None) if facts is None else (join_facts(facts), UNCOUNTED)
    found = find_answer(question or state.full_question, among, counts=counts, parts=list(asked.values()))
    blocks, stated, new = _quote(state, tools, dict(zip(asked, found.parts, strict=True)), facts)
    change: Change = add_facts(state, tools.step, new) if new else {}
    now = state_after(state, change)
    usable = fact_view.facts_after_notes(now)
    pinned = [
        Sentence(text=state_with_subject(fact), fact_ids=[fact.id], heading=fact.heading, block="pinned")
        for fact in fact_view.facts_for_answer(now)
        if fact.decision == "pinned"
    ]
    asked_for, known = question or state.full_question, list(now.conflicts.values())
    checked = check_sentences(None, [*pinned, *stated], usable, known, question=asked_for)
    stated = [said for said in checked.sentences if said.fact_ids]
    quoting, gap = {said.block for said in stated}, words_for(now.question)["part_not_found"]
    laid = list[AnswerBlock]()
    for block in blocks:  # what says so below a heading under which nothing was found
        laid.append(block)
        name = block.id.removesuffix("h")
        if block.kind == "heading" and quoting.isdisjoint({name, f"{name}lead"}):
            frame = AnswerBlock(id=f"{block.id}gap", role="gap", part=block.part, by_code=True, lines=[gap])
            laid.append(frame)
    draft = checked.replace(sentences=stated, blocks=laid, trouble=tools.model_failure)
    answer = verdict.finish_answer(now, draft, tools.step, journey=journey)
    terms = ", ".join(f"“{term}”" for term in found.missing if among)
    missing = f"No passage holds {terms}." if terms else ""
    if answer.verdict == "no_evidence":
        caveat = " ".join(filter(None, (answer.certainty, missing, caveat)))
        return change, answer.replace(certainty=caveat)
    return change, answer.replace(certainty=caveat, missing=missing)


def _quote(
    state: RunState, tools: RunContext, answered: Mapping[str, PartAnswer], facts: Sequence[Fact] | None
) -> tuple[list[AnswerBlock], list[Sentence], list[Fact]]:
    """The blocks (what a person pinned, then for each question its lead and its passages, of several below
    its heading), what stands in those of the questions, and the facts that are new to the run."""
    blocks = [AnswerBlock(id="pinned", kind="list", role="passage")]
    stated, new, known = list[Sentence](), dict[str, Fact](), {fact.id: fact for fact in facts or ()}
    for name, part in answered.items():
        block = AnswerBlock(id=f"p{name}", part=name if name != NOTE else "")
        head = block.replace(id=f"p{name}h", kind="heading", role="lead", text=format_question(part.question))
        blocks += [head] if len(answered) > 1 else []
        blocks += [block.replace(id=f"p{name}lead", role="lead"), block.replace(kind="list", role="passage")]
        for n, quote in enumerate(part.quotes):
            if facts is None:
                page = tools.page(quote.page_id)
                made = build_fact_from_quote(state.full_question, tools, page, quote, by="keyless")
                found = [state.facts.get(made.id) or made.replace(heading=quote.heading)]
            else:  # those of its passage whose words it has
                words = " ".join(quote.quote.split())
                among = (known[id] for id in quote.passage_id.split() if id in known)
                found = [fact for fact in among if words in " ".join(_split_row(fact)[1].split())]
            if found and found[0].decision not in ("struck", "pinned"):
                fact, where = found[0], f"p{name}" if n else f"p{name}lead"
                text = fact.statement if fact.former else quote.statement
                said = Sentence(text=text, fact_ids=[fact.id], heading=quote.heading, block=where)
                stated.append(said.replace(part=block.part))
                new |= {fact.id: fact} if fact.id not in state.facts else {}
    return blocks, stated, list(new.values())


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
