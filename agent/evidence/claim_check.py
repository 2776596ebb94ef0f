"""Whether quotes support a claim: one public function for all flows, exports and `verify`.

Code comes first, in this order:
1. *quoted*: the claim stands in one stretch of a quote, word for word but for spelling (`is_quoted`);
2. *computed*: one figure follows from two of the quotes', and they carry the rest (`claims.computed`);
3. all else is left to a judge, who makes it *judged_supported* or *not_supported*. The differences that code
   sees (`claims.differences`) are put to the judge as questions. Without a judge a claim with another figure,
   unit, date, time or negation *differs*; any other one is *not_checked*.

A figure, name or identifier that stands nowhere, nor in the question, stays visible whatever a judge says. A
statement never backs itself: only quotes are evidence; titles and headings say who and when is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.evidence.claims.computed import find_computations, is_carried
from agent.evidence.claims.differences import find_differences
from agent.evidence.claims.words import ReadText, read_text
from agent.text.normalization import ELLIPSIS, normalize_text
from agent.text.tokens import stem_words
from agent.text.word_lists import load_words
from agent.types import ClaimFinding, ClaimVerdict


@dataclass(frozen=True)
class Claim:
    """A statement, the quotes it cites, and the titles or headings over these."""

    id: str
    statement: str
    quotes: tuple[str, ...]
    context: str = ""
    question: str = ""
    sources: tuple[str, ...] = ()
    """Title, host and date of each quote's page, in the order of `quotes`."""
    nearby: tuple[str, ...] = ()
    """The text around each quote on its page, in the order of `quotes`."""


@dataclass(frozen=True)
class Judgement:
    """A judge's word on one claim, and the index of the quote it rests on (-1: none named). `contradicts`:
    quotes and claim cannot both be true; `is_independent`: the judge is another model than the writer."""

    is_supported: bool
    reason: str = ""
    quote: int = -1
    contradicts: bool = False
    is_independent: bool = False


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
    """A claim that a judge has to decide, and the differences to put to it as questions."""

    claim: Claim
    differences: tuple[ClaimFinding, ...]
    note: str = ""
    """A calculation on the quotes' figures that gives one of the claim's."""


CERTAIN_VERDICTS = ("quoted", "computed")
"""Verdicts that code gives alone."""
_CLOSING = ' "”’»)]'
_BORDER = re.compile(r"[.;!?|\n…]|\[\.{3}\]")
BEFORE_CHARS, AROUND_CHARS = 240, 600
"""Characters before a quote that tell whom, what or when it means, about two sentences; and on each side of
it that a statement may have its year or unit from."""

Judge = Callable[[Sequence[OpenClaim]], Mapping[str, Judgement]]
"""Judges all open claims of a text at once: claim id -> judgement; one that is missing was not judged."""


def check_claims(claims: Sequence[Claim], judge: Judge | None = None) -> list[ClaimCheck]:
    """The check of each claim, in order.

    Where a text draws on several sources, a judge also sees what is quoted and opens with a pronoun: it may
    mean somebody else in the text than on the page. It stays quoted where no judge answers."""
    checks = [check_by_code(claim) for claim in claims]
    if judge is None:
        return checks
    has_sources = len({source for claim in claims for source in claim.sources}) > 1
    open_claims = [
        OpenClaim(claim, check.findings, check.reason)
        for claim, check in zip(claims, checks, strict=True)
        if check.verdict in ("differs", "not_checked")
        or (check.verdict == "quoted" and has_sources and opens_with_pronoun(claim.statement))
    ]
    judged = judge(open_claims) if open_claims else {}
    found = list[ClaimCheck]()
    for claim, check in zip(claims, checks, strict=True):
        if said := judged.get(claim.id):
            verdict: ClaimVerdict = "judged_supported" if said.is_supported else "not_supported"
            is_settled = said.is_supported and said.is_independent
            left = tuple(one for one in check.findings if one.is_absent or not is_settled)
            contradicts = said.contradicts and not said.is_supported
            check = ClaimCheck(verdict, left, said.reason, said.quote, contradicts)
        elif check.verdict == "differs":
            check = ClaimCheck("not_checked", check.findings, check.reason)
        found.append(check)
    return found


def check_by_code(claim: Claim) -> ClaimCheck:
    """What code alone says: quoted, computed, differs, not_supported (no quote), or not_checked."""
    if not claim.quotes:
        return ClaimCheck("not_supported")
    statement, quotes = read_text(claim.statement), [read_text(quote) for quote in claim.quotes]
    for n, quote in enumerate(quotes):
        if claim.statement == claim.quotes[n] or is_quoted(statement, quote):
            return ClaimCheck("quoted", quote=n)
    before = map(words_before, claim.quotes, claim.nearby)
    around = read_text("\n".join([claim.context, *claim.sources, *before]))
    computed = find_computations(statement, quotes)
    reason = "; ".join(dict.fromkeys(one.text for one in computed))
    asked = _join_stems(claim.question)
    findings = [
        one.replace(is_absent=one.is_absent and _join_stems(one.claimed) not in asked)
        for one in find_differences(statement, quotes, around, [one.figure for one in computed])
    ]
    if computed and not findings and all(is_carried(statement, one) for one in computed):
        return ClaimCheck("computed", reason=reason, quote=quotes.index(computed[0].operands[0][1]))
    differs = any(finding.kind != "name" for finding in findings)
    return ClaimCheck("differs" if differs else "not_checked", tuple(findings), reason)


def is_quoted(claim: ReadText, quote: ReadText) -> bool:
    """Whether a claim stands in one stretch of a quote, word for word but for spelling.

    The stretch is one or more whole sentences of the quote, lines or cells: what else a sentence says could
    change what its words say ("He denied that …", "… of the north wing"). A claim and what it stands in are
    both questions or both none."""
    needle = f" {' '.join(claim.keys).strip(f' {ELLIPSIS}')} "
    at = quote.line.find(needle)
    if at < 0 or not any(key[0].isalpha() for key in claim.keys):
        return False
    first = quote.line.count(" ", 0, at)
    last = first + needle.count(" ") - 2
    edges = [(quote.words[first - 1].end, quote.words[first].start)] if first else []
    edges += [(quote.words[last].end, quote.words[last + 1].start)] if last + 1 < len(quote.words) else []
    ends = quote.text[quote.words[last].end :].lstrip(_CLOSING).startswith("?")
    return ends == claim.text.rstrip(_CLOSING).endswith("?") and all(
        _BORDER.search(quote.text, *edge) or any(edge[0] <= start <= edge[1] for start, _ in quote.sentences)
        for edge in edges
    )


def describe_finding(finding: ClaimFinding) -> str:
    """A difference in a sentence for a person or a writer."""
    claimed, quoted = finding.claimed, finding.quoted
    if finding.is_absent:
        return f"Not in its sources: {claimed}" + (f"; the quote gives {quoted}." if quoted else ".")
    if finding.kind == "name":
        return f"The quotes do not name {claimed} in full."
    if finding.kind == "negation":
        return f"“{claimed or quoted}” stands only in the {'claim' if claimed else 'quote'}."
    return f"The claim gives {claimed}; the quote gives {quoted or 'none'}."


def _join_stems(text: str) -> str:
    """The words of a text, so that whole ones are found in it: "20" is not in "2015"."""
    return f" {' '.join(stem_words(text))} "


def opens_with_pronoun(text: str) -> bool:
    """Whether the first word of a text is a pronoun."""
    words = normalize_text(text[:BEFORE_CHARS]).words
    return bool(words) and words[0] in load_words("pronouns")


def surrounding_text(text: str, start: int, end: int) -> str:
    """The span of a text with its surroundings, where a statement may have its year or unit from."""
    return text[max(0, start - AROUND_CHARS) : end + AROUND_CHARS]


def words_before(quote: str, nearby: str) -> str:
    """What the page says before a quote, from a whole word on; "" where it is not known."""
    at = nearby.find(quote)
    before = nearby[max(0, at - BEFORE_CHARS) : max(0, at)]
    return " ".join((before.partition(" ")[2] if at > BEFORE_CHARS else before).split())
