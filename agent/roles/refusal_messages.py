"""Which kind of refusal a question gets, and its polite words: it is not about the site, or the site does not
say, or it points nowhere.

Knows the question in its conversation and the words the site does not know. Decides not whether to refuse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from agent.retrieval.required_terms import find_required_terms, lowercase_common_opening
from agent.text.language import MIN_QUESTION_LETTERS, detect_language
from agent.text.question_analysis import COMMON_WORD_WEIGHT, parse_question
from agent.text.tokens import stem, tokenize
from agent.text.word_lists import COMMON_WORDS, STOPWORDS, load_words
from agent.types import Turn

RefusalKind = Literal["off_topic", "not_covered", "needs_clarification"]
MAX_KNOWN_SHARE = 0.25
"""The share of the question's weighty words that the site may know for it to be off topic all the same."""
MAX_FOLLOW_UP_WORDS = 2
"""A turn of a conversation with at most so many telling words continues its subject."""
_ASKS_SITE_OWNER = re.compile(
    r"\b(?:(?:do|does|did|are|will|have|would|could|can|may)\s+(?:you(?!\s+(?:think|know|believe|like|feel|love|remember|see)\b)|your\b)"
    r"|your?\s+(?:shop|store|company|prices?|products?|services?|team|offices?|hours|website|site|address|policy|customers?|staff)"
    r"|(?:can|may|could|do|must|should)\s+(?:i|we)\s+(?:(?:have|need)\s+to\s+)?"
    r"(?:pay|order|buy|return|cancel|visit|bring|get|book|subscribe|pick|try|rent|exchange|register|use)"
    r"|is\s+there\s+(?:an?|any)|are\s+there\s+any"
    r"|verkaufen sie|liefern sie|haben sie|bieten sie|säljer ni|har ni|levererar ni|vendez-vous|livrez-vous|avez-vous|venden|tienen)\b",
    re.IGNORECASE,
)
"""What is asked of the people behind the site, about their own doings."""
_TASK = re.compile(
    r"^\W*(?:please\s+)?(?:(?:can|could|will|would)\s+you\s+(?:please\s+)?)?"
    r"(?:write|tell|sing|translate|solve|calculate|compose|recite|draw|imagine|pretend)\b\s+(?:me\s+|us\s+)?"
    r"(?!about|how|what|when|where|which|who|why|if|whether|more)",
    re.IGNORECASE,
)
"""A piece of work somebody wants done, not a question."""


def classify_refusal(
    question: str,
    asked: str,
    history: Sequence[Turn],
    strange: Sequence[str],
    *,
    other_language: bool = False,
) -> RefusalKind:
    """`asked` is the question as it stands alone; `strange` its words that stand nowhere on the site."""
    if not history and is_unresolved_reference(question):
        return "needs_clarification"
    if (
        other_language
        or is_follow_up(question, asked, history)
        or (_ASKS_SITE_OWNER.search(question) and not _TASK.search(question))
    ):
        return "not_covered"
    return "off_topic" if compute_known_share(question, strange) <= MAX_KNOWN_SHARE else "not_covered"


def is_other_language(question: str, texts: Sequence[str]) -> bool:
    """Is the question in another language than most of these texts?"""
    asked = detect_language(question, MIN_QUESTION_LETTERS)
    return bool(asked) and 2 * sum(detect_language(text) not in ("", asked) for text in texts) > len(texts)


def write_refusal(
    kind: RefusalKind, site: str, missing: Sequence[str], *, other_language: bool = False
) -> str:
    """One or two polite sentences to the person; `missing` are the words it failed for."""
    if other_language and kind != "needs_clarification":
        return f"The pages of {site} are in another language than this question. Without a model I only find its own words: please ask in theirs."
    words = ", ".join(f"“{word}”" for word in missing[:4])
    if kind == "needs_clarification":
        return "This question points to something that was not named. What, or whom, is it about?"
    if kind == "off_topic":
        why = f": no page read and no address known there speaks of {words}" if words else ""
        return f"I answer from the pages of {site}, and this does not seem to be about them{why}."
    said = f"nothing there that would answer speaks of {words}" if words else "they do not answer this"
    return (
        f"The pages of {site} that were read touch on the subject, but {said}, so I would rather not guess."
    )


def is_unresolved_reference(question: str) -> bool:
    """Has a first question no word that says what it is about?"""
    return not set(tokenize(question)) - STOPWORDS - COMMON_WORDS - load_words("chatter")


def is_follow_up(question: str, asked: str, history: Sequence[Turn]) -> bool:
    """Does a turn continue the conversation: a model completed it from there, or it has few telling words?"""
    return bool(history) and (
        asked != question or len(find_required_terms(question).words) <= MAX_FOLLOW_UP_WORDS
    )


def compute_known_share(question: str, strange: Sequence[str]) -> float:
    """The share of the question's weight (words too common to say much left out) that the site knows; 1 when
    there is none."""
    away = {stem(word) for word in strange for word in tokenize(word)}
    weights = {
        word: weight
        for word, weight in parse_question(lowercase_common_opening(question)).weights.items()
        if weight > COMMON_WORD_WEIGHT
    }
    return (
        sum(weight for word, weight in weights.items() if word not in away) / sum(weights.values())
        if weights
        else 1.0
    )
