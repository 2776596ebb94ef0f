"""Replies as models write them, right and wrong ones: what is read of each, or why it is not.

`recorded/<role>.json` holds for each role what a strong model, a small careless one and a hostile one reply
(`raw`), and either the fields that are read (`read`) or a part of the reason why it is not used (`error`).
MARK stands for the mark of the run; every id and text of the prompt is "Alder"."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.errors import ModelDown
from agent.llm.parse_reply import parse_reply
from agent.roles.role import Role
from tests.agent.roles.every_role import fill_blanks, find_roles

FOLDER = Path(__file__).parent / "recorded"
MARK = "12ab34cd"
ROLES = {role.name: role for role in find_roles()}
RECORDED = [
    pytest.param(ROLES[path.stem], row, id=f"{path.stem} {n} {row['who']}")
    for path in sorted(FOLDER.glob("*.json"))
    for n, row in enumerate(json.loads(path.read_text(encoding="utf-8")))
]


def holds(value: Any, part: Any) -> bool:
    """Whether a value has all fields of `part`, and its lists the same length."""
    if isinstance(part, dict):
        return all(name in value and holds(value[name], item) for name, item in part.items())
    if isinstance(part, list):
        return len(value) == len(part) and all(map(holds, value, part))
    return bool(value == part)


def test_every_role_has_right_wrong_and_hostile_replies() -> None:
    for role in ROLES:
        rows = json.loads((FOLDER / f"{role}.json").read_text(encoding="utf-8"))
        assert {row["who"] for row in rows} == {"strong", "small", "hostile"}, role
        assert any("error" in row for row in rows) and any("read" in row for row in rows), role


@pytest.mark.parametrize(("role", "row"), RECORDED)
def test_a_reply_is_read_as_recorded(role: Role, row: dict[str, Any]) -> None:
    raw, blanks = row["raw"].replace("MARK", MARK), fill_blanks(role, "Alder")
    if "today" in blanks:
        blanks["today"] = "2026-11-22"
    try:
        result = role.judge(
            lambda _name, _messages, shape, _tier: parse_reply(raw, shape), mark=MARK, **blanks
        )
    except ModelDown as down:
        assert role.on_failure == "rest" and row["error"] in str(down)
        return
    if "error" in row:
        assert result.by == "keyless" and row["error"] in result.failure
    else:
        assert result.by == "model", result.failure
        assert holds(result.value.model_dump(), row["read"]), result.value
