"""Roles of the collect flow on its way: INTENT reads the prompt, LINK_RANKING orders what a listing leads to,
PAGE_DECISION says what to do with a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from unicodedata import combining, normalize

from pydantic import Field

from agent.retrieval.scorer import rank_passages, stem_prefixes
from agent.roles.collect_items import is_same_writer
from agent.roles.role import Role, RoleReply, Share
from agent.text.negative_constraints import is_unwanted, keep_topic_constraints, split_negative_constraints
from agent.text.time_range import find_time_range
from agent.text.tokens import content_stems, stem_words
from agent.text.urls import find_urls
from agent.text.word_lists import compile_words, load_alternatives
from agent.types import Passage
from agent.types.collection import CollectIntent, LinkCandidate, PageAction, PageFeatures, PageType

# How many items a request asks for: "10 articles about …", "the three newest threads", "at most 5".
#
# A number counts only beside "newest", a word for what is collected, or a limit: "the 3 bridges" and "error
# 17" are part of the subject.

_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_ANY_NUMBER = rf"(?:(?!(?:19|20)\d\d\b)\d{{1,4}}|{'|'.join(_NUMBER_WORDS)})"
_NUMBER = rf"(?P<count>{_ANY_NUMBER})"
_NEWEST = r"(?:last|latest|newest|(?:most )?recent|top|neuesten?|letzten|senaste|nyaste|derni\w+|últim\w+)"
ITEM = (
    r"(?:articles?|threads?|messages?|mails?|releases?|versions?|changes|entries|announcements?|stor(?:y|ies)|news|headlines?|posts?|items?|discussions?|reviews?|reports?|pages?"
    r"|artikeln?|beiträge?n?|artiklar(?:na)?|tråd\w*|nyheter(?:na)?|inlägg(?:en)?|sujets?|nouvelles"
    r"|artículos?|noticias?|hilos?)"
)
_LIMIT = r"(?:up to|at most|no more than|max(?:imum)?(?: of)?|höchstens|maximal|högst|au plus|como máximo)"
_BETWEEN = rf"(?:\s+(?:{_NEWEST}|forum|news|blog|press|different|relevant))*"
_PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_LIMIT}\s+{_NUMBER}(?:{_BETWEEN}\s+{ITEM})?\b",
        rf"\b(?:the\s+)?(?:{_ANY_NUMBER}\s*(?:-|–|or|to)\s*)?{_NUMBER}{_BETWEEN}\s+{ITEM}\b",
        rf"\b(?:the\s+)?{_NEWEST}\s+{_NUMBER}\s+{ITEM}\b",
    )
]
_AT_LEAST = re.compile(
    rf"\b(?:at least|(?<!no )more than|mindestens|minst|au moins"
    rf"|al menos)\s+{_ANY_NUMBER}{_BETWEEN}\s+{ITEM}\b",
    re.IGNORECASE,
)


def find_requested_count(text: str) -> int | None:
    """The number a text asks for, the last of a range ("3-5"); None for none. Remove time ranges before."""
    matches = (pattern.search(_AT_LEAST.sub(" ", text)) for pattern in _PATTERNS)
    number = next((match["count"].lower() for match in matches if match), "")
    if number in _NUMBER_WORDS:
        return _NUMBER_WORDS.index(number) + 1
    return int(number) if number else None


def remove_requested_count(text: str) -> str:
    """The text without the words that say how many."""
    for pattern in (_AT_LEAST, _PATTERNS[0], _PATTERNS[2], _PATTERNS[1]):
        text = pattern.sub(" ", text)
    return text


def is_newest_asked(text: str) -> bool:
    """Whether a text asks for the newest of something. Remove time ranges before."""
    return bool(re.search(rf"\b{_NEWEST}(?:\s+{_ANY_NUMBER})?{_BETWEEN}\s+{ITEM}\b", text, re.IGNORECASE))


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


def intent_fallback(*, prompt: str, notes: list[str], today: str, **others: object) -> IntentReply:
    """The intent by rule; of several notes the last that names a topic (“about …”), time or number wins."""
    parts = [split_negative_constraints(text) for text in (prompt, *notes)]
    texts = [wanted for wanted, _ in parts]
    for url in find_urls(" ".join(texts)):
        texts = [text.replace(url, " ") for text in texts]
    ranges = [find_time_range(text, today) for text in texts]
    texts = [found.rest if found else text for text, found in zip(texts, ranges, strict=True)]
    time = next((found for found in reversed(ranges) if found), None)
    counts = [found for text in texts if (found := find_requested_count(text))]
    authors = [match["name"] for text in texts if (match := _BY.search(text))]
    is_newest = any(map(is_newest_asked, texts))
    texts = [_BY.sub(" ", text) for text in texts]
    named = _find_topic_behind(_ABOUT, texts[0]) or _find_topic_behind(_OF, texts[0])
    topics = [named or _strip_frame_words(_strip_frame(texts[0]))]
    topics += [_find_topic_behind(_ABOUT, note) for note in texts[1:]]
    sections = [section for text in texts if (section := _find_section(text))]
    days = (date.fromisoformat(today[:10]) - time.first).days if time and time.first else None
    return IntentReply(
        topic=[topics[0], *filter(None, topics)][-1],
        target_section=sections[0] if sections else "",
        time_range_days=None if days is None else max(1, days),
        until=time.last.isoformat() if time and time.last else None,
        max_articles=counts[-1] if counts else None,
        author=authors[-1] if authors else "",
        newest=is_newest,
        leave_out=[part for _, refused in parts for part in keep_topic_constraints(refused)],
    )


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


def _find_topic_behind(pattern: re.Pattern[str], text: str) -> str:
    """The topic behind a word, up to the end of its clause, without the request's words at its ends; "" when
    there is none."""
    match = pattern.search(_strip_frame(text))
    if not match:
        return ""
    named = re.split(r"[.;!?\n]|\s+(?:and|then)\s+(?:summari[sz]e|tell|give|list|show)\b", match["topic"])[0]
    words = named.strip(" ,:").split() if _strip_frame_words(named) else []
    while words and _EDGE_WORDS.fullmatch(words[0].strip(",:'\"")):
        del words[0]
    while words and _EDGE_WORDS.fullmatch(words[-1].strip(",:'\"")):
        del words[-1]
    return " ".join(words).strip(" ,:'\"")


def _strip_frame(text: str) -> str:
    return _NAMED_SECTION.sub(" ", remove_requested_count(text))


def _strip_frame_words(text: str) -> str:
    return " ".join(_FRAME_WORDS.sub(" ", re.sub(r"[^\w\s&’'-]", " ", text)).split()).strip(" '’-")


INTENT = Role(name="intent", reply=IntentReply, fallback=intent_fallback, tier="fast")
"""Reads what a collecting prompt asks for: the topic, the section of a site, how far back, how many, and what
to leave out. Knows no page."""


MIN_SCORE, MIN_ANCHOR_CHARS, MIN_ALIKE = 0.3, 12, 3
"""The least score of a link that is followed; the letters of an anchor that may be an entry's; the links in
the same kind of place that may be entries however short they are."""
_NAVIGATION = re.compile(rf"^(?:{_WORDS['navigation']})$", re.IGNORECASE)
_THREAD_URL = re.compile(_WORDS["thread address"], re.IGNORECASE)


class RankedLink(RoleReply):
    """One link worth following; `detected_date` is what the listing says beside it."""

    url: str = Field(description="copied from the links")
    anchor_text: str = ""
    relevance_score: Share
    detected_date: str | None = Field(
        default=None, description="YYYY-MM-DD as seen beside the link, else null"
    )


class LinkRanking(RoleReply):
    """The links to follow, the most relevant first."""

    links: list[RankedLink] = Field(default_factory=list)


def link_ranking_fallback(
    *,
    intent: CollectIntent,
    url: str,
    title: str,
    limit: int,
    dated: bool,
    links: list[LinkCandidate],
    **others: object,
) -> LinkRanking:
    """The entries with the topic in their words first, then as the listing has them. Where entries have dates
    (`dated`), a link without one is no entry."""
    entries = [
        link
        for link in links
        if link.content
        and link.text
        and not _NAVIGATION.match(link.text.strip())
        and not any(is_unwanted(refusal, link.text) for refusal in intent.leave_out)
    ]
    by = [link for link in entries if is_same_writer(intent.author, f"{link.text} {link.context}")]
    entries = by if intent.author and by else entries
    relevance = score_links(intent, entries)
    about = set(stem_prefixes(title, url))
    wanted = set(stem_prefixes(intent.topic))
    lent = len(wanted & about) / len(wanted) if wanted else 0.0
    dated_places = {link.place for link in entries if link.date and link.place}
    common = Counter(link.place for link in entries if link.place).most_common(1)
    alike = {place for place, count in common if count >= MIN_ALIKE}

    fit: list[tuple[float, LinkCandidate]] = []
    for link, score in zip(entries, relevance, strict=True):
        # Half for being an entry, half for the topic, of which a listing about it lends its entries a part
        is_possible = link.place in alike or len(link.text) >= MIN_ANCHOR_CHARS
        entry = 0.3 if not dated and is_possible else 0.0
        if link.date or link.place in dated_places or _THREAD_URL.search(link.url):
            entry = 0.5
        whole = entry + 0.5 * max(score, 0.5 * lent) if entry and wanted else min(1.0, entry * 1.6)
        fit += [(whole, link)] if whole >= MIN_SCORE else []
    best = sorted(
        fit, key=lambda entry: (rank_age(entry[1]) if intent.newest else (), entry[0]), reverse=True
    )[:limit]
    return LinkRanking(
        links=[
            RankedLink(
                url=link.url,
                anchor_text=link.text,
                relevance_score=round(score, 2),
                detected_date=link.date or None,
            )
            for score, link in best
        ]
    )


def score_links(intent: CollectIntent, links: Sequence[LinkCandidate]) -> list[float]:
    """How far each link is about the topic and by the writer that is wanted (0..1), by its words and those
    beside it, as short passages."""
    passages = [
        Passage(id=str(n), page_id="", url=link.url, start=0, end=0, text=f"{link.text} {link.context}")
        for n, link in enumerate(links)
    ]
    ranked = rank_passages(f"{intent.topic} {intent.author}", passages, len(passages))
    scores = {passage.id: passage.score for passage in ranked}
    return [scores[str(n)] for n in range(len(links))]


def rank_age(link: LinkCandidate) -> tuple[str, int]:
    """A key that is larger for newer links: by the date beside it, else by the number in its address, because
    archives number what arrives."""
    numbers = re.findall(r"\d+", link.url.rpartition("/")[2])
    return link.date, int(numbers[-1][:12]) if numbers else 0


LINK_RANKING = Role(name="link_ranking", reply=LinkRanking, fallback=link_ranking_fallback, cut=("links",))
"""Ranks the links of a listing that are worth following, with the date beside each. Follows none itself."""


MIN_ARTICLE_WORDS = 60
"""Words of running text from which a page with few links may be an article."""
MIN_DATED_WORDS = 20
"""Words from which a page with a date of its own may be an article: the notes of a small release."""
MIN_LONG_WORDS = 300
"""Words without links that make a page with many undated links in its text an article."""
MIN_DATED_SHARE = 0.1
"""The share of content links beside a date from which these are the entries of a list."""
MIN_LIST_LINK_SHARE = 0.25
"""The share of linked text from which a page is rather a list than a text."""
MIN_DATED_ENTRIES, MIN_ALIKE_LINKS = 2, 3
"""Dated entries, or links in the same kind of place, from which a page is a listing."""
MAX_ANCHOR_CHARS = 60
_FORUM, _NEWS, _PROFILE, _SITE_MENU, _LIST_TITLE = (
    re.compile(_WORDS[name], re.IGNORECASE)
    for name in ("forum section", "news section", "profile", "site menu", "list title")
)


class PageDecision(RoleReply):
    """One decision about one page. `target_url` only with NAVIGATE_TO, copied from the page's links."""

    action: PageAction
    reasoning: str = ""
    confidence: Share
    page_type: PageType = "other"
    target_url: str = ""


def page_decision_fallback(
    *,
    intent: CollectIntent,
    url: str,
    title: str,
    signs: PageFeatures,
    links: list[LinkCandidate],
    text: str,
    **others: object,
) -> PageDecision:
    """By the page's structure (posts, dated entries, running text) and the section wanted, clearest first."""
    if signs.posts >= 2 or (signs.posts == 1 and _THREAD_URL.search(url)):
        reason = f"{signs.posts} posts are on this page, each with its writer and date."
        return _extract_content("forum_thread", reason, 0.95)
    if signs.message:
        return _extract_content("forum_thread", "A message with its sender and date.", 0.95)
    if signs.sections > 1:
        return _extract_content("article", f"{signs.sections} entries, each with its date and text.", 0.9)
    listing = _decide_listing(url, title, signs, links)
    section = _find_section_link(intent.target_section, links, url)
    wants_forum, is_profile = (
        intent.target_section == "forum",
        bool(_PROFILE.search(f"{url} {title} {text[:2000]}")),
    )
    page_type: PageType = "company_profile" if _PROFILE.search(f"{url} {title}") else "other"
    if listing and (not wants_forum or section is None or listing.page_type == "forum_listing"):
        return listing
    if section is not None and (wants_forum or is_profile or not is_prose(signs)):
        reason = (
            f"“{section.text}” leads to the {intent.target_section} section that is wanted; this page is "
            f"not it."
        )
        return _navigate(section, reason, 0.85, page_type)
    if is_prose(signs) and not (wants_forum and is_profile):
        reason = f"Running text of {signs.words} words with few links: this is content."
        return _extract_content("article", reason, 0.9 if signs.article else 0.75)
    return listing or _decide_onward(intent, links, page_type)


def _decide_listing(
    url: str, title: str, signs: PageFeatures, links: list[LinkCandidate]
) -> PageDecision | None:
    dated = signs.dated_links >= MIN_DATED_ENTRIES and signs.link_share >= MIN_LIST_LINK_SHARE / 2
    alike = signs.alike_links >= MIN_ALIKE_LINKS and signs.link_share >= MIN_LIST_LINK_SHARE
    single = (
        signs.dated_links == 1
        and signs.link_share >= MIN_LIST_LINK_SHARE / 3
        and signs.words < MIN_ARTICLE_WORDS
    )
    is_text = signs.article or (is_prose(signs) and not _LIST_TITLE.search(f"{title} {url}"))
    if is_text or not (dated or alike or single):
        return None
    threads = sum(bool(_THREAD_URL.search(link.url)) for link in links)
    forum = bool(_FORUM.search(f"{url} {title}")) or threads >= MIN_DATED_ENTRIES
    has_dates = dated or single
    count, kind = signs.dated_links if has_dates else signs.alike_links, "threads" if forum else "entries"
    return PageDecision(
        action="EXTRACT_LINKS",
        reasoning=f"A list of {count} {kind}{', with dates' if has_dates else ''}: "
        "the content is behind its links.",
        confidence=0.9 if has_dates else 0.65,
        page_type="forum_listing" if forum else "news_listing",
    )


def is_prose(signs: PageFeatures, *, is_entry: bool = False) -> bool:
    """Whether a page is running text with few links. Of an entry of a list less text is enough; with a date
    of its own, too, and there may be more links."""
    if signs.dated and not signs.dated_links:
        return signs.words >= MIN_DATED_WORDS and signs.link_share < MIN_LIST_LINK_SHARE
    are_few = signs.link_share < MIN_LIST_LINK_SHARE / 2
    is_entry_dated = signs.dated_links >= MIN_DATED_SHARE * signs.links
    is_long = (
        signs.words * (1 - signs.link_share) >= MIN_LONG_WORDS and signs.link_share < MIN_LIST_LINK_SHARE
    )
    return signs.words >= (MIN_DATED_WORDS if is_entry else MIN_ARTICLE_WORDS) and (
        signs.article or are_few or (is_long and not is_entry_dated)
    )


def _find_section_link(section: str, links: list[LinkCandidate], url: str) -> LinkCandidate | None:
    """The link to the wanted section, by its anchor, else by its address; of several one below this page,
    then the shortest address."""
    if not section:
        return None
    words = re.compile("|".join(map(re.escape, section.lower().split())), re.IGNORECASE)
    pattern = {"forum": _FORUM, "news": _NEWS}.get(section, words)
    possible = [link for link in links if not _SITE_MENU.search(link.text)]
    by_anchor = [
        link
        for link in possible
        if len(link.text) <= MAX_ANCHOR_CHARS
        and pattern.search("".join(char for char in normalize("NFKD", link.text) if not combining(char)))
    ]
    by_url = [link for link in possible if pattern.search(_path(link.url)) and link.text]
    below = url.rstrip("/") + "/"
    return min(
        by_anchor or by_url,
        key=lambda link: (not pattern.search(_path(link.url)), not link.url.startswith(below), len(link.url)),
        default=None,
    )


def _path(url: str) -> str:
    """An address without its host: "forum.example" names no section."""
    return "/" + url.partition("://")[2].partition("/")[2]


def _decide_onward(intent: CollectIntent, links: list[LinkCandidate], page_type: PageType) -> PageDecision:
    """From a page without content to the link whose anchor has most words of the topic, else nowhere."""
    wanted = set(content_stems(intent.topic)) if intent.topic else set()
    best = max(links, key=lambda link: len(wanted & set(stem_words(link.text))), default=None)
    if best and (named := wanted & set(stem_words(best.text))):
        confidence = 0.45 + 0.35 * len(named) / len(wanted)
        return _navigate(best, f"“{best.text}” names what is wanted.", confidence, page_type)
    target = f"the {intent.target_section} section" if intent.target_section else "what is wanted"
    return PageDecision(
        action="STOP",
        reasoning=f"No content, no list, and no link that leads to {target}.",
        confidence=0.7,
        page_type=page_type,
    )


def _navigate(link: LinkCandidate, why: str, confidence: float, page_type: PageType) -> PageDecision:
    return PageDecision(
        action="NAVIGATE_TO", reasoning=why, confidence=confidence, page_type=page_type, target_url=link.url
    )


def _extract_content(kind: PageType, why: str, confidence: float) -> PageDecision:
    return PageDecision(action="EXTRACT_CONTENT", reasoning=why, confidence=confidence, page_type=kind)


PAGE_DECISION = Role(
    name="page_decision",
    reply=PageDecision,
    fallback=page_decision_fallback,
    cut=("text", "links"),
)
"""Decides what to do with a page that was just read: take its content, follow its links, go on to one
section, or stop. Fetches nothing."""
