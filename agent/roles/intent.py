"""What a collecting prompt asks for: the topic, the section of a site, how far back, how many. Knows one sentence, no page."""

from __future__ import annotations

import re
from datetime import date, timedelta

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.urls import found_in

FORUM = "forum"
NEWS = "news"
_SECTIONS = (
    (FORUM, r"forums?|discussions?|message boards?|boards?|communit(?:y|ies)|threads?|posts?|comments?|(?:people|users|members|investors|customers|owners|readers) (?:are saying|say|said|think|write|wrote)"),
    (NEWS, r"news|headlines?|press|articles?|stories|reports?"),
    ("blog", r"blogs?"),
    ("reviews", r"reviews?"),
)  # fmt: skip
_LENGTH = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 90, "year": 365}
_COUNT = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "couple of": 2, "few": 3}
_NUMBER = rf"\d{{1,3}}|{'|'.join(_COUNT)}"
_RANGE = re.compile(
    rf"\b(?:in|from|of|over|during|within|for|since)?\s*(?:the\s+)?(?:last|past|previous|recent)\s+(?:(?P<count>{_NUMBER})\s+)?(?P<unit>days?|weeks?|fortnights?|months?|quarters?|years?)\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"\b(?:from\s+)?(?P<word>today|yesterday|this (?:week|month|quarter|year))['’]?s?\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|after)\s+(?P<date>(?:19|20)\d\d-\d\d-\d\d)\b", re.IGNORECASE)
_MANY = re.compile(
    rf"\b(?:the\s+)?(?:top|first|latest|newest|up to|at most|max(?:imum)?(?: of)?|only|best)\s+(?P<n>{_NUMBER})\b|\b(?P<m>\d{{1,3}})\s+(?:articles?|threads?|stories|news|posts?|items?|discussions?)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\b(?:about|regarding|concerning|mentioning|related to|on the (?:subject|topic) of|discussing|covering|on|of)\s+(?P<topic>.+)$", re.IGNORECASE | re.DOTALL)
_WORDS = re.compile(
    r"\b(?:please|can you|could you|i want|i need|go to|open|visit|find out|find|collect|gather|get|fetch|show|list|give|tell|summari[sz]e|summary|digest|read|"
    r"extract|download|look (?:for|at)|check|me|us|all|every|everything|any|what|which|how|people|users|members|investors|customers|say(?:s|ing)?|said|"
    r"think(?:s|ing)?|write|writing|wrote|post(?:s|ed|ing)?|are|is|was|were|be|being|have|has|been|there|the|a|an|and|or|of|in|on|at|to|for|from|with|by|it|its|"
    r"this|that|these|those|here|page|pages|section|website|site|link|url|recent(?:ly)?|latest|newest|new|last|current|top|first|articles?|stories|headlines?|"
    r"news|forums?|threads?|discussions?|message|boards?|communit(?:y|ies)|comments?|blogs?|reviews?|reports?|opinions?|talk(?:ing|s)?|discuss(?:ed|ing)?|"
    r"under|following|content|contents|into|out|up|do|does|happen(?:s|ed|ing)?|happens|going)\b",
    re.IGNORECASE,
)


class IntentReply(BaseModel):
    """What is wanted. `topic` is empty when the pages themselves are (“this article”); `time_range_days` null for any time."""

    model_config = ConfigDict(extra="ignore")

    topic: str = Field(default="", description="the subject in a few words, without the section, the time and the number")
    target_section: str = Field(default="", description="forum, news, or another section the prompt names; empty for no preference")
    time_range_days: int | None = Field(default=None, description="how many days back; null for any time")
    max_articles: int | None = Field(default=None, description="how many are asked for; null when the prompt names no number")


def keyless(*, prompt: str, notes: list[str], today: str, max_articles: int) -> IntentReply:
    """The intent by rule; of several notes the last one that names a time or number wins."""
    time, many = None, None
    for text in (prompt, *notes):
        time = _days(text, today) if _days(text, today) is not None else time
        many = _many(text) or many
    return IntentReply(topic=_topic(prompt), target_section=_section(" ".join([prompt, *notes])), time_range_days=time, max_articles=many)


def _section(prompt: str) -> str:
    found = [(match.start(), n, name) for n, (name, words) in enumerate(_SECTIONS) if (match := re.search(rf"\b(?:{words})\b", prompt, re.IGNORECASE))]
    if re.search(r"\bthis (?:article|page|thread|post|story|discussion)\b", prompt, re.IGNORECASE):
        return ""
    return min(found, key=lambda hit: (hit[1], hit[0]))[2] if found else ""


def _days(prompt: str, today: str) -> int | None:
    if match := _RANGE.search(prompt):
        unit = match["unit"].lower().rstrip("s")
        return _number(match["count"] or "1") * _LENGTH[unit]
    if match := _SINCE.search(prompt):
        try:
            return max(1, (date.fromisoformat(today[:10]) - date.fromisoformat(match["date"])).days)
        except ValueError:
            return None
    if match := _THIS.search(prompt):
        word = match["word"].lower()
        now = date.fromisoformat(today[:10])
        begins = {"today": now, "yesterday": now - timedelta(days=1), "this week": now - timedelta(days=now.weekday()), "this month": now.replace(day=1),
                  "this quarter": now.replace(month=(now.month - 1) // 3 * 3 + 1, day=1), "this year": now.replace(month=1, day=1)}  # fmt: skip
        return max(1, (now - begins[word]).days)
    return None


def _many(prompt: str) -> int | None:
    spared = _RANGE.sub(" ", prompt)
    match = _MANY.search(spared)
    return _number(match["n"] or match["m"]) if match else None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _COUNT.get(word.lower(), 1)


def _topic(prompt: str) -> str:
    """What is left of a prompt without its frame: behind “about”, else all its words that are not the frame's."""
    text = prompt
    for url in found_in(prompt):
        text = text.replace(url, " ")
    for frame in (_RANGE, _SINCE, _THIS, _MANY):
        text = frame.sub(" ", text)
    about = _ABOUT.search(text)
    if about and _bare(about["topic"]):
        named = re.split(r"[.;!?\n]|\s+(?:and|then)\s+(?:summari[sz]e|tell|give|list|show)\b", about["topic"])[0]
        if _bare(named):
            return _trimmed(named)
    return _bare(text)


def _bare(text: str) -> str:
    return " ".join(_WORDS.sub(" ", re.sub(r"[^\w\s&’'-]", " ", text)).split()).strip(" '’-")


def _trimmed(named: str) -> str:
    """A topic without the frame's words at its ends."""
    words = named.strip(" ,:").split()
    while words and not _bare(words[0]):
        words = words[1:]
    while words and not _bare(words[-1]):
        words = words[:-1]
    return " ".join(words).strip(" ,:'\"")


INTENT = Role(name="intent", reply=IntentReply, keyless=keyless, tier="fast")
