"""The gate of `reply`: does a conversation end in something to be answered? Knows words alone."""

from __future__ import annotations

import re

from pydantic import Field

from agent.roles.patterns import compile_words, load_alternatives
from agent.roles.role import Role, RoleReply
from agent.text.identifiers import find_unmistakable_codes
from agent.text.tokens import fold, tokenize
from agent.text.word_lists import STOPWORDS

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


def fallback(*, task: str, introduction: str, conversation: str, question: str, pictures: int) -> GateReply:
    """By the form of the messages nobody answered yet: one that asks is enough. Inside a conversation with
    the bot any words count as a follow-up."""
    talking = re.search(r"^You:", conversation, re.MULTILINE) is not None
    lines = [line for line in question.split("\n")[-MAX_LINES:] if line.strip()]
    replies = [
        GateReply(should_reply=should_reply, reasoning=why)
        for should_reply, why in (_judge_line(_shorten(line), talking=talking) for line in lines)
    ]
    nothing = GateReply(should_reply=False, reasoning="Nothing is said that could be answered.")
    return next((reply for reply in replies if reply.should_reply), replies[-1] if replies else nothing)


def _shorten(line: str) -> str:
    """A line without its middle and long runs of punctuation, so that no message takes long."""
    line = _PUNCTUATION_RUN.sub(lambda run: run[0][:4] + run[0][-4:], line)
    return line if len(line) <= 2 * MAX_END_CHARS else f"{line[:MAX_END_CHARS]} {line[-MAX_END_CHARS:]}"


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


GATE = Role(name="gate", reply=GateReply, fallback=fallback, tier="fast")
