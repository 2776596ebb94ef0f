"""Tables of examples that need no Python to be read or edited: `NAME.jsonl` beside `test_NAME.py`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])


def by_table(test: Test) -> Test:
    """Runs a test for each row of its file's table that names it in `test`; the row's other fields are what the
    test is given."""
    path = Path(test.__code__.co_filename)
    lines = (path.parent / f"{path.stem.removeprefix('test_')}.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.pop("test") == test.__name__.removeprefix("test_")]
    names = list(rows[0])
    given = [pytest.param(*(row[name] for name in names), id=str(row[names[0]])[:60]) for row in rows]
    return pytest.mark.parametrize(names, given)(test)
