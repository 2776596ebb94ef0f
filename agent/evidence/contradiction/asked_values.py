"""What two facts say of the value that a question asks for: another, the same, or it is not to tell. Their
wording need not be alike, but both must speak of what happened or holds by the question's own words."""

from __future__ import annotations

from agent.evidence.contradiction.forms import comparable_forms, is_table_row
from agent.evidence.contradiction.identity import is_same_thing
from agent.evidence.contradiction.statements import ConflictKind, is_same_value
from agent.evidence.statement_features import StatementFeatures, extract_features
from agent.text.question_analysis import ParsedQuestion
from agent.text.question_parts import find_item
from agent.text.tokens import stem_prefix, stem_words
from agent.types import Fact

CALENDAR_WORDS = "date day month year decade century"
"""Words of a question that only name the kind of date it asks for: a fact needs none of them."""


def asked_kind(question: ParsedQuestion) -> ConflictKind | None:
    """The kind of value that is asked for, where it can be compared in any wording: a date or a figure."""
    kind = question.answer_type
    return "date" if kind == "date" else "number" if kind == "number" else None


MIN_ASKED_SHARE = 0.5
"""Share of a question's content words that a fact about it has at least (our own judgement: more than a name
in common, less than the same wording)."""


def is_on_question(fact: Fact, question: ParsedQuestion) -> bool:
    """Whether a fact, with its page's title, has half of the question's content words, and a word of its
    names where it has any; of a part of a list ("the ferries: price") all words of what it asks."""
    if item := find_item(question.text):
        return _prefixes(item) <= _prefixes(fact.statement)
    names, words = _read_names(question), frozenset(question.prefix_weights)
    stated = _prefixes(f"{fact.title} {fact.subject} {fact.attribute} {fact.statement}")
    return (not names or bool(names & stated)) and len(words & stated) >= MIN_ASKED_SHARE * len(words)


def states_asked_matter(a: Fact, b: Fact, question: ParsedQuestion) -> bool:
    """Whether two facts about a question speak of one matter of it.

    "The bridge was closed on 3 May" does not when the other, and the question, say "reopened": beside the
    value it lacks a word that they share, and has one of its own."""
    if not (is_on_question(a, question) and is_on_question(b, question)):
        return False
    rest = frozenset(question.prefix_weights) - _read_names(question) - _prefixes(CALENDAR_WORDS)
    if rest and not rest & (_prefixes(_said(a)) | _prefixes(_said(b))):
        return False  # neither speaks of what is asked of the thing
    return not (_replaces_word(a, b, rest) or _replaces_word(b, a, rest))


def states_same_answer(a: Fact, b: Fact, question: ParsedQuestion) -> bool:
    """Whether two facts about one thing give the same date or figure as the answer to a question."""
    kind = asked_kind(question)
    if kind is None or not (is_same_thing(a, b) and states_asked_matter(a, b, question)):
        return False
    return any(is_same_value(kind, one, other) for one in _values(a, kind) for other in _values(b, kind))


def _replaces_word(fact: Fact, other: Fact, asked: frozenset[str]) -> bool:
    """Whether a fact says its value of something else: a word that the other one and the question use is
    missing in it, and beside its value stands one that neither has."""
    theirs = _prefixes(_said(other))
    if not asked & theirs - _prefixes(_said(fact)):
        return False
    names = _prefixes(" ".join(name.text for name in extract_features(fact.statement).names))
    known = theirs | asked | names
    return all(_prefixes(" ".join(clause.frame)) - known for clause in _value_clauses(fact))


def _value_clauses(fact: Fact) -> list[StatementFeatures]:
    """The cells of a row that hold a value; of prose the first clause that does, else the whole."""
    forms = comparable_forms(fact.statement)
    if not is_table_row(fact.statement):
        return [extract_features(forms[1] if len(forms) > 1 else fact.statement)]
    cells = map(extract_features, forms)
    return [cell for cell in cells if cell.dates or cell.quantities]


def _values(fact: Fact, kind: ConflictKind) -> list[str]:
    said = extract_features(fact.statement)
    if kind == "date":
        return [date.text for date in said.dates if not date.is_yearless]
    return [quantity.text for quantity in said.quantities]


def _said(fact: Fact) -> str:
    return f"{fact.subject} {fact.attribute} {fact.statement}"


def _read_names(question: ParsedQuestion) -> frozenset[str]:
    return _prefixes(" ".join(question.name_words | question.figures))


def _prefixes(text: str) -> frozenset[str]:
    return frozenset(map(stem_prefix, stem_words(text)))
