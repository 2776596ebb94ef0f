"""Whether quotes support a claim: one public function for all flows, exports and `verify`.

Code comes first, in this order:
1. *quoted*: the claim stands in one stretch of a quote, word for word but for spelling, as a clean cut
   (`claims.quoted`);
2. *vetoed*: a date, clock time, duration or number that no quote gives (`claims.figures`), or a negation on
   one side of otherwise like words (`claims.doubts`). No judge is asked;
3. *computed*: one figure follows from two of the quote's, and the quote carries the rest (`claims.computed`);
4. *doubted*: names (`claims.names`), roles, quantifiers, modality, comparatives, antonyms, other negations
   (`claims.doubts`), bounds of figures. A doubt is put to the judge as a question and stays visible whatever
   it says; without a judge it decides;
5. *not_checked*: left to the judge, who makes it *judged_supported* or *not_supported*.

A statement never backs itself: only quotes are evidence. The context (titles, headings) and the question say
who is meant. Where claim and quote are in different languages, only figures, dates and names count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.evidence.claims.computed import find_computation, is_carried, read_calculations
from agent.evidence.claims.doubts import find_doubts
from agent.evidence.claims.figures import (
    find_added_units,
    find_figure_vetoes,
    find_moved_figures,
    find_other_bounds,
)
from agent.evidence.claims.names import find_borrowed_names, find_joined_names, find_other_names
from agent.evidence.claims.quoted import find_unclean_cuts, is_quoted
from agent.evidence.claims.words import ReadText, align, is_english, read_text
from agent.evidence.statement_features import BEFORE_CHARS, words_before
from agent.text.normalization import normalize_text
from agent.text.tokens import is_stopword
from agent.text.word_lists import load_words
from agent.types import ClaimFinding, ClaimVerdict


@dataclass(frozen=True)
class Claim:
    """A statement, the quotes it cites, and the titles or headings over these (they name who is meant and are
    no evidence of figures)."""

    id: str
    statement: str
    quotes: tuple[str, ...]
    context: str = ""
    question: str = ""
    sources: tuple[str, ...] = ()
    """Title, host and date of each quote's page, in the order of `quotes`, for a judge."""
    nearby: tuple[str, ...] = ()
    """The text around each quote on its page, in the order of `quotes`: it may name who is meant beside those
    whom a quote names, never another in their place."""


@dataclass(frozen=True)
class Judgement:
    """A judge's word on one claim, and the index of the quote it rests on (-1: none named). `contradicts`:
    quotes and claim cannot both be true."""

    is_supported: bool
    reason: str = ""
    quote: int = -1
    contradicts: bool = False


@dataclass(frozen=True)
class ClaimCheck:
    """The verdict on one claim. `reason` is the judge's, or a calculation that gives one of its figures."""

    verdict: ClaimVerdict
    findings: tuple[ClaimFinding, ...] = ()
    reason: str = ""
    quote: int = -1
    contradicts: bool = False


@dataclass(frozen=True)
class OpenClaim:
    """A claim that a judge has to decide, and the doubts to put to it as questions."""

    claim: Claim
    doubts: tuple[ClaimFinding, ...]
    note: str = ""
    """A calculation on the quotes' figures that gives one of the claim's."""


_PRONOUNS = load_words("pronouns")
MIN_SHARED_CONTENT = 0.3
"""Share of content words from which on two texts without a common function word are in one language."""

Judge = Callable[[Sequence[OpenClaim]], Mapping[str, Judgement]]
"""Judges all open claims of a text at once: claim id -> judgement; one that is missing was not judged."""


def check_claims(claims: Sequence[Claim], judge: Judge | None = None) -> list[ClaimCheck]:
    """The check of each claim, in order.

    Without a judge's word a claim with a doubt is `doubted`, one without `not_checked`. Where a text draws on
    several sources, a judge also sees what is quoted and opens with a pronoun: it may mean somebody else in
    the text than on the page. It stays quoted where no judge answers."""
    coded = checks = [check_by_code(claim) for claim in claims]
    if judge and len({source for claim in claims for source in claim.sources}) > 1:
        checks = [
            ClaimCheck("not_checked")
            if check.verdict == "quoted" and opens_with_pronoun(claim.statement)
            else check
            for claim, check in zip(claims, checks, strict=True)
        ]
    open_claims = [
        OpenClaim(claim, check.findings, check.reason)
        for claim, check in zip(claims, checks, strict=True)
        if check.verdict in ("doubted", "not_checked") and claim.quotes
    ]
    judged = judge(open_claims) if judge and open_claims else {}
    found = list[ClaimCheck]()
    for claim, check, own in zip(claims, checks, coded, strict=True):
        if said := judged.get(claim.id):
            if check.verdict in ("doubted", "not_checked"):
                verdict: ClaimVerdict = "judged_supported" if said.is_supported else "not_supported"
                contradicts = said.contradicts and not said.is_supported
                check = ClaimCheck(verdict, check.findings, said.reason, said.quote, contradicts)
            own = check
        found.append(own)
    return found


def check_by_code(claim: Claim) -> ClaimCheck:
    """What code alone says: quoted, computed, vetoed, doubted, not_supported (no quote), or not_checked."""
    if not claim.quotes:
        return ClaimCheck("not_supported")
    statement, quotes = read_text(claim.statement), [read_text(quote) for quote in claim.quotes]
    for n, quote in enumerate(quotes):
        if claim.statement == claim.quotes[n] or is_quoted(statement, quote):
            return ClaimCheck("quoted", quote=n)
    statement = read_text(read_calculations(claim.statement, quotes))
    findings = _find_differences(claim, statement, quotes)
    computation = find_computation(statement, quotes)
    reason = computation.text if computation else ""
    if any(finding.is_veto for finding in findings):
        return ClaimCheck("vetoed", findings)
    figure = computation.figure.text if computation else ""
    others = [f for f in findings if not (f.kind == "quantifier" and f.claimed and f.claimed in figure)]
    if computation and not others and is_carried(statement, computation):  # no near copy with another figure
        return ClaimCheck("computed", reason=reason, quote=quotes.index(computation.quote))
    return ClaimCheck("doubted" if findings else "not_checked", findings, reason)


def describe_finding(finding: ClaimFinding) -> str:
    """A veto or doubt in a sentence for a person or a judge."""
    claimed, quoted = finding.claimed, finding.quoted
    if finding.kind == "name":
        return f"The quote names {quoted or 'nobody of that name'}; the claim names {claimed}."
    if finding.kind == "roles" and not quoted:
        return f"No quote speaks of both: “{claimed}”."
    if finding.kind == "roles":
        return f"The same words in another order: “{quoted}” in the quote, “{claimed}” in the claim."
    if finding.kind in ("figure", "date", "time"):
        return f"The claim gives {claimed}; the quote gives {quoted or 'no such figure'}."
    if not claimed:
        return f"The quote says “{quoted}”; the claim leaves it out."
    if not quoted:
        return f"The claim says “{claimed}”; the quote does not."
    return f"The quote says “{quoted}”; the claim says “{claimed}”."


def _find_differences(
    claim: Claim, statement: ReadText, quotes: Sequence[ReadText]
) -> tuple[ClaimFinding, ...]:
    alignment = align(statement, quotes)
    there = {key for quote in quotes for key in quote.keys}
    shared = {key for key in statement.keys if is_stopword(key)}
    is_one_language = (  # as far as a shared function word or content word shows it
        not shared
        or bool(shared & there)
        or bool(alignment and alignment.share >= MIN_SHARED_CONTENT)
        or (is_english(statement) and any(is_english(quote) for quote in quotes))
    )
    context = read_text("\n".join([claim.context, claim.question, *claim.sources]))
    nearby = read_text("\n".join(claim.nearby))
    given = read_text("\n".join([*claim.quotes, claim.context, *claim.nearby]))
    before = " ".join(map(words_before, claim.quotes, claim.nearby))
    figures = find_figure_vetoes(statement, quotes, context, read_text("\n".join(claim.sources)))
    found = [
        *(  # a date of the sentences before a quote that gives none ("the same year") is no veto
            f.replace(is_veto=not (f.kind == "date" and not f.quoted and f.claimed in before))
            for f in figures
        ),
        *find_added_units(statement, quotes, context, nearby),
        *find_moved_figures(statement, quotes),
        *find_other_names(statement, quotes, context, alignment, nearby),
        *find_joined_names(statement, claim.quotes, claim.sources, claim.nearby),
        *find_borrowed_names(statement, read_text(claim.question), given),
    ]
    if cut := list(find_unclean_cuts(statement, quotes)):
        found += [finding for finding in cut if not any(other.is_veto for other in found)]
    elif alignment and is_one_language:
        told = {word for finding in found for word in finding.claimed.split()} | {"…"}
        doubts = [
            *find_other_bounds(statement, quotes),
            *find_doubts(quotes, alignment, context, nearby, before),
        ]
        found += [doubt for doubt in doubts if not doubt.claimed or not set(doubt.claimed.split()) <= told]
    return tuple(found)


def opens_with_pronoun(text: str) -> bool:
    """Whether the first word of a text is a pronoun."""
    words = normalize_text(text[:BEFORE_CHARS]).words
    return bool(words) and words[0] in _PRONOUNS
