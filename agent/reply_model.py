"""The model of `reply`: the one that `ai_response.llm` names, before the environment's, asked in the way the file says.

When one is named but cannot be had, that is told as trouble, and `reply` stays silent; only when nobody names one is there none.
"""

from __future__ import annotations

import threading
import time

from agent import response_config
from agent.config import Config
from agent.llm import detect
from agent.llm.client import Client
from agent.response_config import LLM

AGAIN_S = 10.0
"""Seconds before a model that could not be found is looked for again."""


class ReplyModel:
    """Finds the model once and keeps it; safe for many threads."""

    def __init__(self, config: Config, llm: LLM) -> None:
        self.config, self.llm = response_config.over(config, llm), llm
        self.named = response_config.names_a_model(self.config)
        self._found: detect.Found | None = None
        self._looked = 0.0
        self._lock = threading.Lock()

    def client(self, name: str = "auto") -> tuple[Client | None, str]:
        """The client for a run's `model` setting ("auto", "keyless" or a name), and why there is none although one is asked for."""
        if name == "keyless":
            return None, ""
        found = self._look()
        if found.client is None:
            return None, found.detail if self.named or name != "auto" else ""
        return found.client if name == "auto" else found.client.named(strong=name), ""

    @property
    def detail(self) -> str:
        """A sentence for a person: which model replies, or why none."""
        return self._look().detail

    def _look(self) -> detect.Found:
        with self._lock:
            old = self._found
            if old is None or (old.client is None and time.monotonic() - self._looked > AGAIN_S):
                found = detect.find(self.config)
                if found.client:
                    extra = {"vram_limit": _plain(self.llm.vram_limit)} if self.llm.vram_limit is not None else {}
                    tuned = found.client.tuned(tries=1 + self.llm.max_retries, format=self.llm.structured_output_method, extra=extra)
                    found = detect.Found(tuned, found.label, found.detail)
                self._found, self._looked = found, time.monotonic()
            return self._found or found


def _plain(gigabytes: float) -> int | float:
    """A whole number as one: some servers take no other."""
    return int(gigabytes) if gigabytes.is_integer() else gigabytes
