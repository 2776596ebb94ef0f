"""The fixture `said`: the first turn of a conversation with the stocked library."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.workbench import Workbench
from tests.web.chatting_model import ASKED, Talk, Turned, stocked

Said = Callable[..., Turned]


@pytest.fixture
def said(bench: Workbench) -> Said:
    """The first turn of a conversation with the stocked library: by a script, or keyless."""
    stocked(bench)
    return lambda text=ASKED, script=None, **settings: Talk(bench, script=script, **settings).say(text)
