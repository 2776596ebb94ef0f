"""Are the sentences of an answer backed by the facts they cite, by which sources, and what changed since the
previous answer? Code decides, not the writer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from agent.evidence.claim_check import Claim, ClaimCheck, Judge, check_claims
from agent.evidence.statement_features import has_supported_figures, has_supported_words
from agent.text.urls import host
from agent.types import SUPPORTED_VERDICTS, Answer, Conflict, Fact, Sentence, Source, StatementCounts

MIN_REWORDING_SIMILARITY = 0.55
"""Least similarity (rapidfuzz `fuzz.ratio` of the sorted words, 0 to 1) of two sentences that say one thing
in other words."""

PERSON_REASON = "a person's own word; no page says it"
"""The reason beside a sentence that only a person's word supports."""


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

    A sentence is backed by a verified page fact when all its dates and figures, and enough of its words, are
    in the facts it cites; a person's reason for a ruling and the topic of a conflict are not checked."""
    conflicts = list(conflicts)
    asides = [f", because “{c.reason}”" for c in conflicts if c.ruling and c.reason]
    asides += [f" {conflict.topic}:" for conflict in conflicts]
    kept, dropped = filter_citations(sentences, facts, conflicts)
    checked = [
        sentence.replace(
            backed=_is_backed(_remove_asides(sentence.text, asides), [facts[i] for i in sentence.fact_ids])
        )
        for sentence in kept
    ]
    count = sum(sentence.backed for sentence in checked)
    return checked, StatementCounts(backed=count, unsupported=len(checked) - count, dropped=dropped)


def filter_citations(
    sentences: Iterable[Sentence], facts: Mapping[str, Fact], conflicts: Iterable[Conflict] = ()
) -> tuple[list[Sentence], int]:
    """The sentences with the citations that hold, and how many were dropped.

    A citation is dropped when its id resolves to no fact or to one that may not support a claim (unverified,
    struck, disputed). Disputed facts may be cited when the answer names both sides: facts of two values of
    one of the `conflicts` in one sentence, or, of an open one, in several when none names both."""
    sentences, conflicts = list(sentences), list(conflicts)
    citable = [[i for i in s.fact_ids if i in facts and _is_citable(facts[i])] for s in sentences]
    across = _sides_across_sentences(citable, [c for c in conflicts if c.status == "open"])
    filtered, dropped = list[Sentence](), 0
    for sentence, ids in zip(sentences, citable, strict=True):
        named = _facts_naming_both_sides(set(ids), conflicts) | across
        cited = dict.fromkeys(sentence.fact_ids)
        kept = [i for i in cited if i in ids and (facts[i].can_support or i in named)]
        dropped += len(cited) - len(kept)
        filtered.append(sentence.replace(fact_ids=kept))
    return filtered, dropped


def check_support(
    sentences: Sequence[Sentence],
    facts: Mapping[str, Fact],
    judge: Judge | None = None,
    *,
    question: str = "",
    failures: Mapping[str, str] | None = None,
) -> list[Sentence]:
    """The sentences with `check`, `findings`, `check_reason` and `backed`; their citations must hold.

    Only quotes are evidence, and what a person stated; a sentence that rests on a person's word alone is
    never backed. The judge's claims have the sentences' indices as ids; `failures` (filled by the judge)
    says by id why it gave no judgement."""
    claims = [build_claim(str(n), sentence, facts, question) for n, sentence in enumerate(sentences)]
    checks = check_claims(claims, judge)
    return [
        _apply_check(sentence, check, facts, (failures or {}).get(claim.id, ""))
        for sentence, claim, check in zip(sentences, claims, checks, strict=True)
    ]


def build_claim(id: str, sentence: Sentence, facts: Mapping[str, Fact], question: str = "") -> Claim:
    """The sentence as a claim on the quotes of the facts it cites; where a person's word stands for a fact,
    it is quoted in place of the page. A page's title in front of the sentence is no part of the claim."""
    cited = [facts[i] for i in sentence.fact_ids]
    return Claim(
        id=id,
        statement=_remove_title(sentence.text, [" ".join(fact.title.split()) for fact in cited]),
        quotes=tuple(fact.statement if fact.rests_on_person else fact.quote for fact in cited),
        context="\n".join(dict.fromkeys(fact.title for fact in cited if fact.title)),
        question=question,
        sources=tuple(_describe_source(fact) for fact in cited),
    )


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


def _apply_check(sentence: Sentence, check: ClaimCheck, facts: Mapping[str, Fact], failure: str) -> Sentence:
    verdict, reason = check.verdict, check.reason
    cited = [facts[i] for i in sentence.fact_ids]
    if verdict in SUPPORTED_VERDICTS and not any(f.origin == "page" and f.verified for f in cited):
        verdict, reason = "not_checked", PERSON_REASON
    elif failure and verdict in ("doubted", "not_checked"):
        reason = f"the model gave no judgement: {failure}"
    return sentence.replace(
        check=verdict,
        findings=list(check.findings),
        check_reason=reason,
        backed=verdict in SUPPORTED_VERDICTS,
    )


def _remove_title(text: str, titles: Sequence[str]) -> str:
    """The text without a title (or its beginning) and a colon in front."""
    colons = (match.start() for match in re.finditer(": ", text))
    cuts = [cut for cut in colons if any(title.startswith(text[:cut]) for title in titles)]
    return text[cuts[-1] + 2 :] if cuts else text


def _describe_source(fact: Fact) -> str:
    """Title, host and date of a fact's page."""
    if fact.rests_on_person:
        return "said by the person who asks"
    return ", ".join(filter(None, (fact.title, host(fact.url), fact.published_at[:10])))


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
