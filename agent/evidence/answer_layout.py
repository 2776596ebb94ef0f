"""How an answer without a model is laid out, for every surface: part by part a lead and its passages, or that
nothing was found; the rest under "Also found"."""

from __future__ import annotations

from dataclasses import dataclass

from agent.text.question_parts import is_asking, remove_output_form
from agent.types import Answer, Sentence

ALSO_FOUND = "Also found"
NOT_FOUND = "No passage was found by these words."
UNJUDGED_NOTE = "No model judged these passages; read them."
"""The note beside the verdict `passages_found`."""


@dataclass(frozen=True)
class PartLayout:
    """One part: its `question` ("" for the only one), lead and passages, or the `gap` in their place."""

    question: str
    leads: list[Sentence]
    passages: list[Sentence]
    gap: str = ""


@dataclass(frozen=True)
class AnswerLayout:
    """The parts, the sentences about conflicts before and after them, and what is folded."""

    opening: list[Sentence]
    parts: list[PartLayout]
    closing: list[Sentence]
    others: list[Sentence]


def lay_out(answer: Answer) -> AnswerLayout | None:
    """The layout of an answer whose sentences have places; None for any other."""
    placed = [n for n, sentence in enumerate(answer.sentences) if sentence.place]
    if not placed:
        return None
    questions = {part.id: part.question for part in answer.parts}
    named = dict.fromkeys([*questions, *(answer.sentences[n].part for n in placed)])
    loose = [(n, sentence) for n, sentence in enumerate(answer.sentences) if not sentence.place]
    return AnswerLayout(
        opening=[sentence for n, sentence in loose if n < placed[0]],
        parts=[part for id in named if (part := _lay_out_part(answer, id, questions.get(id, "")))],
        closing=[sentence for n, sentence in loose if n > placed[0]],
        others=[sentence for sentence in answer.sentences if sentence.place == "other"],
    )


def label_passage(answer: Answer, sentence: Sentence) -> str:
    """What stands before a passage: the headings over it, else its page's title; "" for no passage."""
    if not sentence.place:
        return ""
    cited = set(sentence.fact_ids)
    titles = [source.title for source in answer.sources if cited.intersection(source.fact_ids)]
    return sentence.heading or next(iter(titles), "")


def _lay_out_part(answer: Answer, id: str, question: str) -> PartLayout | None:
    """The layout of one part; None for one without a question of which nothing is shown."""
    own = [sentence for sentence in answer.sentences if sentence.part == id]
    leads = [sentence for sentence in own if sentence.place == "lead"]
    passages = [sentence for sentence in own if sentence.place == "passage"]
    if not (question or leads or passages):
        return None
    return PartLayout(format_question(question), leads, passages, "" if own else NOT_FOUND)


def format_question(question: str) -> str:
    """A clause of a question as a heading: without words on the form of the answer, with a capital, and where
    it asks with a question mark."""
    text = remove_output_form(question.strip()).strip(" ,;:")
    return f"{text[:1].upper()}{text[1:]}{'?' if text[-1:].isalnum() and is_asking(text) else ''}"
