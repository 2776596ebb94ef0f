"""Reads what a collecting prompt asks for: the topic, the section of a site, how far back, how many, and what
to leave out. Knows no page."""

from __future__ import annotations

import re
from datetime import date

from pydantic import Field

from agent.roles.patterns import compile_words, load_alternatives
from agent.roles.role import Role, RoleReply
from agent.text.negative_constraints import keep_topic_constraints, split_negative_constraints
from agent.text.requested_count import ITEM, find_requested_count, is_newest_asked, remove_requested_count
from agent.text.time_range import find_time_range
from agent.text.urls import find_urls

_WORDS = load_alternatives("collect")
_SECTIONS = {
    name: (compile_words(_WORDS[name]), compile_words(_WORDS.get(f"{name} hint", "(?!)")))
    for name in ("forum", "blog", "reviews", "news")
}
"""Each section with the words that name it, and those that only hint at it."""
_NAMED_SECTION = re.compile(
    r"\b(?:from|in|under|of|to|see|visit) (?:the |its )?"
    r"[“\"‘']?(?P<name>[\w&-]+(?: [\w&-]+){0,2}?)[”\"’']? (?:sub)?sections?\b",
    re.IGNORECASE,
)
_THIS_PAGE = compile_words(_WORDS["this page"])
_ABOUT = re.compile(rf"\b(?:{_WORDS['about']})\s+(?P<topic>.+)$", re.IGNORECASE | re.DOTALL)
_OF = re.compile(r"\b(?:on|of)\s+(?P<topic>.+)$", re.IGNORECASE | re.DOTALL)
_BY = re.compile(
    r"\b(?:written |posted |sent |geschrieben )?(?i:by|von|av|par|por|da)\s+"
    r"(?P<name>[^\W\d_a-zß-öø-ÿ][\w.'’-]*(?:\s+[^\W\d_a-zß-öø-ÿ][\w.'’-]*){0,3})"
)
"""A writer: up to four words with capital letters behind "by"."""
_FRAME_WORDS = compile_words(f"{ITEM}|{_WORDS['function word']}|{_WORDS['place']}|{_WORDS['request']}")
_EDGE_WORDS = re.compile(rf"(?:{_WORDS['function word']}|{_WORDS['place']}|zusammen)", re.IGNORECASE)


class IntentReply(RoleReply):
    """What is wanted. `topic` "": the pages themselves (“this article”); `time_range_days` null: any time."""

    topic: str = Field(
        default="", description="the subject in a few words, without the section, the time and the number"
    )
    target_section: str = Field(
        default="", description="forum, news, or another section the prompt names; empty for no preference"
    )
    time_range_days: int | None = Field(default=None, description="how many days back; null for any time")
    until: str | None = Field(
        default=None, description="YYYY-MM-DD, the last day that counts; null when it is today"
    )
    max_articles: int | None = Field(
        default=None, description="how many are asked for; null when the prompt names no number"
    )
    author: str = Field(default="", description="whose articles or messages alone they want; else empty")
    newest: bool = Field(default=False, description="whether they want the newest ones")
    leave_out: list[str] = Field(
        default_factory=list,
        description="what they do not want, each in their own words; addresses left aside",
    )


def fallback(*, prompt: str, notes: list[str], today: str, max_articles: int) -> IntentReply:
    """The intent by rule; of several notes the last that names a topic (“about …”), time or number wins."""
    parts = [split_negative_constraints(text) for text in (prompt, *notes)]
    texts = [_remove_urls(wanted) for wanted, _ in parts]
    ranges = [find_time_range(text, today) for text in texts]
    texts = [found.rest if found else text for text, found in zip(texts, ranges, strict=True)]
    time = next((found for found in reversed(ranges) if found), None)
    counts = [found for text in texts if (found := find_requested_count(text))]
    authors = [find_author(text) for text in texts]
    is_newest = any(map(is_newest_asked, texts))
    texts = [_BY.sub(" ", text) for text in texts]
    topics = [_find_topic(texts[0]), *(_find_topic_behind(_ABOUT, note) for note in texts[1:])]
    sections = [section for text in texts if (section := _find_section(text))]
    days = (date.fromisoformat(today[:10]) - time.first).days if time and time.first else None
    return IntentReply(
        topic=[topics[0], *filter(None, topics)][-1],
        target_section=sections[0] if sections else "",
        time_range_days=None if days is None else max(1, days),
        until=time.last.isoformat() if time and time.last else None,
        max_articles=counts[-1] if counts else None,
        author=next(filter(None, reversed(authors)), ""),
        newest=is_newest,
        leave_out=[part for _, refused in parts for part in keep_topic_constraints(refused)],
    )


def find_author(text: str) -> str:
    """The writer a request names ("messages by Jane Doe"), "" for none."""
    match = _BY.search(text)
    return match["name"] if match else ""


def _remove_urls(text: str) -> str:
    for url in find_urls(text):
        text = text.replace(url, " ")
    return text


def _find_section(prompt: str) -> str:
    """The section a prompt names, else the one it hints at; words behind “about” are the topic and name a
    section only when nothing else does."""
    if _THIS_PAGE.search(prompt):
        return ""
    about = _ABOUT.search(prompt)
    for text in (prompt[: about.start()], prompt[about.start() :]) if about else (prompt,):
        for name, (named, _) in _SECTIONS.items():
            if named.search(text):
                return name
        if (match := _NAMED_SECTION.search(text)) and (name := _strip_frame_words(match["name"])):
            return name.lower()
        for name, (_, hinted) in _SECTIONS.items():
            if hinted.search(text):
                return name
    return ""


def _find_topic(prompt: str) -> str:
    """The topic behind “about”, else behind “on” or “of”, else all words that are not the request's."""
    behind = _find_topic_behind(_ABOUT, prompt) or _find_topic_behind(_OF, prompt)
    return behind or _strip_frame_words(_strip_frame(prompt))


def _find_topic_behind(pattern: re.Pattern[str], text: str) -> str:
    """The topic behind a word, up to the end of its clause; "" when there is none."""
    match = pattern.search(_strip_frame(text))
    if not match:
        return ""
    named = re.split(r"[.;!?\n]|\s+(?:and|then)\s+(?:summari[sz]e|tell|give|list|show)\b", match["topic"])[0]
    return _trim_topic(named) if _strip_frame_words(named) else ""


def _strip_frame(text: str) -> str:
    return _NAMED_SECTION.sub(" ", remove_requested_count(text))


def _strip_frame_words(text: str) -> str:
    return " ".join(_FRAME_WORDS.sub(" ", re.sub(r"[^\w\s&’'-]", " ", text)).split()).strip(" '’-")


def _trim_topic(named: str) -> str:
    """A topic without the request's words at its ends."""
    words = named.strip(" ,:").split()
    while words and _EDGE_WORDS.fullmatch(words[0].strip(",:'\"")):
        del words[0]
    while words and _EDGE_WORDS.fullmatch(words[-1].strip(",:'\"")):
        del words[-1]
    return " ".join(words).strip(" ,:'\"")


INTENT = Role(name="intent", reply=IntentReply, fallback=fallback, tier="fast")
