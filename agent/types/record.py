"""The base class of all records, how one access to the web can end, and a published work."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Record(BaseModel):
    """A value: compared by its fields; an unknown field is refused."""

    model_config = ConfigDict(
        extra="forbid", defer_build=True
    )  # built when first used: an eighth of the start

    def replace(self, **changes: Any) -> Self:
        """A copy with these fields replaced; the new values are not validated."""
        return self.model_copy(update=changes)


FORMER_FIELDS: dict[str, dict[str, dict[str, str] | None]] = {
    "Assessment": {"inconsistency": None},
    "ClaimFinding": {
        "is_veto": None,
        "kind": dict.fromkeys(
            ("roles", "quantifier", "modality", "comparative", "antonym", "instruction"), "figure"
        ),
    },
    "AnswerBlock": {"role": {"other": "passage"}},
    "Sentence": {"fit": None, "check": {"vetoed": "not_supported", "doubted": "not_supported"}},
    "Proposal": {"trouble": None},
    "CrawlNode": {"same_as": None, "sha256": None},
    "ChatState": {"graded_question": None},
    "CollectIntent": {"time_range_days": None},
    "CollectState": {"intent_trouble": None, "intent_by": None},
    "CollectedItem": {"judged_by": None},
    "Draft": {"left_out": None, "drafted": None},
    "Picture": {"detail": None},
    "QueryRewrite": {"repeats": None},
    "SourceSelection": {"prefiltered": None},
    "SiteState": {"bearings": None, "bearing": None},
}
"""What earlier versions stored in records: fields that are gone (None), and values that have another name."""


class FormerRecord(Record):
    """A record that earlier versions stored otherwise: it is read as what it means today."""

    @model_validator(mode="before")
    @classmethod
    def read_former(cls, data: Any) -> Any:
        """The data without the fields that are gone, and with the values of today."""
        former = FORMER_FIELDS[cls.__name__]
        if not isinstance(data, dict) or not former.keys() & data.keys():
            return data
        data = {name: value for name, value in data.items() if former.get(name, {}) is not None}
        for name, values in former.items():
            if values and isinstance(value := data.get(name), str):
                data[name] = values.get(value, value)
        return data


Actor = Literal["model", "keyless", "person", "code"]
"""Who made or decided something; "keyless" are the rules that act without a model."""
PageOrigin = Literal["fetched", "pasted", "uploaded", "given"]
"""Where a page's text came from: its server, a person for this address, or who gave it to check."""
PAGE_ORIGIN_LABELS: dict[PageOrigin, str] = {
    "fetched": "",
    "pasted": "text pasted by a person",
    "uploaded": "file uploaded by a person",
    "given": "text given to be checked",
}


class Outcome(StrEnum):
    """How a search or fetch ended. `empty`: it answered and had nothing; `blocked`: it refused to answer."""

    OK = "ok"
    EMPTY = "empty"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    """Our own rules refused it: robots.txt, a non-public address, too many redirects, a domain filter."""
    ERROR = "error"


MAX_NAMED = 6
"""Authors that a line names."""


class Publication(Record):
    """A published work; a field is empty where nothing is known."""

    doi: str = ""
    """Without "https://doi.org/", in lower case."""
    authors: list[str] = Field(default_factory=list)
    people: dict[str, str] = Field(default_factory=dict)
    """Those whose names its source gives in parts, by their names among the authors: "Field, Ana"."""
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
