"""Whether a fact's quote is in its page, and its statement says what the quote says, as far as code tells."""

from __future__ import annotations

from agent.evidence.citation_check import is_written_by_rule, read_row
from agent.evidence.claim_check import Claim, check_by_code
from agent.evidence.quote_match import verify_quote
from agent.evidence.statement_features import surrounding_text
from agent.types import Fact
from agent.web.prompt_injection import find_order

MAX_FLAG_CHARS = 300
"""Characters of an order to machines that are kept with a fact."""


def verify_fact(fact: Fact, text: str, sha256: str) -> Fact:
    """The fact checked against its page's stored text (whose SHA-256 is given).

    A quote that is not found leaves it unverified. A statement that code vetoes or doubts is replaced by the
    quote, and kept in `refused_statement`; one that code made by rule (a table's row with its headings) is
    not checked. A quote that belongs to an order to machines is flagged."""
    found = verify_quote(fact, text, sha256)
    orders = (find_order(text, start, end) for start, end in found.places if found.verified)
    found = found.replace(flagged=next(filter(None, orders), "")[:MAX_FLAG_CHARS])
    if not found.verified or is_written_by_rule(fact) or not contradicts_quote(found, text):
        return found
    return found.replace(statement=found.quote, refused_statement=found.statement)


def contradicts_quote(fact: Fact, text: str = "") -> bool:
    """Does the statement fail code's check of the quote?

    The page's title, the headings and the `text` around the quote only say who is meant, and which day."""
    around = surrounding_text(text, fact.start, fact.end) if text and fact.start >= 0 else ""
    context = "\n".join(filter(None, (fact.title, fact.heading)))
    quotes = tuple(filter(None, (fact.quote, read_row(fact))))
    claim = Claim(fact.id, fact.statement, quotes, context, nearby=(around,))
    check = check_by_code(claim)
    is_doubted = check.verdict == "doubted" and any(found.kind != "date" for found in check.findings)
    return is_doubted or check.verdict in ("vetoed", "not_supported")
