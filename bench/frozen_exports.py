"""Replays one recorded run while clock and dice stand still, and writes it in every format.

    DATABASE_URL=… TOUCHSTONE_DATA=… python -m bench.frozen_exports SCENARIO FOLDER

`python -m bench.cluster exports` compares what comes out on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import random
import secrets
import sys
import time
import uuid
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import patch

from agent.actions.export import FORMATS, export_run
from agent.errors import UsageError
from agent.workbench import Workbench
from tests.played import replay
from tests.played.scenario import Outcome, Scenario, load_scenarios

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STILL = SimpleNamespace(**{name: getattr(time, name) for name in dir(time) if not name.startswith("_")})
"""The clock of what is measured for a ledger: nothing takes any time."""
STILL.monotonic = STILL.thread_time = STILL.perf_counter = lambda: 0.0
STILL.time = NOW.timestamp


class StoppedDatetime(datetime):
    """A `datetime` for which it is always NOW."""

    @classmethod
    def now(cls, tz: Any = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), tz)


def stop_clock(patches: ExitStack) -> None:
    """Let the clock of the program stand still and its dice fall alike, whatever module asks them."""
    dice = random.Random(1)
    for name, module in [*sys.modules.items()]:
        if name.startswith("agent.") and getattr(module, "datetime", None) is datetime:
            patches.enter_context(patch.object(module, "datetime", StoppedDatetime))
    for name in ("agent.engine.loop", "agent.llm.structured_call"):
        patches.enter_context(patch.object(sys.modules[name], "time", STILL))
    patches.enter_context(patch.object(time, "time", NOW.timestamp))
    patches.enter_context(patch.object(uuid, "uuid4", lambda: uuid.UUID(int=dice.getrandbits(128))))
    patches.enter_context(patch.object(secrets, "token_hex", lambda n=32: dice.randbytes(n).hex()))


def main() -> int:
    """Replay and write."""
    wanted, folder = sys.argv[1], Path(sys.argv[2]) / "exports"
    folder.mkdir(parents=True)
    scenario = next(one for one in load_scenarios() if one.id == wanted)
    drive = replay.drive_scenario

    def drive_and_export(bench: Workbench, given: Scenario, **more: Any) -> Outcome:
        outcome = drive(bench, given, **more)
        for run in bench.runs():
            for name in FORMATS:
                try:
                    made = export_run(bench, run.id, name)
                except UsageError as refused:  # a format that this kind of run does not have
                    made = str(refused).encode()
                (folder / f"{run.id}.{name}").write_bytes(made)
        return outcome

    with ExitStack() as patches:
        patches.enter_context(patch.object(replay, "drive_scenario", drive_and_export))
        stop_clock(patches)
        replay.replay(scenario)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OLLAMA_URL", "")
    sys.exit(main())
