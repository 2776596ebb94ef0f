"""Whether a fact's quote is in its page, and whether its statement says what the quote says, as far as code
tells."""

from __future__ import annotations

from agent.evidence.citation_check import is_written_by_rule
from agent.evidence.claim_check import Claim, check_by_code
from agent.evidence.quote_match import verify_quote
from agent.evidence.statement_features import surrounding_text
from agent.types import Fact


def verify_fact(fact: Fact, text: str, sha256: str) -> Fact:
    """The fact checked against its page's stored text (whose SHA-256 is given).

    A quote that is not found leaves it unverified. A statement that code vetoes or doubts is replaced by the
    quote, and kept in `refused_statement`; one that code made by rule (a table's row with its headings) is
    not checked."""
    found = verify_quote(fact, text, sha256)
    if not found.verified or is_written_by_rule(fact) or not contradicts_quote(found, text):
        return found
    return found.replace(statement=found.quote, refused_statement=found.statement)


def contradicts_quote(fact: Fact, text: str = "") -> bool:
    """Does the statement fail code's check of the quote?

    The page's title, the headings and the `text` around the quote only say who is meant."""
    around = surrounding_text(text, fact.start, fact.end) if text and fact.start >= 0 else ""
    context = "\n".join(filter(None, (fact.title, fact.heading, around)))
    claim = Claim(fact.id, fact.statement, (fact.quote,), context)
    return check_by_code(claim).verdict in ("vetoed", "doubted", "not_supported")
