"""What is worked out of a run's state once: the state is the same until the run takes another step."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from agent.workbench import RunSnapshot

T = TypeVar("T")
MAX_ENTRIES = 128
"""Values that are kept, over all runs."""
_cache: OrderedDict[tuple[str, str], tuple[object, Any]] = OrderedDict()
_lock = threading.Lock()


def get_or_compute(view: RunSnapshot, name: str, make: Callable[[], T]) -> T:
    """What `make` gives, made anew only for another state of the run; it must follow from that alone."""
    key = (view.run.id, name)
    with _lock:
        state, value = _cache.get(key, (None, None))
    if state is view.state:
        return value  # type: ignore[no-any-return]
    made = make()
    with _lock:
        _cache[key] = (view.state, made)
        _cache.move_to_end(key)
        while len(_cache) > MAX_ENTRIES:
            _cache.popitem(last=False)
    return made
