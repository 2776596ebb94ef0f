"""Are facts carried by their quotes, and the sentences of an answer backed by the facts they cite, by which
sources, and what changed since the previous answer? Code and a judge decide, not the writer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from agent.evidence.claim_check import Claim, ClaimCheck, Judge, check_by_code, check_claims, surrounding_text
from agent.evidence.quote_match import verify_quote
from agent.text.tokens import content_stems, tokenize
from agent.text.urls import host
from agent.text.word_lists import load_words
from agent.types import (
    SUPPORTED_VERDICTS,
    Answer,
    Conflict,
    Fact,
    Publication,
    Sentence,
    Source,
    StatementCounts,
)
from agent.web.prompt_injection import find_order

MIN_REWORDING_SIMILARITY = 0.55
"""Least similarity (rapidfuzz `fuzz.ratio` of sorted words, 0 to 1) of two wordings of one thing."""
MIN_SHARED_CONTENT = 0.5
"""Least share of the content words of both that a rewording keeps (our own judgement: most of them)."""

MIN_CELLS = 2
"""Cells of a table's row, which the page's text joins by " | "."""
_CELL = re.compile(r"^([^.;:|]{1,40}): (.+)$")
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
PERSON_REASON = "a person's own word; no page says it"
"""The reason beside a sentence that only a person's word supports."""
FLAG_REASON = "its quote belongs to an order to machines; a person chose to use it"
"""The reason beside a sentence that cites a flagged fact."""
PERSON_SAID = "said by the person who asks"
"""Where a person's own statement is from, for a judge."""


@dataclass(frozen=True)
class AnswerChange:
    """A line of the comparison of two answers: `old` is None for what is added, `new` for what is gone."""

    kind: Literal["added", "removed", "reworded", "same", "resourced"]
    old: Sentence | None
    new: Sentence | None


def check_citations(
    sentences: Iterable[Sentence],
    facts: Mapping[str, Fact],
    conflicts: Iterable[Conflict] = (),
    *,
    question: str = "",
) -> tuple[list[Sentence], StatementCounts]:
    """The sentences with the citations that hold, checked against quotes by code alone, and the counts."""
    kept, dropped = filter_citations(sentences, facts, conflicts)
    checked = check_support(kept, facts, question=question)
    return checked, count_statements(checked, dropped)


def count_statements(sentences: Sequence[Sentence], dropped: int = 0) -> StatementCounts:
    """The counts of an answer's sentences. Those without a `check` are no claims, except in answers of
    versions that recorded none."""
    claims = [sentence for sentence in sentences if sentence.check] or list(sentences)
    backed = sum(sentence.backed for sentence in claims)
    unchecked = sum(sentence.check == "not_checked" for sentence in claims)
    return StatementCounts(
        backed=backed, unsupported=len(claims) - backed, dropped=dropped, unchecked=unchecked
    )


def filter_citations(
    sentences: Iterable[Sentence], facts: Mapping[str, Fact], conflicts: Iterable[Conflict] = ()
) -> tuple[list[Sentence], int]:
    """The sentences with the citations that hold, and how many were dropped.

    A citation is dropped when its id resolves to no fact or to one that may not support a claim (unverified,
    struck, overruled). A fact that an open conflict disputes may be cited; a sentence that cites only its
    side is marked with the other one. One sentence may name both sides of any of the `conflicts`."""
    filtered, dropped, conflicts = list[Sentence](), 0, list(conflicts)
    for sentence in sentences:
        cited, citable = dict.fromkeys(sentence.fact_ids), set[str]()
        for fact in (facts[i] for i in cited if i in facts):
            if fact.can_support or (fact.verified and not fact.flagged and fact.decision != "struck"):
                citable.add(fact.id)
        allowed = {i for i in citable if facts[i].can_support}
        for conflict in conflicts:
            sides = [citable.intersection(value.fact_ids) for value in conflict.values]
            if conflict.status == "open" or sum(map(bool, sides)) > 1:
                allowed |= set().union(*sides)
        kept = [i for i in cited if i in allowed]
        dropped += len(cited) - len(kept)
        others = list[str]()  # what other sources say, unless both sides are cited
        for conflict in conflicts:
            uncited = [value for value in conflict.values if not set(kept).intersection(value.fact_ids)]
            if conflict.status != "open" or len(conflict.values) - len(uncited) != 1:
                continue
            for value in uncited:
                if hosts := dict.fromkeys(host(facts[i].url) for i in value.fact_ids if i in facts):
                    names = " and ".join(list(hosts)[:2]).strip() or "a person"
                    others.append(f"{names} {'says' if len(hosts) == 1 else 'say'} “{value.text}”")
        filtered.append(sentence.replace(fact_ids=kept, disputed="; ".join(others)))
    return filtered, dropped


def check_support(
    sentences: Sequence[Sentence],
    facts: Mapping[str, Fact],
    judge: Judge | None = None,
    *,
    question: str = "",
    failures: Mapping[str, str] | None = None,
    nearby: Mapping[str, str] | None = None,
) -> list[Sentence]:
    """The sentences with `check`, `findings`, `check_reason` and `backed`; their citations must hold.

    Only quotes are evidence, and what a person stated; a sentence that rests on a person's word alone is
    never backed. The judge's claims have the sentences' indices as ids; `failures` (filled by the judge)
    says by id why it gave no judgement. `nearby` is by fact id the text around a quote on its page."""
    claims = [
        build_claim(str(n), sentence, facts, question, nearby or {}) for n, sentence in enumerate(sentences)
    ]
    checks = check_claims(claims, judge)
    return [
        _apply_check(
            sentence, check, [facts[i] for i in sentence.fact_ids], (failures or {}).get(claim.id, "")
        )
        for sentence, claim, check in zip(sentences, claims, checks, strict=True)
    ]


def accept_quotations(sentences: Sequence[Sentence], facts: Mapping[str, Fact]) -> list[Sentence]:
    """Sentences that code wrote around quotes (of a conflict, of a ruling), as quoted; where no page is cited
    they rest on a person's word."""
    quoted = ClaimCheck("quoted")
    return [_apply_check(sentence, quoted, [facts[i] for i in sentence.fact_ids]) for sentence in sentences]


def build_claim(
    id: str, sentence: Sentence, facts: Mapping[str, Fact], question: str, nearby: Mapping[str, str]
) -> Claim:
    """The sentence as a claim on the quotes of the facts it cites, with the `nearby` text by fact id. A
    person's statement, and one that code made by rule, stand beside their quote; a page's title in front of
    the sentence is no part of the claim."""
    evidence, row = list[tuple[str, str, str]](), list[tuple[str, str, str]]()
    titles, subjects = list[str](), list[str]()
    label, _, head = sentence.context.rpartition(": ")
    for fact in (facts[i] for i in sentence.fact_ids):
        evidence += [(*found, nearby.get(fact.id, "")) for found in list_evidence(fact)]
        titles += filter(None, (fact.title, fact.heading))
        subjects.append(name_subject(fact))
        if label and head and not row:  # a cell of the fact's own row, under the same label
            cells = read_cells(read_row(fact) or (fact.statement if is_written_by_rule(fact) else ""))
            if cells and cells[0][1] == label and (head, sentence.text) in cells[1:]:
                row = [(sentence.claim, list_evidence(fact)[0][1], "")]
    evidence, statement = row or evidence, sentence.text
    quotes = [quote for quote, _, _ in evidence]
    if sentence.context:
        first = head.partition(" ")[0]
        if first[1:].islower() and not any(first in text for text in (*titles, *quotes)):
            head = head[:1].lower() + head[1:]  # a capital would make a name of it
        statement = ": ".join(filter(None, (label, head, sentence.text)))
    elif not any(statement in quote for quote in quotes):
        above = [" ".join(name.split()) for name in (*titles, *subjects)]
        for cut in re.finditer(": ", sentence.text):
            if any(name.startswith(sentence.text[: cut.start()]) for name in above):
                statement = sentence.text[cut.end() :]
    return Claim(
        id=id,
        statement=statement,
        quotes=tuple(quotes),
        context="\n".join(dict.fromkeys(titles)),
        question=question,
        sources=tuple(source for _, source, _ in evidence),
        nearby=tuple(around for _, _, around in evidence),
    )


def collect_sources(
    sentences: Iterable[Sentence], facts: Mapping[str, Fact], works: Mapping[str, Publication] = {}
) -> list[Source]:
    """The sources in order of first citation, with the quotes they are cited for: one per page address and
    title (the entries of a changelog have titles of their own; what a person gave of it is another), and one
    for what a person said without an address. `works` are published works by the ids of their pages."""
    found: dict[tuple[str, str, str], Source] = {}
    for fact_id in dict.fromkeys(i for sentence in sentences for i in sentence.fact_ids if i in facts):
        fact = facts[fact_id]
        key = (fact.url or fact.page_id or "a person", fact.title if fact.url else "", fact.given)
        source = found.get(key)
        if source is None:
            title = fact.title or ("" if fact.url else "A person's own knowledge")
            known = fact.model_dump(include={"url", "page_id", "sha256", "fetched_at", "given"})
            found[key] = Source(
                n=len(found) + 1,
                title=title,
                quotes=[fact.quote],
                fact_ids=[fact.id],
                publication=works.get(fact.page_id),
                **known,
            )
        else:
            source.quotes.append(fact.quote)
            source.fact_ids.append(fact.id)
    return list(found.values())


def diff_answers(old: Answer, new: Answer) -> list[AnswerChange]:
    """What changed from one answer to the next in the main sentences: the new ones in order, the removed ones
    in their old place. `resourced` has the same words but other sources; `same` has both unchanged."""
    former, newer = old.main_sentences, new.main_sentences
    scored = [
        (fuzz.token_sort_ratio(b.text.casefold(), a.text.casefold()) / 100, -abs(i - j), i, j)
        for i, a in enumerate(former)
        for j, b in enumerate(newer)
    ]
    partner: dict[int, int] = {}  # for each new sentence the old one it rewords, the most similar pairs first
    for score, _, i, j in sorted(scored, reverse=True):
        first, second = set(content_stems(former[i].text)), set(content_stems(newer[j].text))
        is_alike = len(first & second) >= MIN_SHARED_CONTENT * len(first | second)
        if score >= MIN_REWORDING_SIMILARITY and is_alike and i not in partner.values():
            partner.setdefault(j, i)
    gone = [i for i in range(len(former)) if i not in partner.values()]
    changes: list[AnswerChange] = []
    for j, sentence in enumerate(newer):
        at = partner.get(j)
        while at is not None and gone and gone[0] < at:
            changes.append(AnswerChange("removed", former[gone.pop(0)], None))
        before, kind = former[at] if at is not None else None, "added"
        if before and " ".join(before.text.split()) != " ".join(sentence.text.split()):
            kind = "reworded"
        elif before:
            was, now = (
                {source.url or source.title for source in given.sources if ids.intersection(source.fact_ids)}
                for given, ids in ((old, set(before.fact_ids)), (new, set(sentence.fact_ids)))
            )
            kind = "same" if was == now else "resourced"
        changes.append(AnswerChange(kind, before, sentence))  # type: ignore[arg-type]
    return changes + [AnswerChange("removed", former[i], None) for i in gone]


def _apply_check(sentence: Sentence, check: ClaimCheck, cited: Sequence[Fact], failure: str = "") -> Sentence:
    verdict, reason = check.verdict, check.reason
    evidence = [(fact, source) for fact in cited for _, source in list_evidence(fact)]
    named = evidence[check.quote : check.quote + 1] if check.quote >= 0 else []
    resting_on = [fact for fact, _ in named] or cited
    if verdict in SUPPORTED_VERDICTS and not any(has_page_support(fact) for fact in resting_on):
        verdict, reason = "not_checked", PERSON_REASON
    elif verdict == "quoted" and [source for _, source in named] == [PERSON_SAID]:
        reason = "in a person's words, beside the quote"
    elif verdict == "not_checked":
        reason = f"the model gave no judgement: {failure}" if failure else ""
    if any(fact.flagged for fact in cited):
        reason = "; ".join(filter(None, (reason, FLAG_REASON)))
    return sentence.replace(
        check=verdict,
        findings=list(check.findings),
        check_reason=reason,
        backed=verdict in SUPPORTED_VERDICTS,
        contradicted=check.contradicts,
    )


def has_page_support(fact: Fact) -> bool:
    """Is its quote verified in a page?"""
    return fact.is_from_page and fact.verified


def is_written_by_rule(fact: Fact) -> bool:
    """Did code word its statement, from nothing but its page?"""
    return fact.by in ("keyless", "code") and not fact.former


def list_evidence(fact: Fact) -> list[tuple[str, str]]:
    """What a fact gives a claim to rest on, each with where it is from: its quote, the person's own words,
    and what code made of the page by rule (a table's row with its headings)."""
    date = "" if _DAY.search(fact.heading) else fact.published_at[:10]  # a post has a day of its own
    page = ", ".join(filter(None, (fact.title, fact.heading, host(fact.url), date)))
    said = [(fact.statement, PERSON_SAID)]
    if fact.rests_on_person:
        return said
    ruled = [(fact.statement, page)] if is_written_by_rule(fact) and fact.statement != fact.quote else []
    if row := read_row(fact):
        ruled = [(row, page)]
    return [(fact.quote, page), *(said if fact.former else ruled)]


def read_cells(statement: str) -> tuple[tuple[str, str], ...]:
    """The column names and values of a row such as "Dairy: Nordvik; Founded: 1923"; () for prose."""
    cells = [_CELL.match(part.strip()) for part in statement.rstrip(". ").split("; ")]
    if len(cells) < 2 or not all(cells):
        return ()
    return tuple((cell[1], cell[2]) for cell in cells if cell)


def read_row(fact: Fact) -> str:
    """A table's row with its headings, "Year: 1962; Staff: 1,240"; "" for any other quote."""
    names, cells = fact.heading.split(" | "), fact.quote.split(" | ")
    if len(names) != len(cells) or len(cells) < MIN_CELLS or fact.quote == fact.heading:
        return ""
    return "; ".join(f"{name}: {cell}" for name, cell in zip(names, cells, strict=True))


def name_subject(fact: Fact) -> str:
    """What a fact's quote is about, as its page names it: the title and the headings over it."""
    heading = "" if " | " in fact.heading else fact.heading
    return " › ".join(dict.fromkeys(filter(None, (" ".join(fact.title.split()), heading))))


def state_with_subject(fact: Fact) -> str:
    """The statement of a fact as it can stand alone: a quote that took the place of a refused statement
    follows its subject, unless it names that itself."""
    subject, quote = name_subject(fact), fact.statement
    if not fact.refused_statement or quote != fact.quote or not subject:
        return quote
    words = tokenize(quote)
    is_named = not load_words("pronouns").intersection(words[:1]) and set(content_stems(subject)) & set(
        content_stems(quote)
    )
    return quote if is_named else f"{subject}: “{quote}”"


MAX_FLAG_CHARS = 300
"""Characters of an order to machines that are kept with a fact."""


def verify_fact(fact: Fact, text: str, sha256: str) -> Fact:
    """The fact checked against its page's stored text (whose SHA-256 is given).

    A quote that is not found leaves it unverified. A statement with another figure or negation than the
    quote, or a name that stands nowhere, is replaced by the quote, and kept in `refused_statement`; one that
    code made by rule (a table's row with its headings) is not checked. A quote that belongs to an order to
    machines is flagged."""
    found = verify_quote(fact, text, sha256)
    orders = (find_order(text, start, end) for start, end in found.places if found.verified)
    found = found.replace(flagged=next(filter(None, orders), "")[:MAX_FLAG_CHARS])
    if not found.verified or is_written_by_rule(fact) or not contradicts_quote(found, text):
        return found
    return found.replace(statement=found.quote, refused_statement=found.statement)


def contradicts_quote(fact: Fact, text: str = "") -> bool:
    """Does the statement say what the quote and the words before it in the `text` do not, as code sees it?"""
    around = surrounding_text(text, fact.start, fact.end) if text and fact.start >= 0 else ""
    context = "\n".join(filter(None, (fact.title, fact.heading)))
    quotes = tuple(filter(None, (fact.quote, read_row(fact))))
    check = check_by_code(Claim(fact.id, fact.statement, quotes, context, nearby=(around,) * len(quotes)))
    if check.verdict == "not_supported":
        return True
    return any(found.is_absent or found.kind not in ("name", "date") for found in check.findings)
