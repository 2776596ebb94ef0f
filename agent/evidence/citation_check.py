"""Are an answer's statements backed, by which sources, and what changed since the former one? Code decides,
not the writer.

Knows sentences and facts; how an answer is worded or drawn is not its business."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from agent.evidence.statement_features import has_supported_figures, has_supported_words
from agent.types import Answer, Conflict, Fact, Sentence, Source, StatementCounts

MIN_REWORDING_SIMILARITY = 0.55
"""Least similarity (rapidfuzz `fuzz.ratio` of the sorted words, 0 to 1) of two sentences that say one thing
in other words."""


@dataclass(frozen=True)
class AnswerChange:
    """One line of the comparison of two answers. `old` is None for what was added, `new` for what was
    removed."""

    kind: Literal["added", "removed", "reworded", "same", "resourced"]
    old: Sentence | None
    new: Sentence | None


def check_citations(
    sentences: Iterable[Sentence], facts: Mapping[str, Fact], conflicts: Iterable[Conflict] = ()
) -> tuple[list[Sentence], StatementCounts]:
    """The sentences with the citations that hold, marked `backed` or not, and the counts.

    A citation is dropped when its id resolves to no fact or to one that may not support a claim (unverified,
    struck, disputed). Disputed facts may be cited when the answer names both sides: facts of at least two
    values of one of the `conflicts`, in one sentence, or, of an open one, in several when none names both.
    Backed by a page is a sentence with a verified page fact, whose dates and figures all stand in the facts
    it cites, and enough of its words too (see values.carried); the reason a person gave for a ruling is
    theirs, what a conflict is about is not claimed, and neither is looked at. What holds does so again when
    it is checked again."""
    sentences, conflicts = list(sentences), list(conflicts)
    open_conflicts = [conflict for conflict in conflicts if conflict.status == "open"]
    asides = [
        f", because “{conflict.reason}”" for conflict in conflicts if conflict.ruling and conflict.reason
    ] + [f" {c.topic}:" for c in conflicts]
    sides = [
        [
            i
            for i in sentence.fact_ids
            if i in facts and (facts[i].can_support or _is_verified_and_not_struck(facts[i]))
        ]
        for sentence in sentences
    ]
    spread = _sides_across_sentences(sides, open_conflicts)
    kept: list[Sentence] = []
    dropped = 0
    for sentence, side in zip(sentences, sides, strict=True):
        cited = list(dict.fromkeys(sentence.fact_ids))
        told = _facts_naming_both_sides(set(side), conflicts) | spread
        holding = [
            i
            for i in cited
            if i in facts and (facts[i].can_support or (i in told and _is_verified_and_not_struck(facts[i])))
        ]
        dropped += len(cited) - len(holding)
        backed = _is_backed(_remove_asides(sentence.text, asides), [facts[i] for i in holding])
        kept.append(sentence.model_copy(update={"fact_ids": holding, "backed": backed}))
    count = sum(sentence.backed for sentence in kept)
    return kept, StatementCounts(backed=count, unsupported=len(kept) - count, dropped=dropped)


def collect_sources(sentences: Iterable[Sentence], facts: Mapping[str, Fact]) -> list[Source]:
    """The sources in order of first citation, one per page address (what a person gave of it stands apart),
    each with the quotes it is cited for.

    What a person said without an address is a source of its own, under no URL."""
    found: dict[tuple[str, str], Source] = {}
    for fact_id in dict.fromkeys(i for sentence in sentences for i in sentence.fact_ids if i in facts):
        fact = facts[fact_id]
        key = (fact.url or fact.page_id or "a person", fact.given)
        source = found.get(key)
        if source is None:
            title = fact.title or ("" if fact.url else "A person's own knowledge")
            found[key] = Source(
                n=len(found) + 1,
                url=fact.url,
                title=title,
                quotes=[fact.quote],
                fact_ids=[fact.id],
                page_id=fact.page_id,
                sha256=fact.sha256,
                fetched_at=fact.fetched_at,
                given=fact.given,
            )
        else:
            source.quotes.append(fact.quote)
            source.fact_ids.append(fact.id)
    return list(found.values())


def cited_source_numbers(sentence: Sentence, sources: Iterable[Source]) -> list[int]:
    """The numbers of the sources a sentence cites, rising."""
    wanted = set(sentence.fact_ids)
    return sorted(source.n for source in sources if wanted.intersection(source.fact_ids))


def diff_answers(old: Answer, new: Answer) -> list[AnswerChange]:
    """What changed from one answer to the next: the new sentences in order, the removed ones where they
    stood.

    `resourced` has the same words but other sources (page addresses); `same` has both unchanged."""
    partner = _pair_sentences(old.sentences, new.sentences)
    gone = [i for i in range(len(old.sentences)) if i not in partner.values()]
    changes: list[AnswerChange] = []
    for j, sentence in enumerate(new.sentences):
        i = partner.get(j)
        while i is not None and gone and gone[0] < i:
            changes.append(AnswerChange("removed", old.sentences[gone.pop(0)], None))
        before = old.sentences[i] if i is not None else None
        changes.append(AnswerChange(_classify_change(before, sentence, old, new), before, sentence))
    return changes + [AnswerChange("removed", old.sentences[i], None) for i in gone]


def _is_verified_and_not_struck(fact: Fact) -> bool:
    return fact.verified and fact.decision != "struck"


def _facts_naming_both_sides(cited: set[str], conflicts: list[Conflict]) -> set[str]:
    named: set[str] = set()
    for conflict in conflicts:
        sides = [cited.intersection(value.fact_ids) for value in conflict.values]
        if sum(bool(side) for side in sides) > 1:
            named = named.union(*sides)
    return named


def _sides_across_sentences(sentences: list[list[str]], conflicts: list[Conflict]) -> set[str]:
    """The facts of conflicts whose sides stand in several sentences (given as the facts each cites), none of
    which names both by itself."""
    alone = [
        conflict
        for conflict in conflicts
        if not any(_facts_naming_both_sides(set(cited), [conflict]) for cited in sentences)
    ]
    return _facts_naming_both_sides({i for cited in sentences for i in cited}, alone)


def _remove_asides(text: str, asides: list[str]) -> str:
    for aside in asides:
        text = text.replace(aside, "")
    return text


def _is_backed(text: str, facts: list[Fact]) -> bool:
    if not any(fact.origin == "page" and fact.verified for fact in facts):
        return False
    said = [*(f"{fact.statement} {fact.quote}" for fact in facts), *(fact.title for fact in facts)]
    return has_supported_figures(text, *said) and has_supported_words(text, *said)


def _pair_sentences(old: list[Sentence], new: list[Sentence]) -> dict[int, int]:
    """For each new sentence the old one it goes on from, the most similar pairs first."""
    scored = [
        (fuzz.token_sort_ratio(b.text.casefold(), a.text.casefold()) / 100, -abs(i - j), i, j)
        for i, a in enumerate(old)
        for j, b in enumerate(new)
    ]
    partner: dict[int, int] = {}
    for score, _, i, j in sorted(scored, reverse=True):
        if score >= MIN_REWORDING_SIMILARITY and j not in partner and i not in partner.values():
            partner[j] = i
    return partner


def _classify_change(
    before: Sentence | None, now: Sentence, old: Answer, new: Answer
) -> Literal["added", "reworded", "same", "resourced"]:
    if before is None:
        return "added"
    if " ".join(before.text.split()) != " ".join(now.text.split()):
        return "reworded"
    return "same" if _cited_addresses(before, old) == _cited_addresses(now, new) else "resourced"


def _cited_addresses(sentence: Sentence, answer: Answer) -> set[str]:
    wanted = set(sentence.fact_ids)
    return {source.url or source.title for source in answer.sources if wanted.intersection(source.fact_ids)}
