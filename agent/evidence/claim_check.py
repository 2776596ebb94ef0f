"""Whether quotes support a claim: one public function for all flows, exports and `verify`.

Code comes first: a claim is *quoted* or *computed*, is *vetoed* (another figure, date, time, polarity), or
has *doubts* (names, roles, quantifiers, modality, comparatives, antonyms). What is neither quoted, computed
nor vetoed goes to a judge, when there is one; a doubt is put to it as a question and stays visible. A
statement never backs itself: only quotes are evidence, and the context (titles, headings) only says who is
meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.evidence.statement_features import has_supported_figures
from agent.text.normalization import normalize_text
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


@dataclass(frozen=True)
class Judgement:
    """A judge's word on one claim, and the index of the quote it rests on (-1: none named)."""

    is_supported: bool
    reason: str = ""
    quote: int = -1


@dataclass(frozen=True)
class ClaimCheck:
    """The verdict on one claim. `reason` is the judge's, or the arithmetic of a computed claim."""

    verdict: ClaimVerdict
    findings: tuple[ClaimFinding, ...] = ()
    reason: str = ""
    quote: int = -1


@dataclass(frozen=True)
class OpenClaim:
    """A claim that a judge has to decide, and the doubts to put to it as questions."""

    claim: Claim
    doubts: tuple[ClaimFinding, ...]


Judge = Callable[[Sequence[OpenClaim]], Mapping[str, Judgement]]
"""Judges all open claims of a text at once: claim id -> judgement. A claim that is missing in the result was
not judged."""


def check_claims(claims: Sequence[Claim], judge: Judge | None = None) -> list[ClaimCheck]:
    """The check of each claim, in order.

    Without a judge's word a claim with a doubt is `doubted`, one without `not_checked`."""
    checks = [check_by_code(claim) for claim in claims]
    open_claims = [
        OpenClaim(claim, check.findings)
        for claim, check in zip(claims, checks, strict=True)
        if check.verdict in ("doubted", "not_checked") and claim.quotes
    ]
    judged = judge(open_claims) if judge and open_claims else {}
    return [
        _apply_judgement(check, judged.get(claim.id)) for claim, check in zip(claims, checks, strict=True)
    ]


def check_by_code(claim: Claim) -> ClaimCheck:
    """What code alone says: quoted, computed, vetoed, doubted, not_supported (no quote), or not_checked."""
    if not claim.quotes:
        return ClaimCheck("not_supported")
    words = normalize_text(claim.statement).words
    for n, quote in enumerate(claim.quotes):
        if words and normalize_text(quote).find_words(words):
            return ClaimCheck("quoted", quote=n)
    if not has_supported_figures(claim.statement, *claim.quotes, claim.context):
        return ClaimCheck("vetoed", (ClaimFinding(kind="figure", is_veto=True),))
    return ClaimCheck("not_checked")


def describe_finding(finding: ClaimFinding) -> str:
    """A veto or doubt in a sentence for a person or a judge."""
    return f"The quotes say “{finding.quoted}”, not “{finding.claimed}”."


def _apply_judgement(check: ClaimCheck, judgement: Judgement | None) -> ClaimCheck:
    if judgement is None or check.verdict not in ("doubted", "not_checked"):
        return check
    verdict: ClaimVerdict = "judged_supported" if judgement.is_supported else "not_supported"
    return ClaimCheck(verdict, check.findings, judgement.reason, judgement.quote)
