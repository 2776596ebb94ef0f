"""The parts of a compound question, each in the person's words, and what a question says of the form of its
answer only."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.text.names import find_names
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import find_function_words, tokenize
from agent.text.word_lists import STOPWORDS, load_words, read_patterns

MAX_PARTS = 6
"""A question with more clauses stays one part: a plan of that length is a model's matter."""
MAX_ITEM_WORDS = 5
"""Words of one item of a list that is asked for (our own judgement: a longer one is a sentence)."""

_WORD = rf"(?:{read_patterns('question_patterns')['question_word']})"
_OPENING = re.compile(
    rf"^\W*(?:(?:in|at|on|from|since|until|by|to|for|of|with|and|und|och|et|y)\s+)?"
    rf"(?:{_WORD}|{'|'.join(load_words('auxiliaries'))})\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    rf"[,;]?\s+(?:and|und|och|et|y)(?:\s+(?:also|auch|även|aussi|también))?\s+(?=({_WORD})\b)", re.IGNORECASE
)
_ITEM_JOINT = re.compile(r"\s*,\s*(?:(?:and|und|och|et|y)\s+)?|\s+(?:and|und|och|et|y)\s+", re.IGNORECASE)
_FORM_PATTERNS = read_patterns("output_form")
_COMPARING = re.compile(rf"^(?:{_FORM_PATTERNS['comparing']})\s+", re.IGNORECASE)
_FORM = re.compile(rf"\b(?:{_FORM_PATTERNS['request']}|{_FORM_PATTERNS['form']})(?!\w)[:,]?", re.IGNORECASE)


def split_compound_question(question: str) -> list[str]:
    """The clauses that ask something by themselves, in order ("When was it built, and who designed it?" has
    two), or what a list asks of its topic ("the two ferries: length and price"); the whole question where it
    has only one."""
    if parts := _split_list(question):
        return parts
    sentences = [question[start:end] for start, end in find_sentence_spans(question)]
    asked = [sentence for sentence in sentences if _OPENING.match(sentence)]
    parts = [part for sentence in asked for part in _split_sentence(sentence)]
    return parts if 1 < len(parts) <= MAX_PARTS else [question.strip()]


def find_item(part: str) -> str:
    """What a part of a list asks of its topic: "price" of "the two ferries: price"; "" for any other part."""
    topic, _, item = part.rstrip(" .!?").rpartition(": ")
    is_item = _has_content(topic) and 0 < len(item.split()) <= MAX_ITEM_WORDS
    return item if is_item and not _OPENING.match(topic) and not _OPENING.match(item) else ""


def complete_parts(parts: Sequence[str]) -> list[str]:
    """The parts, each that refers back ("what does it mean?") with the names in the first, or where it has
    none with its content words."""
    words = tokenize(parts[0])
    content = [word for word in words if word not in find_function_words(words)]
    first = " ".join(find_names(parts[0]) or content)
    pronouns = load_words("pronouns")
    return [*parts[:1], *(f"{p} {first}" if pronouns.intersection(tokenize(p)) else p for p in parts[1:])]


def is_asking(clause: str) -> bool:
    """Whether a clause opens as a question does: with a question word or an auxiliary verb."""
    return bool(_OPENING.match(clause))


def remove_output_form(question: str) -> str:
    """The question without the words on the form of the answer ("write a short report with headings"): no
    page can hold them. The question itself where nothing else is left."""
    rest = " ".join(_FORM.sub(" ", question).split())
    return rest if re.search(r"\w{3}", rest) else question


def find_output_form(question: str) -> str:
    """The words of a question on the form of its answer; "" for none."""
    return " ".join(found[0] for found in _FORM.finditer(question))


def _split_sentence(sentence: str) -> list[str]:
    """The clauses of one sentence that begin with a question word of their own."""
    parts, start = list[str](), 0
    for joint in _JOINT.finditer(sentence):
        before, after = sentence[start : joint.start()], sentence[joint.end() :]
        # in "the singer who wrote A and who wrote B" the second "who" continues a relative clause
        is_relative = re.search(rf"\w.*\b{re.escape(joint[1])}\b", before, re.IGNORECASE)
        if not is_relative and _OPENING.match(before) and _has_content(before) and _has_content(after):
            parts.append(before.strip())
            start = joint.end()
    return [*parts, sentence[start:].strip()]


def _split_list(question: str) -> list[str]:
    """The items of a request that ends in "topic: a and b", each as "topic: a"; [] for a question, whose colon
    may be that of a title, and for any other."""
    topic, _, listed = remove_output_form(question).rstrip(" .!?").rpartition(": ")
    parts = [f"{_COMPARING.sub('', topic)}: {item.strip()}" for item in _ITEM_JOINT.split(listed)]
    return parts if 1 < len(parts) <= MAX_PARTS and all(map(find_item, parts)) else []


def _has_content(clause: str) -> bool:
    return any(word not in STOPWORDS for word in tokenize(clause))
