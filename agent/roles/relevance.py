"""Which of the gathered articles and threads are what the person wants: a batch at a time, a reason for each."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.text.refusals import covers
from agent.text.words import content_stems, rough, stems
from agent.types import Noun
from agent.types.collected import Intent

ENOUGH = 0.5
"""The share of the topic's words that must stand in an item, or in the titles that led to it."""


class Preview(Noun):
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


class Relevant(BaseModel):
    """The verdict on one item."""

    model_config = ConfigDict(extra="ignore")

    id: str
    is_relevant: bool
    reason: str = ""


class RelevanceReply(BaseModel):
    """One verdict for each item."""

    model_config = ConfigDict(extra="ignore")

    items: list[Relevant] = Field(default_factory=list)


def keyless(*, intent: Intent, today: str, items: list[Preview]) -> RelevanceReply:
    """By words: those of the topic in the item, and in the titles of the pages that led to it; what is left out by title and writer."""
    return RelevanceReply(items=[_unwanted(intent, item) or _judged(intent.topic, item) for item in items])


def _unwanted(intent: Intent, item: Preview) -> Relevant | None:
    refusal = next((refusal for refusal in intent.leave_out if covers(refusal, item.title, item.author)), None)
    return Relevant(id=item.id, is_relevant=False, reason=f"You said: “{refusal}”.") if refusal else None


def _judged(topic: str, item: Preview) -> Relevant:
    if not topic:
        return Relevant(id=item.id, is_relevant=True, reason="No topic is named: everything found where you pointed counts.")
    wanted = set(content_stems(topic))
    inside = {stem for word in item.matched for stem in content_stems(word)} | (wanted & set(stems(f"{item.title} {item.preview}")))
    led = {rough(word) for title in item.trail for word in stems(title)}
    around = {word for word in wanted if rough(word) in led}
    share, with_trail = len(inside & wanted) / len(wanted), len((inside | around) & wanted) / len(wanted)
    found = named(topic, inside)
    if share >= ENOUGH:
        return Relevant(id=item.id, is_relevant=True, reason=f"It speaks of {', '.join(found)}.")
    if around and with_trail >= ENOUGH:
        place = next(
            (title for title in item.trail if around & {word for word in wanted if rough(word) in {rough(w) for w in stems(title)}}), item.trail[-1]
        )
        return Relevant(id=item.id, is_relevant=True, reason=f"It stands under “{place}”.")
    return Relevant(id=item.id, is_relevant=False, reason=f"It does not speak of {', '.join(named(topic, wanted - inside))}.")


def named(topic: str, among: set[str]) -> list[str]:
    """The words of a topic, as it spells them, whose stems are `among` these; those that carry no content left out."""
    content = set(content_stems(topic)) & among
    return list(dict.fromkeys(word.strip(".,:;!?\"'“”‘’()") for word in topic.split() if content & set(stems(word))))


RELEVANCE = Role(name="relevance", reply=RelevanceReply, keyless=keyless, tier="fast")
