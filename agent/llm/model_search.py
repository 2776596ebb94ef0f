"""The search for the model of one configuration, in a thread of its own: no screen waits for a server."""

from __future__ import annotations

import threading
import time

from agent.config import Config
from agent.llm import detect
from agent.llm.detect import DetectedModel

PATIENCE_S = 0.3
"""Seconds of a search that a screen waits for in all: most servers answer in less."""
RETRY_S = 30.0
"""Seconds after which a search that found none is repeated, when somebody wants to know."""


class ModelSearch:
    """Searches until it has found one, or again when asked to; thread-safe. A search ends within seconds."""

    def __init__(self, config: Config) -> None:
        self._config, self._lock = config, threading.Lock()
        self._thread = threading.Thread()
        self._began = 0.0
        self.found: DetectedModel | None = None
        """What was found last; None before the first search has ended."""

    def find(self, *, again: bool = False) -> DetectedModel:
        """The model, when the search has ended."""
        if again or self._is_due():
            self._begin(again).join()
        assert self.found, "the search failed; see the log"
        return self.found

    def peek(self) -> DetectedModel | None:
        """What is known now."""
        if self._is_due():
            self._begin().join(max(0.0, self._began + PATIENCE_S - time.monotonic()))
        return self.found

    def _is_due(self) -> bool:
        if self.found is None:
            return True
        is_stale = time.monotonic() > self._began + RETRY_S
        return self.found.client is None and is_stale and not detect.asks_no_server(self._config)

    def _begin(self, again: bool = False) -> threading.Thread:
        """The search that is under way, or a new one where one is needed."""
        with self._lock:
            if not self._thread.is_alive() and (again or self._is_due()):
                self._thread, self._began = threading.Thread(target=self._run, daemon=True), time.monotonic()
                self._thread.start()
                if detect.asks_no_server(self._config):
                    self._thread.join()
            return self._thread

    def _run(self) -> None:
        self.found = detect.find_model(self._config)
