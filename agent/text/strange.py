"""Which words of a question stand nowhere in some texts: how a site's subject is told from another. Counts letters, not meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.text.question import read
from agent.text.words import fold, rough, stem, tokens


def strange(question: str, texts: Iterable[str]) -> list[str]:
    """The question's content words, as it spells them, of which not even the beginning of the stem stands in a text."""
    asked = read(question)
    spelled = {stem(word): word for word in reversed(tokens(question))}
    left = [word for word in asked.weights if word in spelled]
    for text in texts:
        if not left:
            break
        folded = fold(text)
        left = [word for word in left if not re.search(rf"(?<!\w){re.escape(rough(word))}", folded)]
    return [spelled[word] for word in left]
