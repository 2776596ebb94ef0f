"""What an action needs: the store, the worker that goes on with a run, and the run as it is now."""

from __future__ import annotations

from typing import Protocol

from agent.config import Config
from agent.engine.snapshots import RunSnapshot, SnapshotCache
from agent.engine.worker import Worker
from agent.store.database import Store


class ActionContext(Protocol):
    """The part of the workbench that actions use."""

    config: Config
    store: Store
    worker: Worker
    snapshots: SnapshotCache

    def snapshot(self, run_id: str) -> RunSnapshot:
        """The run as it is now. Raises NotFound."""
