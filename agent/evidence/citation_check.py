"""Are the sentences of an answer backed by the facts they cite, by which sources, and what changed since the
previous answer? Code decides, not the writer."""

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
    """The sentences with the citations that hold, each marked `backed` or not, and the counts.

    A citation is dropped when its id resolves to no fact or to one that may not support a claim (unverified,
    struck, disputed). Disputed facts may be cited when the answer names both sides: facts of two values of
    one of the `conflicts` in one sentence, or, of an open one, in several when none names both. A sentence is
    backed by a verified page fact when all its dates and figures, and enough of its words, are in the facts
    it cites; a person's reason for a ruling and the topic of a conflict are not checked."""
    sentences, conflicts = list(sentences), list(conflicts)
    asides = [f", because “{c.reason}”" for c in conflicts if c.ruling and c.reason]
    asides += [f" {conflict.topic}:" for conflict in conflicts]
    citable = [[i for i in s.fact_ids if i in facts and _is_citable(facts[i])] for s in sentences]
    across = _sides_across_sentences(citable, [c for c in conflicts if c.status == "open"])
    checked: list[Sentence] = []
    dropped = 0
    for sentence, ids in zip(sentences, citable, strict=True):
        named = _facts_naming_both_sides(set(ids), conflicts) | across
        cited = dict.fromkeys(sentence.fact_ids)
        kept = [i for i in cited if i in ids and (facts[i].can_support or i in named)]
        dropped += len(cited) - len(kept)
        backed = _is_backed(_remove_asides(sentence.text, asides), [facts[i] for i in kept])
        checked.append(sentence.model_copy(update={"fact_ids": kept, "backed": backed}))
    count = sum(sentence.backed for sentence in checked)
    return checked, StatementCounts(backed=count, unsupported=len(checked) - count, dropped=dropped)


def collect_sources(sentences: Iterable[Sentence], facts: Mapping[str, Fact]) -> list[Source]:
    """The sources in order of first citation with the quotes they are cited for: one per page address (what a
    person gave of it is another), and one for what a person said without an address."""
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


def diff_answers(old: Answer, new: Answer) -> list[AnswerChange]:
    """What changed from one answer to the next: the new sentences in order, the removed ones in their old
    place. `resourced` has the same words but other sources; `same` has both unchanged."""
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


def _is_citable(fact: Fact) -> bool:
    """May a sentence cite it, disputed or not?"""
    return fact.can_support or (fact.verified and fact.decision != "struck")


def _facts_naming_both_sides(cited: set[str], conflicts: list[Conflict]) -> set[str]:
    """The cited facts of conflicts with two values among the citations."""
    named: set[str] = set()
    for conflict in conflicts:
        sides = [cited.intersection(value.fact_ids) for value in conflict.values]
        if sum(map(bool, sides)) > 1:
            named = named.union(*sides)
    return named


def _sides_across_sentences(citations: list[list[str]], conflicts: list[Conflict]) -> set[str]:
    """The cited facts of conflicts whose sides are in several sentences, none of which names both."""
    alone = [c for c in conflicts if not any(_facts_naming_both_sides(set(ids), [c]) for ids in citations)]
    return _facts_naming_both_sides({i for ids in citations for i in ids}, alone)


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
    """For each new sentence the old one it rewords, the most similar pairs first."""
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
