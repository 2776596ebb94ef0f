"""What a step may use, for tests that drive steps by hand: no model, nobody's budget."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from agent.engine.context import RunContext
from agent.store.database import Store
from agent.store.ledger import Lease
from agent.types import Settings


def equip(settings: Settings, world: Any, store: Store, lease: Lease) -> RunContext:
    """The context of a run."""
    return RunContext(
        settings,
        world,
        store,
        lease,
        client=None,
        model_failure="",
        find_model=lambda settings: None,
        on_model_down=None,
        shutdown_event=threading.Event(),
        step_gap_s=0,
        library=SimpleNamespace(store=store),  # type: ignore[arg-type]
        find_parent_overrun=lambda share: None,
        reserve_use=lambda share, tokens, dollars: nullcontext(lambda tokens, dollars: None),
    )
