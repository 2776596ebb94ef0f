"""What is written anew after a note, what it is written from, and what the reader of the note is shown."""

from __future__ import annotations

from typing import Any

from agent.answering.fact_view import facts_after_notes
from agent.answering.revision import (
    build_reading,
    pause_for_exclusion,
    state_understood,
    write_numbered_lines,
)
from agent.answering.write_report import describe_former
from agent.engine.run_state import RunState
from agent.flows.research.revise import split_answer
from agent.roles.report import RevisionReply
from agent.types import Answer, AnswerBlock, Fact, Note, PlanPart, Sentence
from tests.records import fill

ASKED = {"1": "Who repairs the nets?", "2": "How are the nets dyed?"}
MENDED, BARK, COPPER = (
    "Anna mends the nets.",
    "The nets are dyed with bark.",
    "The nets are dyed with copper.",
)


def make_fact(name: str, text: str, part: str, step: int = 2, **more: Any) -> Fact:
    url = f"https://{name}.example/"
    known = {
        "quote": text,
        "page_id": name,
        "url": url,
        "verified": True,
        "trust": 0.5,
        "part": part,
        "step": step,
    }
    return Fact(id=name, statement=text, **{**known, **more})


def make_state(*facts: Fact, **answer: Any) -> RunState:
    """A run with an answer of a full report's two sections, sent back by a note."""
    blocks, sentences = list[AnswerBlock](), list[Sentence]()
    for part, texts in (("1", [MENDED]), ("2", [BARK, COPPER])):
        blocks += [AnswerBlock(id=f"h{part}", kind="heading", text=f"Part {part}", part=part)]
        blocks += [AnswerBlock(id=f"p{part}", part=part)]
        for text in texts:
            ids = [fact.id for fact in facts if fact.statement.startswith(text)]
            said = Sentence(text=text, fact_ids=ids, part=part, block=f"p{part}", backed=True)
            sentences.append(said.replace(**{"check": "judged_supported", **answer.get(text, {})}))
    made = Answer(n=1, verdict="answered", length="full", by="model", step=5, blocks=blocks)
    return RunState(
        question="Who repairs the nets, and how are they dyed?",
        plan_parts=[PlanPart(id=id, question=text) for id, text in ASKED.items()],
        facts={fact.id: fact for fact in facts},
        answers=[made.replace(sentences=sentences)],
        notes=[fill(Note, text="More on the bark.", step=6)],
    )


FACTS = (make_fact("anna", MENDED, "1"), make_fact("bark", BARK, "2"), make_fact("copper", COPPER, "2"))


def read(state: RunState, **reply: Any) -> Any:
    given = RevisionReply(**reply)
    return build_reading(state, given, 7, asks=given)


def find_pieces(state: RunState, **reply: Any) -> list[tuple[str, list[str]]]:
    """The heading and the former sentences of each piece that is written anew."""
    assert state.answer is not None
    _, _, pieces = split_answer(state, read(state, **reply), state.answer)
    return [(piece.section.heading, [said.claim for said in piece.former]) for piece in pieces]


def test_a_table_is_a_piece_of_its_own_and_shows_its_empty_cells() -> None:
    state = make_state(*FACTS)
    answer = state.answers[0]
    table = AnswerBlock(id="t", kind="table", heads=["Dye", "Colour", "Age"], row_labels=["bark"])
    cell = Sentence(text="brown", block="t", row=0, column=1, context="bark: Colour", fact_ids=["bark"])
    age = Sentence(text="old", block="t", row=1, column=2, context="oak: Age", fact_ids=["bark"])
    table = table.replace(row_labels=["bark", "oak"])
    blocks = [*answer.blocks, table, AnswerBlock(id="q2")]
    state.answers = [answer.replace(blocks=blocks, sentences=[*answer.sentences, cell, age])]
    assert state.answer is not None
    lines = write_numbered_lines(state.answer, state.facts)
    told = ["t1: table Dye | Colour | Age", "c1.1: bark: Age: (empty)", "c1.2: oak: Colour: (empty)"]
    assert lines[lines.index(told[0]) :][:3] == told
    cells = ["bark: Colour: brown", "bark: Age: (empty)", "oak: Colour: (empty)", "oak: Age: old"]
    assert find_pieces(state, about=["t1"]) == find_pieces(state, about=["c1.2"]) == [("Part 2", cells)]
    assert find_pieces(state, about=["s2"]) == [("Part 2", [BARK, COPPER])]


def test_a_sentence_that_was_judged_wrong_comes_back_to_a_model_with_a_mark() -> None:
    state = make_state(*FACTS, **{COPPER: {"check": "not_supported", "backed": False}})
    assert state.answer is not None
    marked = f"{COPPER} (not supported by its quotes)"
    assert f"s3: {marked}" in "\n".join(write_numbered_lines(state.answer, state.facts))
    former = describe_former(state)
    assert marked in former and f"{BARK} (not" not in former


def test_a_number_of_words_that_a_model_read_is_a_target_and_no_limit() -> None:
    state = make_state(*FACTS)
    assert "about 250 words" in state_understood(read(state, max_words=250))


def test_what_a_note_removes_goes_and_nothing_is_written_for_it() -> None:
    state = make_state(*FACTS)
    assert state.answer is not None
    reading = read(state, removed=["s2", "s99"])
    _, kept, pieces = split_answer(state, reading, state.answer)
    assert reading.removed == ["s2"] and not reading.is_whole
    assert [said.text for said in kept] == [MENDED, COPPER] and not pieces


def test_a_note_that_leaves_out_most_facts_asks_first_and_what_it_trusts_stays() -> None:
    state = make_state(*FACTS)
    state.notes = [
        fill(Note, text="Leave out bark.example and copper.example, I only trust anna.example.", step=6)
    ]
    reading = read(state, excluded_sites=["bark.example", "copper.example", "birch.example"])
    assert reading.excluded_sites == ["bark.example", "copper.example"], "of no page, and in no note"
    state.readings = [reading]
    asked = pause_for_exclusion(state)
    assert asked and "leaves out 2 of 3 facts: bark.example (1), copper.example (1)." in asked.why
    assert len(facts_after_notes(state)) == 3
    state.readings.append(reading.replace(waits=False))
    assert pause_for_exclusion(state) is None and list(facts_after_notes(state)) == ["anna"]
    assert not read(make_state(*FACTS), excluded_sites=["bark.example"]).waits


def test_a_later_note_allows_again_what_it_names_and_a_model_nothing_by_itself() -> None:
    state = make_state(*FACTS)
    state.readings = [read(state, excluded_sites=["bark.example"])]
    assert list(facts_after_notes(state)) == ["anna", "copper"]
    state.notes = [fill(Note, text="Shorter, please.", step=8)]
    assert not read(state, allowed_sites=["bark.example"], length="shorter").allowed_sites
    state.notes = [fill(Note, text="For the dye the bark pages may be used again.", step=9)]
    reading = read(state, allowed_sites=["bark.example", "copper.example"])
    assert reading.allowed_sites == ["bark.example"]
    state.readings.append(reading)
    assert list(facts_after_notes(state)) == ["anna", "bark", "copper"]
