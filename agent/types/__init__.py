"""The nouns that everything passes around. They hold data and know nothing: no store, no web, no model, no clock.

What a step changes is JSON made from these; what the screens draw are these read back. A time is an ISO 8601 string in UTC
("2026-11-21T09:30:00Z"); an offset counts characters of a page's text; a share or score lies between 0 and 1.
"""

from __future__ import annotations

from agent.types.answers import Answer, Reason, Sentence, Source, Statements, Verdict
from agent.types.holdings import Added, Facility, Found, IndexEntry, LibrarySource, Refused, Scope, Synced
from agent.types.knowledge import (
    Action,
    Blockage,
    Confidence,
    Conflict,
    Edit,
    Fact,
    Lead,
    Mark,
    Move,
    Note,
    Origin,
    PageRef,
    Proposal,
    Refusal,
    Speaker,
    Value,
)
from agent.types.noun import Noun, Outcome
from agent.types.runs import STANDS, Call, CollectLimits, Edge, ReplySettings, Run, Settings, SiteLimits, Status, Step, Turn, Usage
from agent.types.web import Heading, Hit, Link, Page, Passage, SearchResult, Table

__all__ = [
    "STANDS",
    "Action",
    "Added",
    "Answer",
    "Blockage",
    "Call",
    "CollectLimits",
    "Confidence",
    "Conflict",
    "Edge",
    "Edit",
    "Facility",
    "Fact",
    "Found",
    "Heading",
    "Hit",
    "IndexEntry",
    "Lead",
    "LibrarySource",
    "Link",
    "Mark",
    "Move",
    "Note",
    "Noun",
    "Origin",
    "Outcome",
    "Page",
    "PageRef",
    "Passage",
    "Proposal",
    "Reason",
    "Refusal",
    "Refused",
    "ReplySettings",
    "Run",
    "Scope",
    "SearchResult",
    "Sentence",
    "Settings",
    "SiteLimits",
    "Source",
    "Speaker",
    "Statements",
    "Status",
    "Step",
    "Synced",
    "Table",
    "Turn",
    "Usage",
    "Value",
    "Verdict",
]
