"""How many somebody asks for: "the three newest threads", "10 articles about …", "högst fem trådar". Knows words, not what is counted.

A number belongs to the request only beside a word for what can be gathered, a word such as "newest", or a limit ("at most");
any other number ("the three bridges", "error 17") is part of what is asked about. One table a language, so that Swedish six is
no English word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_DIGITS = r"(?!(?:19|20)\d\d\b)\d{1,4}"
_END = r"(?=\s*(?:[.,;:!?)]|$)|\s+(?:about|on|of|from|in|regarding|with|for|that|which|über|aus|von|om|från|i|sur|de|sobre)\b)"


@dataclass(frozen=True)
class _Tongue:
    """A language's words: numbers from one on, what is gathered, the newest or best of it, limits from above and from below."""

    numbers: str
    things: str
    fresh: str
    most: str
    least: str
    joined: str
    more: dict[str, int] = field(default_factory=dict)
    """Further number words."""

    def value(self, word: str) -> int:
        """A number word or digits as a number."""
        word = " ".join(word.lower().split())
        return int(word) if word.isdigit() else self.words[word]

    @property
    def words(self) -> dict[str, int]:
        """Every number word with its value; of two spellings of one number both stand, joined by a slash."""
        plain = {word: n for n, words in enumerate(self.numbers.split(), start=1) for word in words.split("/")}
        return {**plain, **self.more}

    def patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """What asks for at least so many, and what asks for so many: as groups named n1, n2, …"""
        number = "|".join(sorted((re.escape(word) for word in self.words), key=len, reverse=True))
        said = [rf"(?:(?:{number}|{_DIGITS})\s*(?:{self.joined}|-|–)\s*)?(?P<n{n}>{number}|{_DIGITS})" for n in range(4)]
        between = rf"(?:\s+(?:{self.fresh}|forum|news|blog|press|relevant\w*|different|interest\w+|other|ganze[nr]?|olika))*"
        thing = rf"\s+(?:{self.things})"
        forms = (
            rf"(?:{self.most})\s+{said[0]}(?:{between}{thing}|{_END})",
            rf"(?:{self.fresh})\s+{said[1]}(?:{between}{thing}|{_END})",
            rf"{said[2]}(?:\s+(?:{self.fresh}))+(?:{between}{thing})?",
            rf"{said[3]}{between}{thing}",
        )
        lower = rf"\b(?:{self.least})\s+(?:{number}|{_DIGITS})(?:{between}{thing}|{_END})"
        return re.compile(lower, re.IGNORECASE), re.compile(rf"\b(?:the\s+)?(?:{'|'.join(forms)})\b", re.IGNORECASE)


_TONGUES = (
    _Tongue(
        numbers="one two three four five six seven eight nine ten eleven twelve",
        things=r"articles?|threads?|topics?|stor(?:y|ies)|news(?: items| stories)?|headlines?|posts?|items?|discussions?|reviews?|reports?|pieces?"
        r"|entries|comments?|questions?|pages?|papers?",
        fresh=r"latest|newest|most\s+recent|recent|top|first|last|best|new|most\s+relevant|most\s+discussed",
        most=r"up\s+to|at\s+most|no\s+more\s+than|not\s+more\s+than|max(?:imum)?(?:\s+of)?\.?|only|just",
        least=r"at\s+least|no\s+fewer\s+than|(?<!no\s)(?<!not\s)more\s+than|min(?:imum)?(?:\s+of)?",
        joined="or|to",
        more={"a couple of": 2, "couple of": 2, "half a dozen": 6, "a dozen": 12, "dozen": 12, "twenty": 20, "fifty": 50, "a hundred": 100},
    ),
    _Tongue(
        numbers="eine/einen/einer/ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        things=r"artikeln?|beitr(?:ag|ägen?)|nachricht(?:en)?|meldung(?:en)?|themen|threads?|diskussion(?:en)?|berichten?|kommentaren?"
        r"|bewertung(?:en)?|rezension(?:en)?|schlagzeilen?",
        fresh=r"(?:neu(?:est)?|letzt|jüngst|aktuell(?:st)?|best|erst)e[nrs]?", most=r"höchstens|maximal|bis\s+zu|nur",
        least=r"mindestens|wenigstens", joined="oder|bis",
    ),
    _Tongue(
        numbers="en/ett två tre fyra fem sex sju åtta nio tio elva tolv",
        things=r"artiklar(?:na)?|artikel|tråd(?:ar|arna|en)?|nyhet(?:er|erna|en)?|inlägg(?:en)?|diskussion(?:er|erna|en)?|kommentar(?:er|erna|en)?"
        r"|rubrik(?:er|erna|en)?|recension(?:er|erna|en)?|rapport(?:er|erna|en)?",
        fresh="senaste|nyaste|sista|första|bästa|nya", most=r"högst|max(?:imalt)?|upp\s+till|bara|endast",
        least=r"minst|åtminstone", joined="eller|till",
    ),
    _Tongue(
        numbers="un/une deux trois quatre cinq six sept huit neuf dix onze douze",
        things=r"articles?|sujets?|fils?|discussions?|nouvelles?|actualités?|messages?|commentaires?|avis|titres?",
        fresh=r"derni(?:er|ère)s?|(?:les\s+)?plus\s+récente?s?|récente?s?|premi(?:er|ère)s?|meilleure?s?|nouve(?:aux|lles)",
        most=r"au\s+plus|au\s+maximum|jusqu['’]à|seulement", least=r"au\s+moins", joined="ou|à",
    ),
    _Tongue(
        numbers="un/una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        things=r"artículos?|noticias?|hilos?|temas?|mensajes?|comentarios?|titulares|reseñas?|debates?",
        fresh=r"últim[oa]s?|más\s+recientes|recientes|primer[oa]s|mejores|nuev[oa]s", most=r"como\s+máximo|hasta|solo|sólo",
        least=r"al\s+menos|como\s+mínimo", joined="o|a",
    ),
)  # fmt: skip
_COMPILED = tuple((tongue, *tongue.patterns()) for tongue in _TONGUES)


def asked_for(text: str) -> int | None:
    """The number a text asks for, the last where it names two ("two or three"); None for none. A time range must be taken out before."""
    for _, least, _ in _COMPILED:
        text = least.sub(" ", text)
    for tongue, _, many in _COMPILED:
        if match := many.search(text):
            return tongue.value(next(value for name, value in match.groupdict().items() if value and name.startswith("n")))
    return None


def without(text: str) -> str:
    """The text without what it says of how many."""
    for _, least, many in _COMPILED:
        text = many.sub(" ", least.sub(" ", text))
    return text
