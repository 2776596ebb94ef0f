"""The model of `reply`: the one that `ai_response.llm` names, else the environment's, with the file's
options.

A named model that cannot be reached is reported, and `reply` stays silent, as it does without a name."""

from __future__ import annotations

import threading
import time

from agent import reply_config
from agent.config import Config
from agent.llm import detect
from agent.llm.client import ModelClient
from agent.reply_config import LLMSettings

RETRY_S = 10.0
"""Seconds until a model that was not found is searched again."""


class ReplyModel:
    """Finds the model once and keeps it; thread-safe."""

    def __init__(self, config: Config, llm: LLMSettings) -> None:
        self.config, self.llm = reply_config.apply_llm_settings(config, llm), llm
        self.is_model_named = reply_config.is_model_named(self.config)
        self._found: detect.DetectedModel | None = None
        self._searched_at = 0.0
        self._lock = threading.Lock()

    def client(self, name: str = "auto") -> tuple[ModelClient | None, str]:
        """The client for a run's `model` ("auto", "keyless" or a name), and the reason when it is missing."""
        if name == "keyless":
            return None, ""
        found = self._find()
        if found.client is None:
            return None, found.detail if self.is_model_named or name != "auto" else ""
        return found.client if name == "auto" else found.client.with_models(strong=name), ""

    def _find(self) -> detect.DetectedModel:
        with self._lock:
            old = self._found
            if old is None or (old.client is None and time.monotonic() - self._searched_at > RETRY_S):
                found = detect.find_model(self.config)
                if found.client:
                    limit = self.llm.vram_limit
                    # some servers accept a whole number as an integer only
                    whole = int(limit) if limit is not None and limit.is_integer() else limit
                    extra = {} if whole is None else {"vram_limit": whole}
                    tuned = found.client.with_options(
                        tries=1 + self.llm.max_retries, format=self.llm.structured_output_method, extra=extra
                    )
                    found = detect.DetectedModel(tuned, found.label, found.detail)
                self._found, self._searched_at = found, time.monotonic()
            return self._found or found
