"""Writes the digest of what was gathered: sentences, the words they rest on, who said them."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.passages import split_sentences
from agent.retrieval.scorer import rank_passages
from agent.roles.role import Role, RoleReply
from agent.roles.site.draft import DraftQuote, DraftSentence
from agent.types import Answer, PageRef, Passage, Record
from agent.types.collection import CollectIntent

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


class DigestReply(RoleReply):
    """The digest, sentence by sentence."""

    answer: list[DraftSentence] = Field(
        default_factory=list, description="empty when nothing that was gathered answers the request"
    )


def fallback(
    *,
    prompt: str,
    notes: list[str],
    intent: CollectIntent,
    items: list[DigestItem],
    failures: list[PageRef],
    former: Answer | None,
) -> DigestReply:
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
            if _is_prose(quote) and quote.strip() != item.title:
                length = min(1.0, len(quote.split()) / 12)
                early = 0.2 / (1 + (n + at) / (4 if is_post else 1))
                is_whole = is_post or quote.rstrip(CLOSING_MARKS).endswith(SENTENCE_ENDS)
                score = 0.5 * relevance[passage.id, quote] + 0.3 * length + early
                found.append((score - (0.0 if is_whole else 0.3), passage, quote))
    return [(passage, quote) for _, passage, quote in sorted(found, key=lambda entry: -entry[0])]


def _is_prose(quote: str) -> bool:
    """Whether a quote is words rather than code, a command or a line of figures."""
    letters = sum(char.isalpha() or char.isspace() for char in quote)
    return len(quote.split()) >= MIN_QUOTE_WORDS and letters >= MIN_LETTER_SHARE * len(quote)


DIGEST = Role(name="digest", reply=DigestReply, fallback=fallback, tier="strong")
