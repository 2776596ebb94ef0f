"""What was asked how to do ("return a logger"), put where a later turn only says "do that" or "how long does
it take?".

English, by rule: a doing is what stands behind "how do I", "can we", "should you" or "how to", up to the
question's end."""

from __future__ import annotations

import re

LONGEST = 10
"""Words that a doing has at most to be put into another question."""
_DOER = r"(?:i|we|you|one|people|somebody|someone)"
_ASKED = rf"(?:do|can|could|should|may|must|would) {_DOER}|how to|(?:want|need|like|trying|plan|going) to"
_DOING = re.compile(rf"\b(?:{_ASKED}) (?:please )?(?!(?:do|be|have|know)\b)(\w[^?.!;,]*)", re.IGNORECASE)
_DO_THAT = re.compile(r"\bdo (?:that|this|it|so)\b(?! \w+ (?:is|are|was)\b)", re.IGNORECASE)
_TAKES = re.compile(
    r"\b(?:does|did|will|would) (?:it|that|this) (?:usually |normally |typically )?take(?=\s*(?:[?.!,]|$))",
    re.IGNORECASE,
)


def doing(former: str) -> str:
    """The last thing that a question asks to do, without its subject; "" when it asks of no doing."""
    found = [match[1].strip() for match in _DOING.finditer(former)]
    return found[-1] if found and len(found[-1].split()) in range(2, LONGEST + 1) else ""


def undone(question: str) -> bool:
    """Does the question only point at something to be done?"""
    return bool(_DO_THAT.search(question) or _TAKES.search(question))


def done(question: str, former: str) -> str:
    """The question with what the former one asks to do where it only points at that; "" when it does not, or
    nothing is to be done."""
    if not (what := doing(former)):
        return ""
    if (that := _DO_THAT.search(question)) and not doing(question[: that.start()]):
        return f"{question[: that.start()]}{what}{question[that.end() :]}"
    if takes := _TAKES.search(question):
        return f"{question[: takes.end()]} to {what}{question[takes.end() :]}"
    return ""
