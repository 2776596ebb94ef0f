"""The sentences in which code names conflicts in an answer: each side in its words, and what settled it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from agent.engine.run_state import RunState
from agent.evidence.conflicts import EVIDENCE_REASON_PREFIX
from agent.evidence.report_words import ENGLISH, list_report_words, load_report_words, words_for
from agent.text.urls import site
from agent.types import Conflict, Fact, Sentence

CONFLICT_PREFIXES = tuple(words["differ"].partition(" {topic}")[0] for words in list_report_words())
RULING_PREFIX = "A person settled this:"
READING_PREFIX = "The model's reading:"
"""How the sentences begin that name a conflict (in each language), one that a
person ruled on, and one that a model settled. Code sees another value, no contradiction: it says "differ"."""
MAX_CONFLICTS, MAX_SIDES, MAX_SITES = 2, 5, 3
"""Conflicts, rulings of a person or sides of a conflict, and sites of a side that an answer names."""
WORDS_BEFORE, WORDS_AFTER = 10, 6
"""Words of a long quote that are kept around its value."""
_NUMBER_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()


def name_conflicts(
    state: RunState, written: Sequence[Sentence], facts: Mapping[str, Fact], *, is_model: bool
) -> tuple[list[Conflict], list[Sentence]]:
    """The conflicts, open or settled by a model or the count of sources, about what is asked or about a fact
    that the sentences cite; and a sentence for each ruling of a person, then for each of these conflicts of
    which a model's sentences do not cite two sides. Only active facts are quoted."""
    cited, parts = {i for said in written for i in said.fact_ids}, {part.id for part in state.plan}
    found, ruled, named = list[Conflict](), list[Conflict](), list[Sentence]()
    for conflict in state.conflicts.values():
        ruled += [conflict] if conflict.settled_by == "person" and conflict.ruling else []
        ids = {i for side in conflict.values for i in side.fact_ids}
        on = {facts[i].part for i in ids if i in facts}
        # of the plan, or of no known part: a person may have dropped its part
        is_asked = conflict.asks and ("" in on or not on or bool(on & parts))
        is_told = conflict.status == "open" or conflict.settled_by == "model"
        is_told = is_told or conflict.reason.startswith(EVIDENCE_REASON_PREFIX)
        if is_told and (is_asked or cited & ids):
            found.append(conflict)
    found.sort(key=lambda conflict: (conflict.status != "open", not conflict.asks))
    found, words = found[:MAX_CONFLICTS], words_for(state.question) if found or ruled else {}
    active = {name: fact for name, fact in facts.items() if fact.is_active} if words else {}
    for conflict in ruled[-MAX_SIDES:]:
        named.append(_ruling_sentence(conflict, active, words))
    for conflict in found:
        if not is_model or sum(not cited.isdisjoint(value.fact_ids) for value in conflict.values) < 2:
            named.append(_conflict_sentence(conflict, active, words))
    return found, named


def is_conflict_sentence(text: str) -> bool:
    """Whether code wrote this sentence about a conflict."""
    return is_disagreement(text) or text.startswith(RULING_PREFIX)


def is_disagreement(text: str) -> bool:
    """Whether code wrote this sentence about sides that no person has ruled on."""
    return text.startswith((*CONFLICT_PREFIXES, READING_PREFIX))


def list_possible_sentences(
    question: str, conflicts: Iterable[Conflict], facts: Mapping[str, Fact]
) -> set[str]:
    """Every sentence that code may have written about these conflicts."""
    active = {name: fact for name, fact in facts.items() if fact.is_active}
    return {
        write(conflict, active, words).text
        for conflict in conflicts
        for write in (_conflict_sentence, _ruling_sentence)
        for words in (words_for(question), load_report_words(ENGLISH))
    }


def _conflict_sentence(conflict: Conflict, facts: dict[str, Fact], words: Mapping[str, str]) -> Sentence:
    sides, ids = _quote_sides(conflict, facts, words)
    if conflict.settled_by == "model":
        reading = conflict.replace(
            model_reason=""
        ).model_reading  # its reason is a model's words: on the card
        text = f"{READING_PREFIX} on {conflict.topic} {reading} ({sides})."
        return Sentence(text=text, fact_ids=ids)
    chosen = [len(value.sites) for value in conflict.values if value.text == conflict.chosen]
    others = [len(value.sites) for value in conflict.values if value.text != conflict.chosen]
    settled = ""
    if chosen:
        many = f"{_spell_number(chosen[0])} independent {'site' if chosen[0] == 1 else 'sites'}"
        against = _spell_number(max(others, default=0))
        settled = words["taken"].format(value=conflict.chosen, many=many, against=against)
    text = words["differ"].format(topic=conflict.topic, sides=sides, settled=settled)
    return Sentence(text=text, fact_ids=ids)


def _ruling_sentence(conflict: Conflict, facts: dict[str, Fact], words: Mapping[str, str]) -> Sentence:
    sides, ids = _quote_sides(conflict, facts, words)
    ruling = "neither is correct" if conflict.ruling == "neither" else "both hold"
    if conflict.chosen:
        ruling = f"“{conflict.chosen}”"
    why = f", because “{conflict.reason}”" if conflict.reason else ""
    return Sentence(text=f"{RULING_PREFIX} {conflict.topic}: {ruling}{why} ({sides}).", fact_ids=ids)


def _quote_sides(
    conflict: Conflict, facts: dict[str, Fact], words: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Each side in the words of the sites that state it, and the ids of the facts quoted."""
    sides, ids = list[str](), list[str]()
    values = sorted(conflict.values, key=lambda value: value.text != conflict.chosen)
    for value in values[:MAX_SIDES]:
        quoted: dict[str, Fact] = {}
        for fact in (facts[i] for i in value.fact_ids if i in facts):
            quoted.setdefault(site(fact.url) or "one source", fact)
        sites_by_quote: dict[str, list[str]] = defaultdict(list)
        for name, fact in list(quoted.items())[:MAX_SITES]:
            sites_by_quote[_shorten_quote(value.text, fact.quote)].append(name)
            ids.append(fact.id)
        said = [
            f"{words['say' if len(names) > 1 else 'says'].format(sites=' and '.join(names))} “{quote}”"
            for quote, names in sites_by_quote.items()
        ]
        sides += [" and ".join(said)] if said else []
    more = len(values) - MAX_SIDES
    return "; ".join(sides) + (f"; and {_spell_number(more)} more" if more > 0 else ""), ids


def _spell_number(n: int) -> str:
    """The number in words: the claim check looks for digits in the quotes."""
    return _NUMBER_WORDS[n] if n < len(_NUMBER_WORDS) else "many"


def _shorten_quote(value: str, quote: str) -> str:
    """A quote; of a long one the words around the value, outside of brackets where it occurs there."""
    quote = quote.rstrip(". ")
    places = [place.start() for place in re.finditer(re.escape(value), quote)]
    outside = [place for place in places if quote.count("(", 0, place) <= quote.count(")", 0, place)]
    at = (outside or places[-1:] or [-1])[0]
    before, after = quote[:at], quote[at + len(value) :]
    if at < 0 or len(before.split()) + len(after.split()) <= WORDS_BEFORE + WORDS_AFTER:
        return quote
    head = " ".join(before.split(" ")[-WORDS_BEFORE - 1 :])
    tail = " ".join(after.split(" ")[: WORDS_AFTER + 1])
    left = "…" if len(before.split()) > WORDS_BEFORE else ""
    right = "…" if len(after.split()) > WORDS_AFTER else ""
    return f"{left}{head}{value}{tail}{right}"
