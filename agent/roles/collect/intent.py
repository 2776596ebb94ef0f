"""What a collecting prompt asks for: the topic, the section of a site, how far back, how many, what is to be
left out. Knows no page."""

from __future__ import annotations

import re

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text import negative_constraints
from agent.text.relative_dates import find_days_back, remove_time_range
from agent.text.requested_count import find_requested_count, remove_requested_count
from agent.text.urls import find_urls

_SECTIONS = (
    (
        "forum",
        r"(?:diskussions)?for(?:ums?|en|umet)|discussions?|diskussion(?:en|er|erna)?|message boards?|boards?|communit(?:y|ies)|threads?"
        r"|tråd(?:ar|arna|en)|foros?|hilos?|debates?",
        r"posts?|comments?|inlägg(?:en)?|kommentar(?:e|er|en|erna)|commentaires?|comentarios?|mensajes?"
        r"|(?:people|users|members|investors|customers|owners|readers|others) (?:are )?"
        r"(?:saying|says?|said|think(?:s|ing)?|writ(?:e|ing)|wrote|talk(?:ing)?)",
    ),
    ("blog", r"blogs?|bloggen|weblogs?", r"(?!)"),
    ("reviews", r"reviews?|recension(?:er|erna)|rezensionen|bewertungen|reseñas?", r"(?!)"),
    (
        "news",
        r"news|headlines?|press|nachrichten|meldungen|schlagzeilen|nyhet(?:er|erna)|nytt|actualités?|nouvelles|noticias?|titulares",
        r"articles?|stories|story|reports?|artikeln?|artiklar(?:na)?|artículos?|berichten?|rapport(?:er|erna)?",
    ),
)
"""A section, the words that name it, and those that only hint at it."""
_NAMED_SECTION = re.compile(
    r"\b(?:from|in|under|of|to|see|visit) (?:the |its )?[“\"‘']?(?P<name>[\w&-]+(?: [\w&-]+){0,2}?)[”\"’']? (?:sub)?sections?\b",
    re.IGNORECASE,
)
_THIS_PAGE = re.compile(
    r"\b(?:this|these|diese[nrsm]?|denna|dessa|cet(?:te)?|ces|est[aeo]s?) (?:articles?|pages?|threads?|posts?|stor(?:y|ies)|discussions?"
    r"|artikel|seite|beitrag|sida|tråd|inlägg|fil|artículos?|página|hilo)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|mention(?:s|ing)?|related to|on the (?:subject|topic) of|discussing|covering"
    r"|über|zum thema|betreffend|om|angående|à propos d[e']|au sujet d[e']|sur|sobre|acerca de)\s+(?P<topic>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_OF = re.compile(r"\b(?:on|of)\s+(?P<topic>.+)$", re.IGNORECASE | re.DOTALL)
_FUNCTION_WORDS = (
    r"me|us|all|every|everything|any|some|several|few|many|various|what|which|how|there|the|a|an|and|or|of|in|on|at|to|for|from|with|by|it|its|this"
    r"|that|these|those|here|are|is|was|were|be|being|have|has|been|do|does|into|out|up|under|most|more|recent(?:ly)?|latest|newest|new|last|current"
    r"|die|der|das|den|dem|des|ein|eine|einen|und|aus|von|vom|zu|zur|zum|im|mir|alle|alles|neu(?:e|en|er|es|este|esten)|bitte|was"
    r"|det|en|ett|och|på|av|från|till|mig|alla|allt|nya|nyaste|senaste|les?|la|du|de|et|tous|toutes|dernières?|derniers?|el|l[ao]s|y|todos|todas"
    r"|últim[oa]s"
)
_PLACE_WORDS = r"pages?|sections?|websites?|sites?|links?|urls?|forums?|news|threads?|articles?|headlines?|seiten?|sida|sidan|forumet|please|below|above"
_FRAME_WORDS = re.compile(
    rf"\b(?:{_FUNCTION_WORDS}|{_PLACE_WORDS}|can you|could you|i want|i need|go|open|visit|find|collect|gather|get|fetch|show|list|give|tell|summari[sz]e"
    r"|summary|digest|read|extract|download|look(?:ing)?|check|people|users|members|investors|customers|say(?:s|ing)?|said|think(?:s|ing)?|write|writing"
    r"|wrote|post(?:s|ed|ing)?|top|first|stories|discussions?|message boards?|boards?|communit(?:y|ies)|comments?|blogs?|reviews?|reports?|press"
    r"|opinions?|talk(?:ing|s)?|discuss(?:ed|ing)?|following|contents?|happen(?:s|ed|ing)?|going"
    r"|fasse?|zusammen|sammle|zeige?|finde|suche|lies|hole|artikeln?|beiträgen?|nachrichten|meldungen|diskussionen|berichten?"
    r"|samla|visa|hitta|hämta|läs|sammanfatta|artiklar(?:na)?|artikel|trådar(?:na)?|nyheter(?:na)?|nytt|inlägg(?:en)?|diskussioner(?:na)?"
    r"|rassemble|montre|trouve|résume|nouvelles|actualités?|sujets?|reúne|muestra|busca|resume|noticias?|artículos?|hilos?)\b",
    re.IGNORECASE,
)
_EDGE_WORDS = re.compile(rf"(?:{_FUNCTION_WORDS}|{_PLACE_WORDS}|zusammen)", re.IGNORECASE)


class IntentReply(RoleReply):
    """What is wanted. `topic` is empty when the pages themselves are (“this article”); `time_range_days` null
    for any time."""

    topic: str = Field(
        default="", description="the subject in a few words, without the section, the time and the number"
    )
    target_section: str = Field(
        default="", description="forum, news, or another section the prompt names; empty for no preference"
    )
    time_range_days: int | None = Field(default=None, description="how many days back; null for any time")
    max_articles: int | None = Field(
        default=None, description="how many are asked for; null when the prompt names no number"
    )
    leave_out: list[str] = Field(
        default_factory=list,
        description="what they do not want, each in their own words; addresses left aside",
    )


def fallback(*, prompt: str, notes: list[str], today: str, max_articles: int) -> IntentReply:
    """The intent by rule; of several notes the last one that names a topic (“about …”), a time or a number
    wins."""
    parts = [negative_constraints.split_negative_constraints(text) for text in (prompt, *notes)]
    texts = [_without_addresses(wanted) for wanted, _ in parts]
    days = [found for text in texts if (found := find_days_back(text, today)) is not None]
    many = [found for text in texts if (found := find_requested_count(remove_time_range(text)))]
    topics = [_find_topic(texts[0]), *(_find_topic_behind(_ABOUT, note) for note in texts[1:])]
    sections = [section for text in texts if (section := _find_section(text))]
    return IntentReply(
        topic=[topics[0], *filter(None, topics)][-1],
        target_section=sections[0] if sections else "",
        time_range_days=days[-1] if days else None,
        max_articles=many[-1] if many else None,
        leave_out=[
            part for _, refused in parts for part in negative_constraints.keep_topic_constraints(refused)
        ],
    )


def _without_addresses(text: str) -> str:
    for url in find_urls(text):
        text = text.replace(url, " ")
    return text


def _find_section(prompt: str) -> str:
    """The section a prompt names, else the one it hints at; what stands behind “about” is the topic and names
    none unless nothing else does."""
    if _THIS_PAGE.search(prompt):
        return ""
    about = _ABOUT.search(prompt)
    for text in (prompt[: about.start()], prompt[about.start() :]) if about else (prompt,):
        known = [name for name, named, _ in _SECTIONS if re.search(rf"\b(?:{named})\b", text, re.IGNORECASE)]
        if not known and (match := _NAMED_SECTION.search(text)) and _strip_frame_words(match["name"]):
            known = [_strip_frame_words(match["name"]).lower()]
        known += [
            name for name, _, hinted in _SECTIONS if re.search(rf"\b(?:{hinted})\b", text, re.IGNORECASE)
        ]
        if known:
            return known[0]
    return ""


def _find_topic(prompt: str) -> str:
    """What is left of a prompt without its frame: behind “about”, else behind “on” or “of”, else all its
    words that are not the frame's."""
    return (
        _find_topic_behind(_ABOUT, prompt)
        or _find_topic_behind(_OF, prompt)
        or _strip_frame_words(_strip_frame(prompt))
    )


def _find_topic_behind(pattern: re.Pattern[str], text: str) -> str:
    """The topic behind a word, up to the end of its clause; "" when there is none."""
    match = pattern.search(_strip_frame(text))
    named = (
        re.split(r"[.;!?\n]|\s+(?:and|then)\s+(?:summari[sz]e|tell|give|list|show)\b", match["topic"])[0]
        if match
        else ""
    )
    return _trim_topic(named) if _strip_frame_words(named) else ""


def _strip_frame(text: str) -> str:
    return _NAMED_SECTION.sub(" ", remove_requested_count(remove_time_range(text)))


def _strip_frame_words(text: str) -> str:
    return " ".join(_FRAME_WORDS.sub(" ", re.sub(r"[^\w\s&’'-]", " ", text)).split()).strip(" '’-")


def _trim_topic(named: str) -> str:
    """A topic without the frame's words at its ends."""
    words = named.strip(" ,:").split()
    while words and _EDGE_WORDS.fullmatch(words[0].strip(",:'\"")):
        words = words[1:]
    while words and _EDGE_WORDS.fullmatch(words[-1].strip(",:'\"")):
        words = words[:-1]
    return " ".join(words).strip(" ,:'\"")


INTENT = Role(name="intent", reply=IntentReply, fallback=fallback, tier="fast")
