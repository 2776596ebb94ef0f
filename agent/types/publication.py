"""A published work: what catalogues and publishers' pages say of it."""

from __future__ import annotations

from pydantic import Field

from agent.types.record import Record

MAX_NAMED = 6
"""Authors that a line names."""


class Publication(Record):
    """A published work; a field is empty where nothing is known."""

    doi: str = ""
    """Without "https://doi.org/", in lower case."""
    authors: list[str] = Field(default_factory=list)
    journal: str = ""
    year: int = 0
    licence: str = ""
    """As its source words it: a name ("cc-by") or an address."""
    pdf_url: str = ""
    """A copy that may be read without paying."""

    @property
    def description(self) -> str:
        """What is known, in a line: authors, journal and year, DOI, licence."""
        names = ", ".join(self.authors[:MAX_NAMED]) + (" et al." if len(self.authors) > MAX_NAMED else "")
        where = ", ".join(filter(None, [self.journal, str(self.year or "")]))
        told = [names, where, self.doi and f"DOI {self.doi}", self.licence and f"licence: {self.licence}"]
        return "; ".join(filter(None, told))

    def complete(self, other: Publication | None) -> Publication:
        """This one, its empty fields filled with those of another."""
        known = dict(self) if other is None else dict(other) | {name: value for name, value in self if value}
        return Publication.model_construct(**known)
