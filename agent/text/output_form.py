"""What a request says about the form of its answer ("write a short report with headings"): it asks for
nothing that a page could hold."""

from __future__ import annotations

import re

from agent.text.word_lists import read_patterns

_PATTERNS = read_patterns("output_form")
_FORM = re.compile(rf"\b(?:{_PATTERNS['request']}|{_PATTERNS['form']})(?!\w)[:,]?", re.IGNORECASE)


def remove_output_form(question: str) -> str:
    """The question without the words on its form; the question itself where nothing else is left."""
    rest = " ".join(_FORM.sub(" ", question).split())
    return rest if re.search(r"\w{3}", rest) else question
