"""Is it English that is spoken? Told by the script and the small words; a turn that tells nothing is in the
language of its talk.

What is put in the place of words by rule is put so for English only; other languages get words added, which
needs no grammar."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.text.tokens import UNSPACED_SCRIPTS

_ENGLISH = frozenset(
    """what how why who whom whose where when which is are was were does do did can could will would should the of and tell me my about to have
    has any for it they them their there this that these you your if not with thanks please""".split()
)
_OTHER_LANGUAGES = frozenset(
    """der das dem ist sind und wie wer wann wo warum wieso weshalb welche welcher welches ein eine einen einem einer nicht kein keine mit für auf
    von zum zur kostet gibt kann ich danke bitte auch noch
    och är det en ett hur vad vem varför när vilken vilket vilka inte jag har tack på med av som till också var
    le la les est et un une des du qui que quoi où quand pourquoi combien quel quelle quels quelles pas pour avec dans merci oui je
    el los las es y qué quién cuándo cuánto cuánta cuántos dónde cómo por para con una gracias lo
    il di che perché quanto chi dove è de het een van voor waarom hoe wat wanneer waar""".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_FOREIGN_LETTER = re.compile(rf"[{UNSPACED_SCRIPTS}\u0370-\u06ff]")
_LATIN_LETTER = re.compile(r"[A-Za-zÀ-ɏ]")


def is_english(text: str, before: Sequence[str] = ()) -> bool:
    """Is this text likely English? One without a word that tells is judged by those said `before` it, the
    newest first, else it is."""
    for said in (text, *reversed(before)):
        told = _guess_english(said)
        if told is not None:
            return told
    return True


def _guess_english(text: str) -> bool | None:
    if len(_FOREIGN_LETTER.findall(text)) > len(_LATIN_LETTER.findall(text)) / 3:
        return False
    words = [word.lower() for word in _WORD.findall(text)]
    ours, others = sum(word in _ENGLISH for word in words), sum(word in _OTHER_LANGUAGES for word in words)
    return None if ours == others == 0 else others <= ours
