"""Which of the gathered articles and threads are what the person wants: a batch at a time, a reason for
each."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text.negative_constraints import is_unwanted
from agent.text.tokens import content_stems, stem_prefix, stem_words
from agent.types import Record
from agent.types.collection import CollectIntent

MIN_TOPIC_SHARE = 0.5
"""The share of the topic's words that must stand in an item, or in the titles that led to it."""


class ItemPreview(Record):
    """An item as it is shown to this judgement."""

    id: str
    title: str
    author: str = ""
    date: str = ""
    preview: str = ""
    trail: list[str] = Field(default_factory=list)
    """The titles of the pages that led to it."""
    matched: list[str] = Field(default_factory=list)
    """The topic's words that stand anywhere in its text."""


class ItemVerdict(RoleReply):
    """The verdict on one item."""

    id: str
    is_relevant: bool
    reason: str = ""


class RelevanceReply(RoleReply):
    """One verdict for each item."""

    items: list[ItemVerdict] = Field(default_factory=list)


def fallback(*, intent: CollectIntent, today: str, items: list[ItemPreview]) -> RelevanceReply:
    """By words: those of the topic in the item, and in the titles of the pages that led to it; what is left
    out by title and writer."""
    return RelevanceReply(
        items=[_reject_excluded(intent, item) or _judge_item(intent.topic, item) for item in items]
    )


def _reject_excluded(intent: CollectIntent, item: ItemPreview) -> ItemVerdict | None:
    refusal = next(
        (refusal for refusal in intent.leave_out if is_unwanted(refusal, item.title, item.author)), None
    )
    return ItemVerdict(id=item.id, is_relevant=False, reason=f"You said: “{refusal}”.") if refusal else None


def _judge_item(topic: str, item: ItemPreview) -> ItemVerdict:
    if not topic:
        return ItemVerdict(
            id=item.id,
            is_relevant=True,
            reason="No topic is named: everything found where you pointed counts.",
        )
    wanted = set(content_stems(topic))
    inside = {stem for word in item.matched for stem in content_stems(word)} | (
        wanted & set(stem_words(f"{item.title} {item.preview}"))
    )
    led = {stem_prefix(word) for title in item.trail for word in stem_words(title)}
    around = {word for word in wanted if stem_prefix(word) in led}
    share, with_trail = len(inside & wanted) / len(wanted), len((inside | around) & wanted) / len(wanted)
    found = find_topic_words(topic, inside)
    if share >= MIN_TOPIC_SHARE:
        return ItemVerdict(id=item.id, is_relevant=True, reason=f"It speaks of {', '.join(found)}.")
    if around and with_trail >= MIN_TOPIC_SHARE:
        place = next(
            (
                title
                for title in item.trail
                if around
                & {
                    word
                    for word in wanted
                    if stem_prefix(word) in {stem_prefix(w) for w in stem_words(title)}
                }
            ),
            item.trail[-1],
        )
        return ItemVerdict(id=item.id, is_relevant=True, reason=f"It stands under “{place}”.")
    return ItemVerdict(
        id=item.id,
        is_relevant=False,
        reason=f"It does not speak of {', '.join(find_topic_words(topic, wanted - inside))}.",
    )


def find_topic_words(topic: str, among: set[str]) -> list[str]:
    """The words of a topic, as it spells them, whose stems are `among` these; those that carry no content
    left out."""
    content = set(content_stems(topic)) & among
    return list(
        dict.fromkeys(
            word.strip(".,:;!?\"'“”‘’()") for word in topic.split() if content & set(stem_words(word))
        )
    )


RELEVANCE = Role(name="relevance", reply=RelevanceReply, fallback=fallback, tier="fast")
