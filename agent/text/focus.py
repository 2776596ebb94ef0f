"""What a conversation is about: how present each thing named in it is, after Lappin and Leass (1994).

A thing gains with every mention, by the part it plays in the sentence, and loses half with every turn. A turn
that points back ("is it safe?") mentions what it points at. What is said in reply counts too, its beginning
most. Knows turns, no run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agent.text.ellipsis import piece, whole
from agent.text.phrases import Phrase, Role, phrases
from agent.text.pointing import Pointer, pointer
from agent.text.sentences import find_sentence_spans
from agent.types import Turn

WEIGHTS: dict[Role, float] = {"topic": 2.5, "subject": 2.0, "tail": 1.7, "object": 1.5, "head": 0.7}
"""What a mention adds, by its role."""
FADES = 0.5
"""What is left of the presence from one turn to the next."""
NAME = 1.0
"""What a proper name adds beyond its role."""
MEANT = 1.6
"""What being pointed at adds."""
HELD = 0.2
"""What the most present thing gains in a turn that names nothing by a name and points at nothing: it is still
the matter."""
REPLIED = 0.8
"""What a mention in a reply counts against one by the person; less with each sentence, and less again for
what nobody named before."""
SENTENCES = 12
"""Sentences of a reply that are looked at."""
NEWCOMER = 0.4
FAILED = 0.4
"""What a thing counts that is new in a turn which got no answer, while the talk is about others."""
_FITS: dict[str, Callable[[Referent], float]] = {
    "he": lambda r: (
        (1.5 if r.name and not r.place else 1.0) * (0.4 if r.plural else 1.0) * (3.0 if r.person else 1.0)
    ),
    "they": lambda r: 1.5 if r.plural else 0.8,
    "there": lambda r: (2.0 if r.place else 1.0) * (1.2 if r.name else 0.8),
    "it": lambda r: (0.6 if r.plural else 1.0) * (0.3 if r.person else 1.0),
    "this": lambda r: 1.0,
}


_LIFE = re.compile(r"(?:born|died?|dies|married|marry|graduated?)\b")
_WHO = re.compile(r"\W*(?:(?:and|so|but)\s+)?(?:who|whose|whom)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Referent:
    """A thing that was named, as it was named at most length; `presence` is how much the talk is about it
    now."""

    words: tuple[str, ...]
    keys: tuple[str, ...]
    presence: float = 0.0
    the: bool = False
    plural: bool = False
    name: bool = False
    place: bool = False
    person: bool = False
    turn: int = 0
    """The turn it was last named or meant in."""
    by_person: bool = False
    failed: bool = False
    """Was it only named in turns that got no answer, while the talk was about others?"""

    @property
    def text(self) -> str:
        """As it can stand in a sentence."""
        return ("the " if self.the else "") + " ".join(self.words)


@dataclass
class Talk:
    """A conversation heard so far."""

    things: dict[tuple[str, ...], Referent] = field(default_factory=dict)
    turns: int = 0
    asked: str = ""
    """What was asked last, made whole when it was only a piece."""

    def ranked(self, without: Sequence[str] = ()) -> list[Referent]:
        """The things named, the most present first; those left out that a question names itself (`without`:
        its keys)."""
        own = set(without)
        return sorted(
            (thing for thing in self.things.values() if not set(thing.keys) <= own),
            key=lambda thing: -thing.presence,
        )

    def meant(self, question: str, found: Pointer | None) -> list[Referent]:
        """What a pointing word can mean, the likeliest first."""
        if found is None:
            return []
        own = [key for phrase in phrases(question) for key in phrase.keys]
        fits = _FITS[found.kind]
        return sorted(self.ranked(own), key=lambda thing: -thing.presence * fits(thing))

    def hear(self, turn: Turn) -> None:
        """Take in one more turn: what was asked, then what was replied."""
        self._hear_person(turn.user, answered=turn.answered)
        if turn.bot:
            self._hear_reply(turn.bot, whom=bool(_WHO.match(turn.user)))

    def _hear_person(self, said: str, *, answered: bool = True) -> None:
        made = whole(piece(said), self.asked)
        self.asked = made or said
        self.things = {
            keys: replace(thing, presence=thing.presence * FADES) for keys, thing in self.things.items()
        }
        found = pointer(said)
        meant = self.meant(said, found)[:1]
        named = phrases(said)
        failed = not answered and bool(self.things)
        self.turns += 1
        for phrase in named:
            beside = failed and phrase.keys not in self.things
            weight = (WEIGHTS[phrase.role] + (NAME if phrase.name else 0.0)) * (FAILED if beside else 1.0)
            self._add(phrase, weight, by_person=True, person=_lives(phrase, said), failed=beside)
        for thing in meant:
            self._raise(thing.keys, MEANT, person=bool(found and found.kind == "he" and thing.name))
        for phrase in phrases(made):
            if phrase.role == "subject" and phrase.keys not in [other.keys for other in named]:
                self._raise(phrase.keys, MEANT)
        if self.things and not meant and not any(phrase.name for phrase in named):
            self._raise(self.ranked()[0].keys, HELD)

    def _hear_reply(self, said: str, *, whom: bool) -> None:
        """Take in a reply; when it was asked `whom`, the names its first sentence brings are people's."""
        sentences = find_sentence_spans(said)[:SENTENCES]
        for n, (start, end) in enumerate(sentences):
            asks = n == len(sentences) - 1 and said.rstrip().endswith("?")
            for phrase in phrases(said[start:end]):
                known = phrase.keys in self.things
                if known or phrase.name or n == 0 or asks:
                    share = REPLIED / (1 + 0.7 * n) * (1.0 if known or phrase.name else NEWCOMER)
                    who = _lives(phrase, said) or (
                        whom and n == 0 and phrase.name and not phrase.place and not known
                    )
                    self._add(
                        phrase,
                        WEIGHTS[phrase.role] * share + (0.5 if phrase.name and n == 0 else 0.0),
                        by_person=False,
                        person=who,
                    )

    def _add(
        self, phrase: Phrase, weight: float, *, by_person: bool, person: bool, failed: bool = False
    ) -> None:
        keys = phrase.keys
        longer = next(
            (old for old in self.things if len(old) > len(keys) and old[-len(keys) :] == keys), keys
        )
        old = self.things.get(longer)
        if old is None:
            shorter = next((other for other in self.things if keys[-len(other) :] == other), ())
            presence = self.things.pop(shorter).presence if shorter else 0.0
            old = Referent(
                phrase.words,
                keys,
                presence,
                the=phrase.the or (phrase.article and not phrase.words[-1][0].isupper()),
            )
        self.things[longer] = replace(
            old,
            presence=old.presence + weight,
            plural=old.plural or phrase.plural,
            name=old.name or phrase.name,
            the=old.the or (phrase.the and longer == keys),
            place=old.place or phrase.place,
            turn=self.turns,
            by_person=old.by_person or by_person,
            person=old.person or person,
            failed=failed and (old.failed or not old.turn),
        )

    def _raise(self, keys: tuple[str, ...], by: float, *, person: bool = False) -> None:
        if thing := self.things.get(keys):
            self.things[keys] = replace(
                thing, presence=thing.presence + by, turn=self.turns, person=thing.person or person
            )


def _lives(phrase: Phrase, said: str) -> bool:
    """Is something told or asked of this name that only people do: to be born, to die, to marry?"""
    return (
        phrase.name
        and bool(_LIFE.search(said))
        and bool(re.search(rf"{re.escape(phrase.text)}\s+(?:\w+\s+)?{_LIFE.pattern}", said))
    )


def listen(turns: Sequence[Turn]) -> Talk:
    """A conversation from its first turn on."""
    talk = Talk()
    for turn in turns:
        talk.hear(turn)
    return talk
