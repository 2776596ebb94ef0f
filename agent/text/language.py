"""The language of a text, by py3langid.

The detector takes a second and 120 MB when it is first used, so it is imported only then. A page is checked
only in runs that are limited to a language, a question only when it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agent.types.source_filter import normalize_language

MIN_LETTERS = 60
"""Letters below which the language of a page is not guessed."""
MIN_QUESTION_LETTERS = 10
"""The same for a question."""
MIN_PROBABILITY = 0.5
SAMPLE_CHARS = 4000


@lru_cache(maxsize=1)
def _load_identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect_language(text: str, min_letters: int = MIN_LETTERS) -> str:
    """The ISO 639-1 code of a text's language; "" when the text is too short or the guess too unsure."""
    sample = text[:SAMPLE_CHARS]
    if sum(letter.isalpha() for letter in sample) < min_letters:
        return ""
    language, probability = _load_identifier().classify(sample)
    return normalize_language(str(language)) if probability >= MIN_PROBABILITY else ""


def choose_language(text: str, among: Sequence[str]) -> str:
    """The language of these codes that a text is most likely in; "" for none of them."""
    ranked = ["nb" if code in ("no", "nn") else str(code) for code, _ in _load_identifier().rank(text)]
    return next((code for code in ranked if code in among), "")
