"""The parts of a compound question in the person's words, and what it says of its answer's form."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.text.answer_type import detect_answer_type
from agent.text.names import find_names, find_proper_names
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import find_function_words, tokenize
from agent.text.word_lists import STOPWORDS, load_words, read_patterns

MAX_PARTS = 6
"""A question with more clauses stays one part: a plan of that length is a model's matter."""
MAX_ITEM_WORDS = 5
"""Words of one item of a list, and behind "the" of one thing (our own judgement: longer ones are clauses)."""

_WORD = rf"(?:{read_patterns('question_patterns')['question_word']})"
_OPENING = re.compile(
    rf"^\W*(?:(?:in|at|on|from|since|until|by|to|for|of|with|and|und|och|et|y)\s+)?"
    rf"(?:{_WORD}|{'|'.join(load_words('auxiliaries'))})\b",
    re.IGNORECASE,
)
_ASKING_VERB = (
    rf"(?:{'|'.join(load_words('auxiliaries'))})\s+(?:i|you|we|there|it|he|she|they)"
    r"|(?:do|does|did|can|will|should)\s+(?:the|an?|my|your|this|these)"
)
"""What opens a clause that asks for yes or no ("and do you repair …?"), but not the second half of "who was
born in Selm and was the first to …"."""
_JOINT = re.compile(
    rf"[,;]?\s+(?:and|und|och|et|y)(?:\s+(?:also|auch|även|aussi|también))?\s+(?=({_WORD}|{_ASKING_VERB})\b)",
    re.IGNORECASE,
)
_ITEM_JOINT = re.compile(r"\s*,\s*(?:(?:and|und|och|et|y)\s+)?|\s+(?:and|und|och|et|y)\s+", re.IGNORECASE)
_THING = re.compile(r"\b(?:it|(?P<owner>its))\b", re.IGNORECASE)
_BE = re.compile(r"is|are|was|were", re.IGNORECASE)
_ANYTHING = re.compile(r"\b(?:it|he|she|him|(?P<owner>its|his))\b", re.IGNORECASE)
_FORM_PATTERNS = read_patterns("output_form")
_COMPARING = re.compile(rf"^(?:{_FORM_PATTERNS['comparing']})\s+", re.IGNORECASE)
_FORM = re.compile(rf"\b(?:{_FORM_PATTERNS['request']}|{_FORM_PATTERNS['form']})(?!\w)[:,]?", re.IGNORECASE)


def split_compound_question(question: str) -> list[str]:
    """The clauses that ask something by themselves, in order ("When was it built, and who designed it?" has
    two), or what a list asks of its topic ("the two ferries: length and price"); the whole question where it
    has only one."""
    # "topic: a and b" as "topic: a", "topic: b"; not a question, whose colon may be that of a title
    topic, _, listed = remove_output_form(question).rstrip(" .!?").rpartition(": ")
    parts = [f"{_COMPARING.sub('', topic)}: {item.strip()}" for item in _ITEM_JOINT.split(listed)]
    if 1 < len(parts) <= MAX_PARTS and all(map(find_item, parts)):
        return parts
    parts = []
    for begin, end in find_sentence_spans(question):
        sentence, start = question[begin:end], 0
        if not _OPENING.match(sentence):
            continue
        for joint in _JOINT.finditer(sentence):
            before, after = sentence[start : joint.start()], sentence[joint.end() :]
            # in "the singer who wrote A and who wrote B" the second "who" continues a relative clause
            is_relative = re.search(rf"\w.*\b{re.escape(joint[1])}\b", before, re.IGNORECASE)
            if not is_relative and _OPENING.match(before) and _has_content(before) and _has_content(after):
                parts.append(before.strip())
                start = joint.end()
        parts.append(sentence[start:].strip())
    return parts if 1 < len(parts) <= MAX_PARTS else [question.strip()]


def find_item(part: str) -> str:
    """What a part of a list asks of its topic: "price" of "the two ferries: price"; "" for any other part."""
    topic, _, item = part.rstrip(" .!?").rpartition(": ")
    is_item = _has_content(topic) and 0 < len(item.split()) <= MAX_ITEM_WORDS
    return item if is_item and not _OPENING.match(topic) and not _OPENING.match(item) else ""


def resolve_parts(parts: Sequence[str]) -> list[str]:
    """The parts, each with what the first is plainly about in the place of its pronoun ("who runs it?" after
    "Who owns the dairy": "who runs the dairy?"); unchanged where that is not plain."""
    subject, is_thing = _find_subject(parts[0])
    owner, resolved = f"{subject}{'’' if subject.endswith('s') else '’s'}", list(parts[:1])
    for part in parts[1:]:
        found = (_THING if is_thing else _ANYTHING).search(part)
        if subject and found and not find_proper_names(part[1:]):
            part = f"{part[: found.start()]}{owner if found['owner'] else subject}{part[found.end() :]}"
        resolved.append(part)
    return resolved


def _find_subject(question: str) -> tuple[str, bool]:
    """The one thing that a question names, by name or as "the …" at its end (before the verb of "did the …
    open"), and whether it can only be a thing; "" where it names none or several."""
    clause = question.rstrip(" ?.!,")
    names, articles = find_proper_names(clause[1:]), list(re.finditer(r"\bthe\s+(?=\w)", clause))
    if articles:
        phrase, most = clause[articles[0].end() :], MAX_ITEM_WORDS
        before = "".join(clause[: articles[0].start()].lower().split()[-1:])
        if _BE.fullmatch(before):  # "was the old bridge built": where the thing ends is not plain
            most = 1
        elif before in load_words("auxiliaries"):
            phrase = phrase.rpartition(" ")[0]
        inside = [name for name in names if name.start + 1 >= articles[0].end()]
        is_plain = len(articles) == 1 and inside == names and 0 < len(phrase.split()) <= most
        is_plain &= not find_function_words(tokenize(phrase))
        return (f"the {phrase}", True) if is_plain else ("", False)
    asks_person = detect_answer_type(question) == "person"
    return (names[0].text, asks_person) if len(names) == 1 else ("", False)


def complete_parts(parts: Sequence[str]) -> list[str]:
    """The parts, each that refers back ("what does it mean?") with what the first is plainly about, else with
    the names in it, or where it has none with its content words."""
    words = tokenize(parts[0])
    content = [word for word in words if word not in find_function_words(words)]
    first = " ".join(find_names(parts[0]) or content)
    pronouns, resolved = load_words("pronouns"), resolve_parts(parts)
    return [
        f"{part} {first}" if n and part == parts[n] and pronouns.intersection(tokenize(part)) else part
        for n, part in enumerate(resolved)
    ]


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


def format_question(question: str) -> str:
    """A clause of a question as a heading: without words on the form of the answer, with a capital, and where
    it asks with a question mark."""
    text = remove_output_form(question.strip()).strip(" ,;:")
    return f"{text[:1].upper()}{text[1:]}{'?' if text[-1:].isalnum() and is_asking(text) else ''}"


def _has_content(clause: str) -> bool:
    return any(word not in STOPWORDS for word in tokenize(clause))
