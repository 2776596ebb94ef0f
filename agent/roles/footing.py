"""What an answer would stand on, counted for the confidence: how clearly the facts to be told answer what is asked. No model, no run.

The counts are inputs of the formula in `agent.evidence.confidence`; there stands what each is worth, and how it was fitted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agent.evidence.confidence import Footing
from agent.roles.choosing import chosen
from agent.text.expected import holds, kind_of
from agent.text.names import names
from agent.text.question import Asked, read, relations
from agent.text.words import rough, stems
from agent.types import Fact

WORDS, SENTENCES = 110, 6
"""The length of the answer that is looked at."""
OPENING = 40
"""Characters behind the title's own line within which a page opens."""
_CLOSED = re.compile(r"(?:are|is|was|were|did|do|does|has|have|had|can|could|will|would|ist|sind|hat|haben|est-ce)\b", re.IGNORECASE)
NAMES = 16
"""Names of a sentence that are looked at."""


def footing(question: str, facts: Sequence[Fact]) -> Footing:
    """The counts for a question and what is known; disputed facts count as if they were not (agreement and conflicts tell of that)."""
    asked = read(question)
    known = [fact.model_copy(update={"disputed": False}) if fact.disputed else fact for fact in facts]
    usable = [fact for fact in known if fact.usable and not fact.mine]
    told = chosen(question, usable, words=WORDS, sentences=SENTENCES)
    held = [_rough(f"{fact.title} {fact.quote}") for fact in told]
    together = frozenset[str]().union(*held)
    shares = [_share(asked, words) for words in held]
    return Footing(
        told=sum(_answers(asked, fact.quote) for fact in told),
        bearing=len(usable),
        missing=sum(word not in together for word in asked.rough),
        joined=round(_share(asked, together) - max(shares, default=0.0), 4),
        chain=asked.hops or bool(relations(asked.text)),
        kind=kind_of(asked.text),
        opens=bool(told) and 0 <= told[0].start <= len(told[0].title) + OPENING,
        linked=round(_linked(asked, told), 4),
        closed=bool(_CLOSED.match(asked.text)),
    )


def again(question: str, basis: Mapping[str, float]) -> Footing:
    """The counts of a confidence whose facts are still all there are, from its `basis`."""
    told, bearing, missing = (int(basis[name]) for name in ("told", "bearing", "missing"))
    return Footing(
        told, bearing, missing, basis["joined"], bool(basis["chain"]), kind_of(read(question).text), bool(basis["opens"]), basis["linked"],
        bool(basis["closed"]),
    )  # fmt: skip


def _answers(asked: Asked, quote: str) -> bool:
    """Does a quote hold a value of the kind asked for, which the question does not name itself?"""
    known = {rough(word) for word in stems(asked.text)}
    new = [name for name in names(quote, NAMES) if (words := [rough(word) for word in stems(name)]) and not known.intersection(words)]
    if asked.kind == "person":
        return any(" " in name for name in new)
    if asked.kind == "place":
        return bool(new)
    return holds(asked.kind, quote)


def _linked(asked: Asked, told: Sequence[Fact]) -> float:
    """Of the question's weight that no title of the told facts holds, the share that their quotes hold; 1 where the titles hold all."""
    titles, quotes = (frozenset[str]().union(*(_rough(getattr(fact, part)) for fact in told)) for part in ("title", "quote"))
    beyond = {word: weight for word, weight in asked.rough.items() if word not in titles}
    return sum(weight for word, weight in beyond.items() if word in quotes) / sum(beyond.values()) if beyond else 1.0


def _rough(text: str) -> frozenset[str]:
    return frozenset(rough(word) for word in stems(text))


def _share(asked: Asked, words: frozenset[str]) -> float:
    return sum(weight for word, weight in asked.rough.items() if word in words) / (sum(asked.rough.values()) or 1.0)
