"""What each purpose of an outgoing request may receive, and how long it may take.

Every answer is read within the limits of one of these; what settings say of a page, a picture and a model's
reply takes the place of their defaults, which stand here. A server that a setting names may be on the own
machine or network, others are public. Redirects are followed for pages, pictures and, on one server, ddgs."""

from __future__ import annotations

from dataclasses import dataclass

from agent.settings.config import Config
from agent.settings.reply_config import AIResponseSettings

MB = 1_000_000
"""Bytes."""


@dataclass(frozen=True)
class Policy:
    """`max_bytes`: of a body, unpacked; `seconds`: from the lookup of the name to the last byte, without
    waits for a turn. A longer body is refused, or `is_cut`."""

    purpose: str
    max_bytes: int
    seconds: float
    is_cut: bool = False


_SET, _REPLY = Config.model_fields, AIResponseSettings.model_fields
MODEL_REPLY = Policy("a reply of a model", 4 * MB, _SET["MODEL_TIMEOUT"].default)
MODEL_LIST = Policy("a list of models", MB, 5.0)
VECTORS = Policy("vectors of texts", 16 * MB, 60.0)
ENGINE = Policy("an answer of an engine", 5 * MB, 15.0)
SIGN_IN = Policy("an answer of the login's provider", MB, 10.0)
PAGE = Policy("a page", int(_SET["FETCH_MAX_MB"].default * MB), _SET["FETCH_TIMEOUT"].default)
"""FETCH_ALLOW names inner hosts. Of a robots.txt less is read (`agent.web.robots.MAX_BYTES`)."""
PICTURE = Policy("a picture in a message", 8 * MB, _REPLY["image_download_timeout_seconds"].default)
