"""Pictures in a request: a mark in a prompt's text is replaced by the picture on its way to the model.

Prompts, the record of calls and their keys hold text alone; a picture is a mark with its number and hash
there. `VisionModel` splits the text at the marks, and an adapter decides the picture's form:

* `openai`: its bytes, as a data URL, as OpenAI-compatible servers accept them;
* `openai_url`: its address, for servers that fetch pictures themselves."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.llm.model import Completion, CompletionRequest, Message, Model, Tier, choose_model


@dataclass(frozen=True)
class Image:
    """A picture that was fetched."""

    url: str
    media_type: str
    sha256: str
    data: bytes = field(repr=False)


def format_image_mark(n: int, sha256: str) -> str:
    """How picture number `n` (from 1) stands in a text."""
    return f"[picture {n} {sha256[:24]}]"


class VisionModel:
    """A model that is shown pictures: `client` with them for the marks of `images` in people's messages."""

    def __init__(self, client: Model, images: Sequence[Image], adapter: str) -> None:
        self.client = client
        self.strong, self.fast, self.local = client.strong, client.fast, client.local
        self.judge = choose_model(client, "judge")
        self._parts = dict[str, dict[str, Any]]()
        for n, image in enumerate(images, start=1):
            data_url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"
            url = {"openai": data_url, "openai_url": image.url}[adapter]
            mark = format_image_mark(n, image.sha256)
            self._parts[mark] = {"type": "image_url", "image_url": {"url": url}}
        self._marks = re.compile("(" + "|".join(map(re.escape, self._parts)) + ")")

    def complete(self, request: CompletionRequest) -> Completion:
        """One reply of the client to the messages with their pictures."""
        return self.client.complete(
            replace(request, messages=list(map(self._insert_images, request.messages)))
        )

    def context_length(self, tier: Tier) -> int:
        """That of the client."""
        return self.client.context_length(tier)

    def _insert_images(self, message: Message) -> Message:
        if message["role"] != "user" or not self._parts:
            return message
        parts: list[dict[str, Any]] = []
        for piece in self._marks.split(message["content"]):
            if piece.strip():  # a mark stays, so that the prompt can refer to the picture
                parts.append({"type": "text", "text": piece})
            if piece in self._parts:
                parts.append(self._parts[piece])
        return {**message, "content": parts} if len(parts) > 1 else message
