"""The passage finder: for a question the line that fits it best, up to three more, or nothing, with the words
that stand nowhere.

It finds and shows; it does not understand. A line counts by the share of the question's weight (inverse
document frequency) that it has with its headings and its passage, and by the rank of its passage. Knows
passages and a question, no run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agent.retrieval.link_scoring import is_title_named
from agent.retrieval.passages import split_sentences
from agent.retrieval.scorer import (
    REFERENCE_PASSAGES,
    CollectionCounts,
    CountedPassages,
    count_words,
    join_head,
    rank_passages,
    weigh_words,
)
from agent.text.question_analysis import strip_question
from agent.text.tokens import content_stems, fold, stem, stem_prefix, stem_prefixes, tokenize
from agent.types import Passage

MIN_FIT = 0.44
"""The least fit of an answer. One value for all sets together (DECISIONS.md, "Retrieval")."""
MAX_PASSAGES, WORDS_BELOW = 5, 100
"""Lines below the lead, and their words in all."""
NEAR_SHARE = 0.3
"""What a word counts that is neither in the line nor above it, but in another line of its passage."""
RANK_WEIGHT = 2.0
"""What the rank of its passage counts beside a line's own share."""
MAX_WORDS = 40
"""Words of one candidate (what a lead may have at most); a longer one is cut at a clause or word."""


@dataclass(frozen=True)
class Quotation:
    """Verbatim words of a stored page, what they state and about what, and how well they fit (0..1)."""

    page_id: str
    quote: str
    statement: str = ""
    subject: str = ""
    score: float = 0.0
    passage_id: str = ""
    heading: str = ""
    """The path of headings it stands under."""


@dataclass(frozen=True)
class PartAnswer:
    """What was found for one part; without a `lead` nothing, and `missing` has its words of no passage."""

    question: str
    lead: Quotation | None = None
    passages: tuple[Quotation, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def quotes(self) -> list[Quotation]:
        """The lead, and the passages below it."""
        return [self.lead, *self.passages] if self.lead else []


@dataclass(frozen=True)
class PassageAnswer:
    """What was found for a question, part by part."""

    parts: tuple[PartAnswer, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The words of the parts that stand nowhere, each once."""
        return tuple(dict.fromkeys(term for part in self.parts for term in part.missing))


class Line(NamedTuple):
    """A line that may answer: one verbatim stretch of the page, what is shown of it with its term or header,
    the stem prefixes of that, and its score."""

    passage: Passage
    quote: str
    statement: str
    words: frozenset[str]
    score: float


def find_answer(
    question: str,
    passages: Sequence[Passage],
    *,
    counts: CollectionCounts | None = None,
    parts: Sequence[str] = (),
) -> PassageAnswer:
    """The answer of these passages, best first, with the scores of `agent.retrieval.scorer` (they are scored
    here when they have none). `counts`: how many passages of their collection hold the question's words;
    without it, and without `CountedPassages`, words are counted over these passages. `parts`: those of the
    question, each looked for by itself."""
    if counts is None and isinstance(passages, CountedPassages):
        counts = passages.counts
    is_ranked = len(parts) < 2 and any(passage.score for passage in passages)
    found = list[PartAnswer]()
    for part in parts or [question]:
        begun = ("tell", "know", "please", "explain")  # so it begins to ask to be told
        asked = " ".join(w for n, w in enumerate(part.split()) if n > 4 or fold(w).strip(",") not in begun)
        ranked = passages if is_ranked else _rank(asked, passages, counts)
        found.append(replace(_answer_part(asked, ranked, counts), question=part))
    return PassageAnswer(tuple(found))


def find_best_lines(question: str, passages: Sequence[Passage], k: int) -> list[Quotation]:
    """The `k` lines that fit best, best first, of those that hold a word of the question and ask nothing."""
    is_ranked = any(passage.score for passage in passages)
    passages = passages if is_ranked else _rank(question, passages, None)
    weights = weigh_words(question, count_at_hand(content_stems(question), passages))
    return [_quote(line) for line in _score_lines(weights, passages) if line.words & weights.keys()][:k]


def _rank(question: str, passages: Sequence[Passage], counts: CollectionCounts | None) -> Sequence[Passage]:
    counts = counts or count_at_hand(content_stems(question), passages)
    return rank_passages(question, passages, len(passages), counts)


def _answer_part(part: str, passages: Sequence[Passage], counts: CollectionCounts | None) -> PartAnswer:
    unseen = PartAnswer(part, missing=find_unseen_terms(part, passages))
    if any(map(_IDENTIFIER.fullmatch, unseen.missing)):  # spelled in one way: it is asked for, or nothing
        return unseen
    weights = weigh_words(part, counts or count_at_hand(content_stems(part), passages))
    lines = _score_lines(weights, passages)
    if not lines or not lines[0].score:
        return unseen
    lead, rest = lines[0], lines[1:]
    # what stands on the page of a thing that the lead names: "designed by X", and a line of the page about X
    onward = list[Line]()
    for line in rest:
        title = line.passage.title
        if title != lead.passage.title and is_title_named(lead.statement, title):
            onward = [line]
            break
    held = stem_prefixes(*(f"{join_head(line.passage)}\n{line.passage.text}" for line in [lead, *onward]))
    best = max(passage.score for passage in passages)
    if (_share(weights, held) + best) / 2 < MIN_FIT:
        return unseen
    rest = [line for line in rest if line not in onward]
    said, room, shown = lead.words, WORDS_BELOW, list[Line]()
    for line in [*onward, *rest]:
        length = len(line.statement.split())
        if line.words <= said or length > room or len(shown) == MAX_PASSAGES:
            continue  # it repeats what is shown, or is too long
        shown.append(line)
        said, room = said | line.words, room - length
    return PartAnswer(part, _quote(lead), tuple(map(_quote, shown)))


def count_at_hand(stems: Sequence[str], passages: Sequence[Passage]) -> CollectionCounts:
    """Words counted over the passages at hand, as the best of a collection of `REFERENCE_PASSAGES`."""
    return CollectionCounts(max(REFERENCE_PASSAGES, len(passages)), count_words(stems, passages))


def _share(weights: Mapping[str, float], words: Collection[str]) -> float:
    """The share of the question's weight that these words have."""
    return sum(w for word, w in weights.items() if word in words) / (sum(weights.values()) or 1.0)


def _score_lines(weights: Mapping[str, float], passages: Sequence[Passage]) -> list[Line]:
    """The lines of all passages that ask nothing, best first; ties in the order of the passages."""
    best, lines = max((passage.score for passage in passages), default=0.0) or 1.0, list[Line]()
    for passage in passages:
        above, cuts = stem_prefixes(join_head(passage)), list(cut_lines(passage))
        words = [stem_prefixes(statement) for _, statement in cuts]
        near = _share(weights, above.union(*words))
        for (quote, statement), here in zip(cuts, words, strict=True):
            if not statement.rstrip().endswith(("?", "？", "؟")):
                own = _share(weights, here | above)
                own += NEAR_SHARE * (near - own)
                score = round(own * (1 + RANK_WEIGHT * passage.score / best) / (1 + RANK_WEIGHT), 4)
                lines.append(Line(passage, quote, statement, here, score))
    return sorted(lines, key=lambda line: -line.score)


def _quote(line: Line) -> Quotation:
    passage = line.passage
    return Quotation(
        page_id=passage.page_id,
        quote=line.quote,
        statement=line.statement,
        subject=find_topic(passage.title) or line.quote[:60],
        score=line.score,
        passage_id=passage.id,
        heading=passage.heading,
    )


def find_topic(title: str) -> str:
    """What a page is about: its title without its site's name."""
    return re.split(r"\s+[|–—·]\s+|\s+-\s+", title)[0].strip()


_IDENTIFIER = re.compile(
    r"(?<![\w-])(?:--?[A-Za-z][\w-]*\w|\w*[^\W\d_]_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+|[A-Za-z]\w*\.[a-z_]\w+)"
    r"(?![\w-])"
)
"""An option, snake_case, camelCase, CamelCase, a dotted name."""


def find_unseen_terms(question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """The identifiers and the content words of a question that no passage holds in any form."""
    texts = [f"{join_head(passage)}\n{passage.text}" for passage in passages]
    whole, held, asked = fold("\n".join(texts)), stem_prefixes(*texts), strip_question(question)
    names = [found.group() for found in _IDENTIFIER.finditer(asked)]
    unseen = [name for name in names if not re.search(rf"(?<![\w-]){re.escape(fold(name))}(?!\w)", whole)]
    spelled = {stem(word): word for word in reversed(tokenize(asked))}
    words = [word for word in dict.fromkeys(content_stems(asked)) if word in spelled]
    unseen += [spelled[word] for word in words if stem_prefix(word) not in held]
    return tuple(dict.fromkeys(unseen))


def cut_lines(passage: Passage) -> Iterator[tuple[str, str]]:
    """The lines of a passage in the order of its text, each as its quote and its statement: sentences, rows
    of a table with their header, the sentences of a definition with its term."""
    text, label = passage.text, " ".join(passage.label.split())
    if passage.kind == "definition":
        has_term = bool(label) and text.startswith(passage.label)
        text = text[len(passage.label) :] if has_term else text
        for sentence in split_sentences(passage.replace(text=text)) or [text.strip()]:
            short = shorten(sentence, max(12, MAX_WORDS - len(label.split())))
            if has_term and text.lstrip().startswith(short):
                quote = passage.text[: passage.text.index(text.lstrip()) + len(short)]
            else:
                quote = short
            if quote.strip():
                yield quote, f"{label} — {short}" if label else short
        return
    for sentence in split_sentences(passage):
        if passage.kind != "rows":
            yield (short := shorten(sentence)), short
        elif sentence != passage.label and sum(bool(cell.strip()) for cell in sentence.split("|")) > 1:
            yield sentence, describe_row(passage.label, sentence)


def shorten(text: str, most: int = MAX_WORDS) -> str:
    """The text, or its beginning of at most `most` words, up to the end of a late clause, if any."""
    words = list(re.finditer(r"\S+", text))
    if len(words) <= most:
        return text.strip()
    for n in range(most - 1, most // 2, -1):
        if words[n].group().endswith(tuple(",;:.)]—–")):
            return text[words[0].start() : words[n].end()].rstrip(",;:—– ")
    return text[words[0].start() : words[most - 1].end()]


def describe_row(header: str, row: str) -> str:
    """A table row as "column: cell" pairs, one of two cells without a header as "name: value"; else as is."""
    cells, columns = [c.strip() for c in row.split("|")], [c.strip() for c in header.split("|")]
    if len(cells) == 2 and all(cells) and len(columns) == 1:
        return ": ".join(cells)
    if len(cells) != len(columns) or len(cells) < 2 or cells == columns:
        return row
    pairs = zip(columns, cells, strict=True)
    return "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell)
