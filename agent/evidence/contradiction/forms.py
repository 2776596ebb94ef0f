"""The forms in which a statement is compared: as a whole, up to the end of each clause that adds a value, and
each cell of a table row as a sentence of its own ("Nordvik Dairy, founded: 1923").

"The dairy was founded in 1974 and is the oldest of all" and "The dairy was founded in 1979, in a brewery"
share their opening clause but for the year."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from agent.evidence.statement_features import extract_features

_CELL = re.compile(r"^([^.;:|]{1,40}): (.+)$")
_CLAUSE_END = re.compile(
    r"[,;:](?=\s(?!\d))|\s[–—-](?=\s)|\.(?=\s)|\s(?=(?:which|who|whose|where|when|while|but|because|after"
    r"|although|since)\b)"
    r"|\s(?=and\s(?:is|was|are|were|has|had|became|\w+ed|its|his|her|their|it|he|she|they)\b)",
    re.IGNORECASE,
)
MIN_CLAUSE_WORDS, MAX_CLAUSES = 2, 3
"""Content words of an opening clause at least, and clauses of one statement at most."""
_UNLABELLED_ROW = re.compile(r"\s[|·]\s")


@lru_cache(maxsize=8192)
def is_table_row(statement: str) -> bool:
    """Whether a statement is a row of a table."""
    return bool(read_cells(statement)) or bool(_UNLABELLED_ROW.search(statement))


@lru_cache(maxsize=8192)
def comparable_forms(statement: str) -> tuple[str, ...]:
    """The sentences to compare, the whole first; of a table row one for each cell but the first, which names
    what the row is about. None of a row without column names."""
    if not is_table_row(statement):
        return (statement, *_opening_clauses(statement))
    cells = read_cells(statement)
    return tuple(f"{cells[0][1]}, {name.casefold()}: {value}" for name, value in cells[1:])


def _opening_clauses(statement: str) -> Iterator[str]:
    """The statement up to the end of each of its first clauses that adds a date or a number."""
    values, found = 0, 0
    for end in _CLAUSE_END.finditer(statement):
        said = extract_features(statement[: end.start()])
        count = len(said.dates) + len(said.quantities)
        if len(said.frame) >= MIN_CLAUSE_WORDS and count > values and found < MAX_CLAUSES:
            values, found = count, found + 1
            yield statement[: end.start()]


@lru_cache(maxsize=8192)
def read_cells(statement: str) -> tuple[tuple[str, str], ...]:
    """The column names and values of a row such as "Dairy: Nordvik; Founded: 1923"; () for prose."""
    cells = [_CELL.match(part.strip()) for part in statement.rstrip(". ").split("; ")]
    if len(cells) < 2 or not all(cells):
        return ()
    return tuple((cell[1], cell[2]) for cell in cells if cell)
