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
    (FORUM, r"forums?|discussions?|message boards?|boards?|communit(?:y|ies)|threads?|posts?|comments?"
     r"|(?:people|users|members|investors|customers|owners|readers) (?:are saying|say|said|think|write|wrote)"),
    (NEWS, r"news|headlines?|press|articles?|stories|reports?"),
    ("blog", r"blogs?"),
    ("reviews", r"reviews?"),
)  # fmt: skip
_LENGTH = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 90, "year": 365}
_COUNT = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "couple of": 2,
    "few": 3,
}
_NUMBER = rf"\d{{1,3}}|{'|'.join(_COUNT)}"
_SOME = "|".join([r"\d{1,3}", *(word for word in _COUNT if word not in ("a", "an"))])
_RANGE = re.compile(
    rf"\b(?:in|from|of|over|during|within|for|since)?\s*(?:the\s+)?(?:last|past|previous|recent)\s+(?:(?P<count>{_NUMBER})\s+)?(?P<unit>days?|weeks?|fortnights?|months?|quarters?|years?)\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"\b(?:from\s+)?(?P<word>today|yesterday|this (?:week|month|quarter|year))['’]?s?\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|after)\s+(?P<date>(?:19|20)\d\d-\d\d-\d\d)\b", re.IGNORECASE)
_MANY = re.compile(
    rf"\b(?:the\s+)?(?:top|first|latest|newest|up to|at most|max(?:imum)?(?: of)?|only|best)\s+(?P<n>{_SOME})\b"
    r"|\b(?P<m>\d{1,3})\s+(?:articles?|threads?|stories|news|posts?|items?|discussions?)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|mentioning|related to|on the (?:subject|topic) of|discussing|covering)\s+(?P<topic>.+)$", re.I | re.S
)
_OF = re.compile(r"\b(?:on|of)\s+(?P<topic>.+)$", re.I | re.S)
_WORDS = re.compile(
    r"\b(?:please|can you|could you|i want|i need|go to|open|visit|find out|find|collect|gather|get|fetch|show|list|give|tell|summari[sz]e"
    r"|summary|digest|read|extract|download|look (?:for|at)|check|me|us|all|every|everything|any|what|which|how|people|users|members"
    r"|investors|customers|say(?:s|ing)?|said|think(?:s|ing)?|write|writing|wrote|post(?:s|ed|ing)?|are|is|was|were|be|being|have|has|been"
    r"|there|the|a|an|and|or|of|in|on|at|to|for|from|with|by|it|its|this|that|these|those|here|page|pages|section|website|site|link|url"
    r"|recent(?:ly)?|latest|newest|new|last|current|top|first|articles?|stories|headlines?|news|forums?|threads?|discussions?|message"
    r"|boards?|communit(?:y|ies)|comments?|blogs?|reviews?|reports?|opinions?|talk(?:ing|s)?|discuss(?:ed|ing)?|under|following|content"
    r"|contents|into|out|up|do|does|happen(?:s|ed|ing)?|going)\b",
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
    """The intent by rule; of several notes the last one that names a topic (“about …”), a time or a number wins."""
    texts = [_without_addresses(text) for text in (prompt, *notes)]
    days = [found for text in texts if (found := _days(text, today)) is not None]
    many = [found for text in texts if (found := _many(text))]
    topics = [_topic(texts[0]), *(_named(_ABOUT, note) for note in texts[1:])]
    return IntentReply(
        topic=[topics[0], *filter(None, topics)][-1], target_section=_section(" ".join(texts)), time_range_days=days[-1] if days else None,
        max_articles=many[-1] if many else None,
    )  # fmt: skip


def _without_addresses(text: str) -> str:
    for url in found_in(text):
        text = text.replace(url, " ")
    return text


def _section(prompt: str) -> str:
    found = [
        (match.start(), n, name) for n, (name, words) in enumerate(_SECTIONS) if (match := re.search(rf"\b(?:{words})\b", prompt, re.IGNORECASE))
    ]
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
        begins = {
            "today": now, "yesterday": now - timedelta(days=1), "this week": now - timedelta(days=now.weekday()),
            "this month": now.replace(day=1), "this quarter": now.replace(month=(now.month - 1) // 3 * 3 + 1, day=1),
            "this year": now.replace(month=1, day=1),
        }  # fmt: skip
        return max(1, (now - begins[word]).days)
    return None


def _many(prompt: str) -> int | None:
    spared = _RANGE.sub(" ", prompt)
    match = _MANY.search(spared)
    return _number(match["n"] or match["m"]) if match else None


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _COUNT.get(word.lower(), 1)


def _topic(prompt: str) -> str:
    """What is left of a prompt without its frame: behind “about”, else behind “on” or “of”, else all its words that are not the frame's."""
    return _named(_ABOUT, prompt) or _named(_OF, prompt) or _bare(_unframed(prompt))


def _named(pattern: re.Pattern[str], text: str) -> str:
    """The topic behind a word, up to the end of its clause; "" when there is none."""
    match = pattern.search(_unframed(text))
    named = re.split(r"[.;!?\n]|\s+(?:and|then)\s+(?:summari[sz]e|tell|give|list|show)\b", match["topic"])[0] if match else ""
    return _trimmed(named) if _bare(named) else ""


def _unframed(text: str) -> str:
    for frame in (_RANGE, _SINCE, _THIS, _MANY):
        text = frame.sub(" ", text)
    return text


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
