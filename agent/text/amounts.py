"""How many somebody asks for: "the three newest threads", "10 articles about …", "högst fem trådar". Knows
words, not what is counted.

A number belongs to the request only beside a word for what can be gathered, a word such as "newest", or a
limit ("at most"); any other number ("the three bridges", "error 17") is part of what is asked about. One
table a language, so that Swedish six is no English word."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_DIGITS = r"(?!(?:19|20)\d\d\b)\d{1,4}"
_PHRASE_END = r"(?=\s*(?:[.,;:!?)]|$)|\s+(?:about|on|of|from|in|regarding|with|for|that|which|über|aus|von|om|från|i|sur|de|sobre)\b)"


@dataclass(frozen=True)
class _CountWords:
    """A language's words: numbers from one on, what is gathered, the newest or best of it, limits from above
    and from below."""

    numbers: str
    items: str
    recency: str
    upper_limits: str
    lower_limits: str
    range_words: str
    extra_numbers: dict[str, int] = field(default_factory=dict)
    """Further number words."""

    def parse_number(self, word: str) -> int:
        """A number word or digits as a number."""
        word = " ".join(word.lower().split())
        return int(word) if word.isdigit() else self.number_words[word]

    @property
    def number_words(self) -> dict[str, int]:
        """Every number word with its value; of two spellings of one number both stand, joined by a slash."""
        plain = {
            word: n for n, words in enumerate(self.numbers.split(), start=1) for word in words.split("/")
        }
        return {**plain, **self.extra_numbers}

    def compile_patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """What asks for at least so many, and what asks for so many: as groups named n1, n2, …"""
        number = "|".join(sorted((re.escape(word) for word in self.number_words), key=len, reverse=True))
        said = [
            rf"(?:(?:{number}|{_DIGITS})\s*(?:{self.range_words}|-|–)\s*)?(?P<n{n}>{number}|{_DIGITS})"
            for n in range(4)
        ]
        between = rf"(?:\s+(?:{self.recency}|forum|news|blog|press|relevant\w*|different|interest\w+|other|ganze[nr]?|olika))*"
        thing = rf"\s+(?:{self.items})"
        forms = (
            rf"(?:{self.upper_limits})\s+{said[0]}(?:{between}{thing}|{_PHRASE_END})",
            rf"(?:{self.recency})\s+{said[1]}(?:{between}{thing}|{_PHRASE_END})",
            rf"{said[2]}(?:\s+(?:{self.recency}))+(?:{between}{thing})?",
            rf"{said[3]}{between}{thing}",
        )
        lower = rf"\b(?:{self.lower_limits})\s+(?:{number}|{_DIGITS})(?:{between}{thing}|{_PHRASE_END})"
        return re.compile(lower, re.IGNORECASE), re.compile(
            rf"\b(?:the\s+)?(?:{'|'.join(forms)})\b", re.IGNORECASE
        )


_LANGUAGES = (
    _CountWords(
        numbers="one two three four five six seven eight nine ten eleven twelve",
        items=r"articles?|threads?|topics?|stor(?:y|ies)|news(?: items| stories)?|headlines?|posts?|items?|discussions?|reviews?|reports?|pieces?"
        r"|entries|comments?|questions?|pages?|papers?",
        recency=r"latest|newest|most\s+recent|recent|top|first|last|best|new|most\s+relevant|most\s+discussed",
        upper_limits=r"up\s+to|at\s+most|no\s+more\s+than|not\s+more\s+than|max(?:imum)?(?:\s+of)?\.?|only|just",
        lower_limits=r"at\s+least|no\s+fewer\s+than|(?<!no\s)(?<!not\s)more\s+than|min(?:imum)?(?:\s+of)?",
        range_words="or|to",
        extra_numbers={
            "a couple of": 2,
            "couple of": 2,
            "half a dozen": 6,
            "a dozen": 12,
            "dozen": 12,
            "twenty": 20,
            "fifty": 50,
            "a hundred": 100,
        },
    ),
    _CountWords(
        numbers="eine/einen/einer/ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        items=r"artikeln?|beitr(?:ag|ägen?)|nachricht(?:en)?|meldung(?:en)?|themen|threads?|diskussion(?:en)?|berichten?|kommentaren?"
        r"|bewertung(?:en)?|rezension(?:en)?|schlagzeilen?",
        recency=r"(?:neu(?:est)?|letzt|jüngst|aktuell(?:st)?|best|erst)e[nrs]?",
        upper_limits=r"höchstens|maximal|bis\s+zu|nur",
        lower_limits=r"mindestens|wenigstens",
        range_words="oder|bis",
    ),
    _CountWords(
        numbers="en/ett två tre fyra fem sex sju åtta nio tio elva tolv",
        items=r"artiklar(?:na)?|artikel|tråd(?:ar|arna|en)?|nyhet(?:er|erna|en)?|inlägg(?:en)?|diskussion(?:er|erna|en)?|kommentar(?:er|erna|en)?"
        r"|rubrik(?:er|erna|en)?|recension(?:er|erna|en)?|rapport(?:er|erna|en)?",
        recency="senaste|nyaste|sista|första|bästa|nya",
        upper_limits=r"högst|max(?:imalt)?|upp\s+till|bara|endast",
        lower_limits=r"minst|åtminstone",
        range_words="eller|till",
    ),
    _CountWords(
        numbers="un/une deux trois quatre cinq six sept huit neuf dix onze douze",
        items=r"articles?|sujets?|fils?|discussions?|nouvelles?|actualités?|messages?|commentaires?|avis|titres?",
        recency=r"derni(?:er|ère)s?|(?:les\s+)?plus\s+récente?s?|récente?s?|premi(?:er|ère)s?|meilleure?s?|nouve(?:aux|lles)",
        upper_limits=r"au\s+plus|au\s+maximum|jusqu['’]à|seulement",
        lower_limits=r"au\s+moins",
        range_words="ou|à",
    ),
    _CountWords(
        numbers="un/una dos tres cuatro cinco seis siete ocho nueve diez once doce",
        items=r"artículos?|noticias?|hilos?|temas?|mensajes?|comentarios?|titulares|reseñas?|debates?",
        recency=r"últim[oa]s?|más\s+recientes|recientes|primer[oa]s|mejores|nuev[oa]s",
        upper_limits=r"como\s+máximo|hasta|solo|sólo",
        lower_limits=r"al\s+menos|como\s+mínimo",
        range_words="o|a",
    ),
)
_COMPILED = tuple((tongue, *tongue.compile_patterns()) for tongue in _LANGUAGES)


def find_requested_count(text: str) -> int | None:
    """The number a text asks for, the last where it names two ("two or three"); None for none. A time range
    must be taken out before."""
    for _, least, _ in _COMPILED:
        text = least.sub(" ", text)
    for tongue, _, many in _COMPILED:
        if match := many.search(text):
            return tongue.parse_number(
                next(value for name, value in match.groupdict().items() if value and name.startswith("n"))
            )
    return None


def remove_requested_count(text: str) -> str:
    """The text without what it says of how many."""
    for _, least, many in _COMPILED:
        text = many.sub(" ", least.sub(" ", text))
    return text
