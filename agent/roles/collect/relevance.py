"""Judges which of the gathered articles and threads the person wants, in batches, with reasons."""

from __future__ import annotations

import re

from pydantic import Field

from agent.retrieval.term_coverage import stem_prefixes
from agent.roles.role import Role, RoleReply
from agent.text.negative_constraints import is_unwanted
from agent.text.tokens import content_stems, stem_prefix, stem_words
from agent.types import Record
from agent.types.collection import CollectIntent

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


def fallback(*, intent: CollectIntent, today: str, items: list[ItemPreview]) -> RelevanceReply:
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


RELEVANCE = Role(name="relevance", reply=RelevanceReply, fallback=fallback, tier="fast")
