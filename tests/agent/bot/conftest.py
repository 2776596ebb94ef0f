"""A reply service over a small library."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.bot.responder import ReplyService
from agent.settings import config
from agent.workbench import Workbench
from tests.agent.bot.replies import Open
from tests.web.replying_model import stocked


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens a service over a small library; `file` is its config.yaml (JSON is YAML), `client` its model,
    `stored` whether conversations are stored, `environment` further settings."""
    made: list[ReplyService] = []

    def open_(
        file: Any = None,
        *,
        client: Any = None,
        stock: bool = True,
        stored: bool = False,
        kb: Path | None = None,
        **environment: str,
    ) -> ReplyService:
        if stored:
            response = {**(file or {}).get("ai_response", {}), "store_conversations": True}
            file = {**(file or {}), "ai_response": response}
        if file is not None:
            (tmp_path / "config.yaml").write_text(
                file if isinstance(file, str) else json.dumps(file), encoding="utf-8"
            )
            environment["CONFIG_FILE"] = str(tmp_path / "config.yaml")
        bench = Workbench(config.read_config({"FETCH_ALLOW": "127.0.0.1", **environment}))
        if stock:
            stocked(bench)
        made.append(ReplyService(bench, kb=kb, client=client))
        return made[-1]

    yield open_
    for replying in made:
        replying.close()
        replying.bench.shutdown()
