"""Worlds for the tests of the tools: folders of documents made on the spot, and the live world pointed at
this machine."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.settings import config
from agent.web.world import World, open_world

Doc = dict[str, Any]


@pytest.fixture
def folder_world(tmp_path: Path) -> Callable[..., World]:
    """Makes a folder world of documents; `packed` writes docs.jsonl.gz."""

    def make(*docs: Doc, packed: bool = False) -> World:
        lines = "".join(json.dumps(doc) + "\n" for doc in docs).encode()
        name = "docs.jsonl.gz" if packed else "docs.jsonl"
        (tmp_path / name).write_bytes(gzip.compress(lines) if packed else lines)
        return open_world(str(tmp_path), config.read_config({"TOUCHSTONE_DATA": str(tmp_path / "data")}))

    return make


@pytest.fixture
def live_world() -> Iterator[Callable[..., World]]:
    """Makes a live world that may read from this machine, without waiting between fetches."""
    made: list[World] = []

    def make(**settings: str) -> World:
        made.append(
            open_world("live", config.read_config({"FETCH_ALLOW": "127.0.0.1", "FETCH_GAP": "0", **settings}))
        )
        return made[-1]

    yield make
    for world in made:
        world.close()
