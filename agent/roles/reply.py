"""Roles of the reply flow, in their order: GATE, SELECTION, WRITING, VERIFICATION; and DESCRIBE, which writes
the index that SELECTION reads."""

from __future__ import annotations

import re

from pydantic import Field

from agent.retrieval.answer import find_answer
from agent.retrieval.extractive_summary import MAX_DESCRIPTION_CHARS
from agent.roles.role import Role, RoleReply, Share, WriterReply
from agent.roles.site import DraftSentence, best_fit, make_sentences
from agent.text.identifiers import find_unmistakable_codes
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import fold, tokenize
from agent.text.word_lists import STOPWORDS, compile_words, load_alternatives
from agent.types import IndexEntry, Passage

MAX_LINES, MAX_END_CHARS = 100, 500
"""The last lines that are judged, and the characters at either end of a long line."""
MIN_QUERY_WORDS = 3
"""Content words of a message that reads like something typed into a search box."""
_WORDS = load_alternatives("gate")
_PUNCTUATION_RUN = re.compile(r"\W{9,}")
_QUESTION_MARK = re.compile(r"[?？؟⁇;](?:[\s\"'”’)\]!.…]|$)")
_QUESTION_OPENING = re.compile(
    rf"^\W*(?:(?:{_WORDS['before a question']})\W+){{0,4}}(?:{_WORDS['question opening']})\b", re.IGNORECASE
)
_UNSPACED_QUESTION = re.compile(_WORDS["question without spaces"])
_HELP_REQUEST = re.compile(r"(?:^|[,.!?;])\W*(?:please |pls |plz )?help\b", re.IGNORECASE)
_PROBLEM, _REQUEST, _THANKS = (compile_words(_WORDS[name]) for name in ("problem", "request", "thanks"))
_APPROVAL = compile_words(f"{_WORDS['thanks']}|{_WORDS['praise']}")
_ASSENT = re.compile(rf"^\W*(?:{_WORDS['assent']})\b", re.IGNORECASE)
_SMALL_TALK = re.compile(
    rf"^\W*(?:(?:{_WORDS['greeting']})\b\W*(?:\w+\W*){{0,3}}$"
    rf"|(?:hi|hey|hello|hallo|hej)?\W*(?:{_WORDS['small talk']})\b[\w\s]{{0,25}}\W*$)",
    re.IGNORECASE,
)
_THANKS_IN_ADVANCE = re.compile(rf"\W+(?:{_WORDS['thanks in advance']})\W*$", re.IGNORECASE)
_PERSONAL = re.compile(rf"\b(?:{_WORDS['personal']})\b|!", re.IGNORECASE)


class GateReply(RoleReply):
    """Whether a reply should be prepared."""

    should_reply: bool
    reasoning: str = Field(default="", description="one short sentence")


def gate_fallback(*, conversation: str, question: str, **others: object) -> GateReply:
    """By the form of the messages nobody answered yet: one that asks is enough. Inside a conversation with
    the bot any words count as a follow-up."""
    talking = re.search(r"^You:", conversation, re.MULTILINE) is not None
    replies = list[GateReply]()
    for line in filter(str.strip, question.split("\n")[-MAX_LINES:]):  # without its middle, if long
        line = _PUNCTUATION_RUN.sub(lambda run: run[0][:4] + run[0][-4:], line)
        line = line if len(line) <= 2 * MAX_END_CHARS else f"{line[:MAX_END_CHARS]} {line[-MAX_END_CHARS:]}"
        should_reply, why = _judge_line(line, talking=talking)
        replies.append(GateReply(should_reply=should_reply, reasoning=why))
    nothing = GateReply(should_reply=False, reasoning="Nothing is said that could be answered.")
    return next((reply for reply in replies if reply.should_reply), replies[-1] if replies else nothing)


def _judge_line(line: str, *, talking: bool) -> tuple[bool, str]:
    """Whether one line asks something, and why."""
    if _SMALL_TALK.search(line):
        return False, "It is small talk."
    line = _THANKS_IN_ADVANCE.sub("", line)
    marked, approves = bool(_QUESTION_MARK.search(line)), bool(_APPROVAL.search(line))
    words = [word for word in tokenize(_APPROVAL.sub(" ", line)) if word not in STOPWORDS]
    is_question = marked or bool(_QUESTION_OPENING.search(line) or _UNSPACED_QUESTION.search(line))
    is_short_follow_up = marked and 0 < len(tokenize(line)) <= 4
    if is_question and not words and not is_short_follow_up:
        return False, "It asks, but nothing that could be looked up."
    if is_question and (marked or not approves or len(words) > 1):
        return True, "It has the form of a question or a request."
    if _THANKS.search(line):
        return False, "It says something, but asks nothing."
    asks = (
        _PROBLEM.search(line),
        _REQUEST.search(line),
        _HELP_REQUEST.search(line),
        find_unmistakable_codes(line),
    )
    if words and any(asks):
        return True, "Somebody reports a problem, or wants to know."
    if _ASSENT.search(line):
        return False, "It accepts what was said, and asks nothing."
    if words and talking:
        return True, "It continues the conversation."
    if _PERSONAL.search(fold(line)):
        return False, "It says something, but asks nothing."
    if len(words) >= MIN_QUERY_WORDS:
        return True, "It reads like something that is looked for."
    return False, "It asks nothing."


GATE = Role(name="gate", reply=GateReply, fallback=gate_fallback, tier="fast")
"""The gate of `reply`: does a conversation end in something to be answered? Knows words alone."""


MIN_SHARE_OF_BEST = 0.35
"""A source is chosen with at least this share of the best one's score."""


class SelectionReply(RoleReply):
    """The chosen sources, best first."""

    selected_source_ids: list[str] = Field(
        default_factory=list, description="ids of the index, the best first; empty when none fits"
    )
    reasoning: str = Field(default="", description="one short sentence")


def selection_fallback(
    *, index: list[IndexEntry], by_words: dict[str, float], most: int, **others: object
) -> SelectionReply:
    """The sources whose texts hold most of the question's words (`by_words`)."""
    known = {entry.source_id for entry in index}
    ranked = sorted(((name, by_words[name]) for name in by_words if name in known), key=lambda pair: -pair[1])
    chosen = [name for name, score in ranked if score >= MIN_SHARE_OF_BEST * ranked[0][1]][:most]
    if not chosen:
        return SelectionReply(reasoning="No source holds words of the question.")
    reason = f"{len(chosen)} of {len(index)} sources hold most of the question's words."
    return SelectionReply(selected_source_ids=chosen, reasoning=reason)


SELECTION = Role(name="selection", reply=SelectionReply, fallback=selection_fallback)
"""Chooses from the library's index the sources that are loaded for an answer. Knows entries of the index, not
the texts behind them."""


class WritingSentence(DraftSentence):
    """One sentence of the reply and the words that state it."""

    pictures: list[int] = Field(
        default_factory=list, description="numbers of the pictures it rests on; usually empty"
    )


class WritingReply(WriterReply):
    """A reply, or none."""

    answer: list[WritingSentence] = Field(
        default_factory=list, description="empty when the sources do not answer"
    )
    missing: str = Field(default="", description="what of the question stays open; empty when nothing does")
    confidence: Share = 0.0


def writing_fallback(*, question: str, asked: str, passages: list[Passage], **others: object) -> WritingReply:
    """The passages that fit best, as quotes; nothing when none fits."""
    found = find_answer(asked, passages).keep_parts_of(question)
    last = question.rstrip().split("\n")[-1]  # several messages may be asked at once; the last one asks
    if found.is_refusal and last != question:
        found = find_answer(last, passages)
    if not found.is_refusal:
        answer = [
            WritingSentence(text=sentence.text, quotes=sentence.quotes, **sentence.placement)
            for sentence in make_sentences(found)
        ]
        return WritingReply(answer=answer, confidence=best_fit(found))
    missing = [term for part in found.parts for term in part.missing]
    return WritingReply(
        missing=f"The sources do not contain {', '.join(missing)}."
        if missing
        else "No source fits the question well enough."
        if passages
        else "There is no text to answer from.",
        confidence=best_fit(found),
    )


WRITING = Role(name="writing", reply=WritingReply, fallback=writing_fallback)
"""Writes the reply to a question from the chosen sources, or nothing."""


class VerificationReply(RoleReply):
    """Approved or not."""

    verification: bool = Field(description="true: the draft may be posted as it is")
    reasoning: str = Field(default="", description="one short sentence")


def verification_fallback(*, draft: str, passages: list[Passage], **others: object) -> VerificationReply:
    """Approved when each sentence of the draft is in the passages word for word."""
    sources = " ".join(" ".join(tokenize(f"{passage.heading} {passage.text}")) for passage in passages)
    for start, end in find_sentence_spans(draft):
        if " ".join(tokenize(draft[start:end])) not in sources:
            reason = f"“{draft[start:end][:80]}” is not in the sources."
            return VerificationReply(verification=False, reasoning=reason)
    return VerificationReply(verification=bool(draft.strip()), reasoning="Every sentence is in the sources.")


VERIFICATION = Role(name="verification", reply=VerificationReply, fallback=verification_fallback)
"""The last check of a drafted reply: may it be posted?"""


BEGINNING_CHARS = 12_000
"""Characters of a document that are shown."""


class DescribeReply(RoleReply):
    """What the source is about."""

    description: str = Field(
        default="", description=f"one or two plain sentences, at most {MAX_DESCRIPTION_CHARS} characters"
    )


DESCRIBE = Role(name="describe", reply=DescribeReply, tier="fast")
"""Says in a line what a source of the library is about, for whoever chooses from the index. Knows a
document's beginning, not its place."""
