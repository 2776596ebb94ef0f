"""The records that every package shares: data without a store, a web, a model or a clock.

A step's change is JSON made of these records, and the screens draw them. Times are ISO 8601 in UTC
("2026-11-21T09:30:00Z"), offsets count characters of a page's text, shares and scores lie between 0 and 1.
"""

from __future__ import annotations

from agent.types.answers import *
from agent.types.batches import *
from agent.types.checked_text import *
from agent.types.engines import *
from agent.types.facts import *
from agent.types.library import *
from agent.types.record import *
from agent.types.runs import *
from agent.types.source_filter import *
from agent.types.web import *
