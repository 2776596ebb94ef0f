"""Which kind of refusal a question about a site gets without a model, and its polite words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from agent.text.language import MIN_QUESTION_LETTERS, detect_language
from agent.text.tokens import content_stems, tokenize
from agent.text.word_lists import COMMON_WORDS, STOPWORDS, load_words
from agent.types import Turn

RefusalKind = Literal["off_topic", "not_covered", "needs_clarification"]


def is_unresolved_reference(question: str) -> bool:
    """Has a first question no word for what it is about? Capitals name something ("LETS"), unless all are."""
    if question != question.upper() and re.search(r"\b[A-Z][A-Z0-9]+\b", question):
        return False
    return not set(tokenize(question)) - STOPWORDS - COMMON_WORDS - load_words("chatter")


def refuse(
    question: str, history: Sequence[Turn], texts: Sequence[str], unseen: Sequence[str], site: str
) -> tuple[RefusalKind, str]:
    """The kind and the message. `texts` were read, `unseen` are the question's words in none of them."""
    words = ", ".join(f"“{word}”" for word in unseen[:4])
    if not history and is_unresolved_reference(question):
        return (
            "needs_clarification",
            "This question does not name what it is about. What, or whom, do you mean?",
        )
    asked = detect_language(question, MIN_QUESTION_LETTERS)
    if asked and 2 * sum(detect_language(text) not in ("", asked) for text in texts) > len(texts):
        return "not_covered", (
            f"The pages of {site} are in another language than this question. "
            "Without a model only its own words are searched for: please ask in the language of the pages."
        )
    if not history and unseen and len(unseen) >= len(content_stems(question)):
        return "off_topic", (
            f"I answer from the pages of {site}, and this does not seem to be about them: "
            f"no page that was read contains {words}."
        )
    reason = f"do not contain {words}" if words else "do not answer this"
    return "not_covered", f"The pages of {site} that were read {reason}, so I would rather not guess."
