"""Judges whether the quotes of a claim support it: all open claims of a write-up in one call. The differences
that code saw are put as questions. Without a model nothing is judged, repaired or ruled on, and every
sentence is taken for a claim."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from pydantic import Field

from agent.evidence.claim_check import BEFORE_CHARS, Judgement, OpenClaim, opens_with_pronoun, words_before
from agent.roles.research import ConflictRuling
from agent.roles.role import Role, RoleReply, RoleResult, optional_list, optional_text
from agent.text.names import find_names
from agent.text.tokens import fold
from agent.text.urls import remove_unknown_urls
from agent.types import ClaimFinding, PlanPart, Record

MAX_CLAIMS = 60
"""Claims of one call: about 3,000 tokens of reply, three quarters of what one may have."""
MAX_CALL_CHARS = 28_000
"""Characters of claims, and of quotes with what is shown of their pages, in one call: about 7,000 tokens."""
TAG_CHARS = 30
"""Characters around a claim or a quote in the prompt."""
MAX_REASON_CHARS = 300
"""Characters of a judge's reason that are kept: one short sentence is asked for."""


class QuoteShown(Record):
    """A quote with its short id, title, host and date of its page, and the words before it there."""

    id: str
    text: str
    source: str = ""
    before: str = ""


class ClaimShown(Record):
    """A claim as the prompt shows it, with the quotes that no claim above cites; `cites` are the ids of all
    that it cites."""

    n: int
    statement: str
    quotes: list[QuoteShown]
    questions: list[str] = Field(default_factory=list)
    cites: list[str] = Field(default_factory=list)

    @property
    def cites_above(self) -> list[str]:
        """The ids of the quotes that stand under a claim above."""
        here = {quote.id for quote in self.quotes}
        return [i for i in self.cites if i not in here]


class ClaimJudgement(RoleReply):
    """The verdict on one claim; the quote and the reason come first, so that they lead to it."""

    n: int = Field(description="the number of the statement")
    quote: str = optional_text('the id of the quote it rests on, such as "q2"; empty for none')
    reason: str = optional_text("one short sentence: what the quote says, or what it lacks")
    supported: bool = Field(description="true only if the quotes alone state or plainly imply all of it")
    contradicted: bool = Field(
        default=False, description="true only if a quote says what cannot be true together with it"
    )


class CheckClaimsReply(RoleReply):
    """A judgement of each claim, and which parts of the question the supported ones answer."""

    claims: list[ClaimJudgement] = Field(default_factory=list)
    answered_parts: list[str] | None = Field(
        default=None,
        description="ids of the parts of the question that the supported statements answer in full",
    )


CHECK_CLAIMS = Role(name="check_claims", reply=CheckClaimsReply, tier="judge", cut=("text",))


@dataclass
class ClaimJudge:
    """A judge for `agent.evidence.claim_check.check_claims` that asks the role.

    `ask(CHECK_CLAIMS, check=…, **blanks)` returns the role's result (`Role.judge`, `RunContext.judge`).
    `text` is the write-up the claims stand in, to tell whom a pronoun means; `most_chars` are those of a
    call, as in MAX_CALL_CHARS. `parts` are those of the plan, `answered_parts` collects which of them the
    supported claims answer (None: nobody said). `failures` collects why calls failed, by claim id."""

    ask: Callable[..., RoleResult]
    question: str = ""
    text: str = ""
    most_chars: int = MAX_CALL_CHARS
    parts: Sequence[PlanPart] = ()
    is_independent: bool = False
    """Whether another model wrote the text."""
    is_whole: bool = False
    """Whether all of the text is shown, to tell which parts it answers; else what stands before a claim."""
    answered_parts: list[str] | None = None
    failures: dict[str, str] = field(default_factory=dict)
    quotes: dict[str, dict[str, str]] = field(default_factory=dict)
    """By claim id the quotes that its call showed, by their ids there."""
    trouble: str = ""
    """Why a call failed for good; "" when none did."""

    def __call__(self, claims: Sequence[OpenClaim]) -> Mapping[str, Judgement]:
        judged: dict[str, Judgement] = {}
        for batch in _split_batches(claims, self.most_chars):
            shown = _show_claims(batch)
            texts, asked = dict[str, str](), set[str]()
            numbers, text = range(1, len(shown) + 1), self.text
            case = re.IGNORECASE if self.is_whole else re.NOFLAG
            for claim, one in zip(batch, shown, strict=True):
                self.quotes[claim.claim.id] = texts
                asked.add(claim.claim.question)
                for quote in one.quotes:
                    texts[quote.id] = quote.text
                # the text with the number of each statement, and what stands before one
                text = re.sub(re.escape(one.statement), f"({one.n})", text, count=1, flags=case)
            question = self.question or (asked.pop() if len(asked) == 1 else "")
            pieces = re.split(r"(\(\d+\))", text)
            has_words = bool("".join(pieces[::2]).strip())
            if not self.is_whole:
                pieces = [
                    piece if len(piece) <= BEFORE_CHARS else f"… {piece[-BEFORE_CHARS:]}"
                    for piece in pieces[:-1] or pieces
                ]

            def list_left_out(reply: CheckClaimsReply, numbers: range = numbers) -> list[str]:
                judged = {judgement.n for judgement in reply.claims}
                return [f"Statement {n} was not judged." for n in numbers if n not in judged]

            result = self.ask(
                CHECK_CLAIMS,
                check=list_left_out,
                question=question,
                text="".join(pieces).strip() if has_words else "",
                claims=shown,
                parts=self.parts if len(self.parts) > 1 else [],
            )
            answered = result.value.answered_parts
            if answered is not None and len(self.parts) > 1:  # the only part is not shown
                said_so = {*answered, *(self.answered_parts or ())}
                self.answered_parts = [part.id for part in self.parts if part.id in said_so]
            for said in result.value.claims:  # of two on one claim the one that does not support it
                if said.n in numbers:
                    name, ids = batch[said.n - 1].claim.id, shown[said.n - 1].cites
                    cited = ids.index(said.quote) if said.quote in ids else 0 if len(ids) == 1 else -1
                    reason = remove_unknown_urls(" ".join(said.reason.split()), ())[:MAX_REASON_CHARS]
                    if name not in judged or not said.supported:
                        judged[name] = Judgement(
                            said.supported, reason, cited, said.contradicted, self.is_independent
                        )
            self.trouble = self.trouble or result.failure
            reason = result.failure or ("its reply left this one out" if result.by == "model" else "")
            if reason:
                self.failures |= {one.claim.id: reason for one in batch if one.claim.id not in judged}
        return judged


def _split_batches(claims: Sequence[OpenClaim], most: int) -> Iterator[list[OpenClaim]]:
    """The claims in batches of at most MAX_CLAIMS and `most` characters; a quote counts once in each."""
    batch, known, chars = list[OpenClaim](), set[tuple[str, str]](), 0
    for claim in claims:
        sizes = {quote[:2]: sum(map(len, quote)) + TAG_CHARS for quote in _list_quotes(claim)}
        length = len(claim.claim.statement) + TAG_CHARS * (1 + len(claim.differences))
        added = length + sum(size for quote, size in sizes.items() if quote not in known)
        if batch and (len(batch) == MAX_CLAIMS or chars + added > most):
            yield batch
            batch, known, chars, added = [], set(), 0, length + sum(sizes.values())
        batch, known, chars = [*batch, claim], known | sizes.keys(), chars + added
    if batch:
        yield batch


def _list_quotes(open_claim: OpenClaim) -> list[tuple[str, str, str]]:
    """The quotes of a claim, each with its source and, where it may not tell who or when is meant, the words
    before it."""
    claim = open_claim.claim
    sources = claim.sources or (claim.context,) * len(claim.quotes)
    nearby = claim.nearby or ("",) * len(claim.quotes)
    is_dated = any(one.kind == "date" for one in open_claim.differences)
    names, quotes = [fold(name) for name in find_names(claim.statement)], []
    for quote, source, around in zip(claim.quotes, sources, nearby, strict=True):
        lacks_name = not names or any(name not in fold(quote) for name in names)
        is_open = is_dated or opens_with_pronoun(quote) or lacks_name
        quotes.append((quote, source, words_before(quote, around) if is_open else ""))
    return quotes


def _show_claims(batch: Sequence[OpenClaim]) -> list[ClaimShown]:
    """The claims of a call; a quote that several cite stands under the first, and in full; a source
    that several quotes have stands at the first."""
    known, sources, befores = dict[tuple[str, str], str](), dict[str, str](), dict[tuple[str, str], str]()
    quotes = [_list_quotes(claim) for claim in batch]
    for text, source, before in chain.from_iterable(quotes):
        befores[text, source] = before or befores.get((text, source), "")
    shown: list[ClaimShown] = []
    for n, open_claim in enumerate(batch, start=1):
        new, cites = list[QuoteShown](), list[str]()
        for text, source, _ in quotes[n - 1]:
            key = text, source
            if key not in known:
                known[key] = name = f"q{len(known) + 1}"
                first = sources.setdefault(source, name)
                source = source if first == name else f"as {first}" if source else ""
                new.append(QuoteShown(id=name, text=text, source=source, before=befores[key]))
            cites.append(known[key])
        questions = list(map(ask_about, open_claim.differences))
        if open_claim.note:
            questions.append(f"A program computed {open_claim.note}; is that what the statement says?")
        statement = open_claim.claim.statement
        shown.append(ClaimShown(n=n, statement=statement, quotes=new, questions=questions, cites=cites))
    return shown


def ask_about(difference: ClaimFinding) -> str:
    """A difference as a question."""
    claimed, quoted = difference.claimed, difference.quoted
    if difference.kind == "negation":
        return f"“{claimed or quoted}” stands on one side only; do both mean the same?"
    if not quoted:
        return f"No quote has “{claimed}”; do they plainly imply it?"
    return f"The quotes have “{quoted}”; is that the same as “{claimed}”?"


class FailedSentence(Record):
    """A sentence that failed its check: the ids of the quotes it cites, and what is wrong with it. `cell` is
    the row and column of a table's cell, of which only the words can change."""

    n: int
    text: str
    cell: str = ""
    quotes: list[str] = Field(default_factory=list)
    faults: list[str] = Field(default_factory=list)


class RepairedSentence(RoleReply):
    """The sentence in new words."""

    n: int = Field(description="the number of the sentence")
    quotes: list[str] = optional_list('ids of the quotes that state it, such as "q2"')
    text: str = Field(description="the corrected sentence; empty when it has to go")


class RepairReply(RoleReply):
    """The repaired sentences; one that is not named stays as it is."""

    sentences: list[RepairedSentence] = Field(default_factory=list)


REPAIR = Role(name="repair", reply=RepairReply, cut=("text", "quotes", "sentences"))
"""Rewrites the sentences of a draft that their quotes do not support: they then say what the quotes say."""


class NumberedSentence(Record):
    """A sentence as the prompt shows it."""

    n: int
    text: str


class FindClaimsReply(RoleReply):
    """The numbers of the sentences that state no fact; all others are checked."""

    no_claims: list[int] = optional_list("numbers of sentences that state nothing a source could confirm")


FIND_CLAIMS = Role(name="find_claims", reply=FindClaimsReply, tier="fast")
"""Tells which sentences of a given text state nothing that a source could confirm: opinions, advice, remarks
on the text itself. Structure has told headings and questions before."""


class CompareFactsReply(RoleReply):
    """A ruling on each conflict."""

    conflicts: list[ConflictRuling] = Field(default_factory=list)


COMPARE_FACTS = Role(name="compare_facts", reply=CompareFactsReply, tier="fast", cut=("conflicts",))
"""Judges what the two sides of a conflict are to each other: all open conflicts that nobody ruled on, in one
call before the write-up."""
