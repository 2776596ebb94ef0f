"""Roles of the collect flow on what it gathers: CONTENT reads a page, RELEVANCE judges the items, DIGEST sums
them up."""

from __future__ import annotations

import re

from pydantic import Field

from agent.retrieval.passages import split_sentences
from agent.retrieval.scorer import rank_passages, stem_prefixes
from agent.roles.role import Role, RoleReply, WriterReply
from agent.roles.site import DraftQuote, DraftSentence
from agent.text.negative_constraints import is_unwanted
from agent.text.tokens import content_stems, stem_prefix, stem_words
from agent.types import Passage, Record
from agent.types.collection import CollectIntent


class ContentPost(RoleReply):
    """One post as it stands on the page."""

    user: str = ""
    date: str | None = None
    text: str


class ContentMetadata(RoleReply):
    """How many posts a thread has, who wrote an article."""

    post_count: int | None = None
    author: str | None = None


class ContentReply(RoleReply):
    """What was extracted; `posts` is empty for an article."""

    title: str = ""
    content: str = Field(
        default="", description="the main text in the page's own words, readable, without menus"
    )
    publish_date: str | None = Field(default=None, description="YYYY-MM-DD, null when the page tells none")
    metadata: ContentMetadata = Field(default_factory=ContentMetadata)
    posts: list[ContentPost] = Field(default_factory=list)


def content_fallback(
    *, title: str, author: str, published_at: str, text: str, **others: object
) -> ContentReply:
    """The page's text as it was read, with what the page states of itself."""
    return ContentReply(
        title=title,
        content=text,
        publish_date=published_at[:10] or None,
        metadata=ContentMetadata(author=author or None),
    )


CONTENT = Role(name="content", reply=ContentReply, fallback=content_fallback, cut=("text",))
"""The content of a page whose build code could not make out: title, text, date, and posts when people talk.
Keeps to the page's words."""


MIN_TOPIC_SHARE = 0.5
"""The share of the topic's words that must be in an item, or in the titles that led to it."""


class ItemPreview(Record):
    """An item as it is shown to this judgement."""

    id: str
    title: str
    author: str = ""
    writers: list[str] = Field(default_factory=list)
    """Who wrote its posts, for the fallback."""
    date: str = ""
    preview: str = ""
    trail: list[str] = Field(default_factory=list)
    """The host and the titles of the pages that led to it; for the fallback, the first and the last count: a
    publisher's name and the listing's title."""
    matched: list[str] = Field(default_factory=list)
    """The topic's words that are anywhere in its text, for the fallback."""


class ItemVerdict(RoleReply):
    """The verdict on one item."""

    id: str
    is_relevant: bool
    reason: str = ""


class RelevanceReply(RoleReply):
    """One verdict for each item."""

    items: list[ItemVerdict] = Field(default_factory=list)


def relevance_fallback(
    *, intent: CollectIntent, items: list[ItemPreview], **others: object
) -> RelevanceReply:
    """By the topic's words in the item and in the titles that led to it; exclusions by title and writer."""
    return RelevanceReply(items=[_judge_item(intent, item) for item in items])


def _judge_item(intent: CollectIntent, item: ItemPreview) -> ItemVerdict:
    for refusal in intent.leave_out:
        if is_unwanted(refusal, item.title, item.author):
            return ItemVerdict(id=item.id, is_relevant=False, reason=f"You said: “{refusal}”.")
    wrote = [item.author, *item.writers]
    if intent.author and not any(is_same_writer(intent.author, name) for name in wrote):
        return ItemVerdict(id=item.id, is_relevant=False, reason=f"It is not by {intent.author}.")
    if not intent.topic and intent.author:
        return ItemVerdict(id=item.id, is_relevant=True, reason=f"It is by {intent.author}.")
    if not intent.topic:
        reason = "No topic is named: everything found where you pointed counts."
        return ItemVerdict(id=item.id, is_relevant=True, reason=reason)
    wanted = set(content_stems(intent.topic))
    inside = wanted & {*stem_words(" ".join(item.matched)), *stem_words(f"{item.title} {item.preview}")}
    if len(inside) >= MIN_TOPIC_SHARE * len(wanted):
        found = ", ".join(find_topic_words(intent.topic, inside))
        return ItemVerdict(id=item.id, is_relevant=True, reason=f"It contains {found}.")
    for title in dict.fromkeys([*item.trail[:1], *item.trail[-1:]]):
        named = {word for word in wanted if stem_prefix(word) in stem_prefixes(title)}
        if named and len(inside | named) >= MIN_TOPIC_SHARE * len(wanted):
            return ItemVerdict(id=item.id, is_relevant=True, reason=f"It was found under “{title}”.")
    missing = ", ".join(find_topic_words(intent.topic, wanted - inside))
    return ItemVerdict(id=item.id, is_relevant=False, reason=f"It does not contain {missing}.")


def is_same_writer(wanted: str, name: str) -> bool:
    """Whether a name has all words of the wanted one ("Jane Doe", "DOE, Jane")."""
    return set(wanted.casefold().split()) <= set(re.findall(r"[\w'’.-]*\w", name.casefold()))


def find_topic_words(topic: str, among: set[str]) -> list[str]:
    """The content words of a topic, as it spells them, whose stems are `among` these."""
    content = set(content_stems(topic)) & among
    words = (word.strip(".,:;!?\"'“”‘’()") for word in topic.split() if content & set(stem_words(word)))
    return list(dict.fromkeys(words))


RELEVANCE = Role(name="relevance", reply=RelevanceReply, fallback=relevance_fallback, tier="fast")
"""Judges which of the gathered articles and threads the person wants, in batches, with reasons."""


MAX_SENTENCES = 12
MAX_ITEMS_FOR_TWO = 6
"""Up to this many items, each gives two sentences."""
MIN_QUOTE_WORDS = 4
"""Words a quoted sentence must have."""
MIN_LETTER_SHARE = 0.8
"""Letters and spaces in a sentence of prose: in English text they are 95 to 98 of 100 characters."""
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
CLOSING_MARKS = "\"'”’»)]"


class DigestItem(Record):
    """An item as it is shown to the writer."""

    title: str
    kind: str
    url: str = ""
    date: str = ""
    passages: list[Passage] = Field(default_factory=list)
    writers: dict[str, str] = Field(default_factory=dict)
    """Who wrote a passage that is a post, by the passage's id."""
    left_out: int = 0
    """Passages and posts of the item that are not shown."""


class DigestReply(WriterReply):
    """The digest, sentence by sentence."""

    answer: list[DraftSentence] = Field(
        default_factory=list, description="empty when nothing that was gathered answers the request"
    )


def digest_fallback(*, intent: CollectIntent, items: list[DigestItem], **others: object) -> DigestReply:
    """The sentences that represent each item best, as quotes, in the order given."""
    each = 2 if len(items) <= MAX_ITEMS_FOR_TWO else 1
    return DigestReply(
        answer=[
            DraftSentence(
                text=f"{who}: “{quote}”" if (who := item.writers.get(passage.id)) else quote,
                quotes=[DraftQuote(passage_id=passage.id, quote=quote)],
            )
            for item in items
            for passage, quote in _rank_sentences(intent.topic, item)[:each]
        ][:MAX_SENTENCES]
    )


def _rank_sentences(topic: str, item: DigestItem) -> list[tuple[Passage, str]]:
    """The sentences of an item with their passages, the most representative first: by relevance to the topic,
    length, an early place, and whether they are complete."""
    lines = [
        passage.replace(text=quote, label="")
        for passage in item.passages
        for quote in split_sentences(passage)
    ]
    ranked = rank_passages(topic, lines, len(lines))
    relevance = {(line.id, line.text): line.score for line in ranked}
    found: list[tuple[float, Passage, str]] = []
    for n, passage in enumerate(item.passages):
        is_post = passage.id in item.writers
        for at, quote in enumerate(split_sentences(passage)):
            letters = sum(char.isalpha() or char.isspace() for char in quote)
            is_prose = len(quote.split()) >= MIN_QUOTE_WORDS and letters >= MIN_LETTER_SHARE * len(quote)
            if is_prose and quote.strip() != item.title:
                length = min(1.0, len(quote.split()) / 12)
                early = 0.2 / (1 + (n + at) / (4 if is_post else 1))
                is_whole = is_post or quote.rstrip(CLOSING_MARKS).endswith(SENTENCE_ENDS)
                score = 0.5 * relevance[passage.id, quote] + 0.3 * length + early
                found.append((score - (0.0 if is_whole else 0.3), passage, quote))
    return [(passage, quote) for _, passage, quote in sorted(found, key=lambda entry: -entry[0])]


DIGEST = Role(name="digest", reply=DigestReply, fallback=digest_fallback)
"""Writes the digest of what was gathered: sentences, the words they rest on, who said them."""
