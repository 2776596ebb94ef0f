"""Pictures in a request: where a mark stands in a prompt's text, the picture itself goes to the model.
Fetches nothing, judges nothing.

Prompts, the record of calls and their keys hold texts alone. A picture stands in them as a mark with its
number and hash; on the way to the server `Seeing` splits the text there, in order, and an adapter says what
form the picture takes:

* `openai`: its bytes, as a data URL, as OpenAI-compatible servers take them;
* `openai_url`: its address, for servers that fetch pictures themselves.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from agent.llm.model import MAX_TOKENS, Checkpoint, Completion, Message, Model, Tier


@dataclass(frozen=True)
class Image:
    """A picture that was fetched."""

    url: str
    media_type: str
    sha256: str
    data: bytes = field(repr=False)

    @cached_property
    def data_url(self) -> str:
        """The picture as an address that holds it."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"


ImageAdapter = Callable[[Image], dict[str, Any]]
IMAGE_ADAPTERS: Mapping[str, ImageAdapter] = {
    "openai": lambda image: {"type": "image_url", "image_url": {"url": image.data_url}},
    "openai_url": lambda image: {"type": "image_url", "image_url": {"url": image.url}},
}


def format_image_mark(n: int, sha256: str) -> str:
    """How picture number `n` (from 1) stands in a text."""
    return f"[picture {n} {sha256[:24]}]"


class VisionModel:
    """A model that is shown pictures: `client` with the marks of `images` replaced by the pictures, in
    people's messages only."""

    def __init__(self, client: Model, images: Sequence[Image], adapter: str) -> None:
        self.client = client
        self.strong, self.fast, self.local = client.strong, client.fast, client.local
        form = IMAGE_ADAPTERS[adapter]
        self._parts = {format_image_mark(n, image.sha256): form(image) for n, image in enumerate(images, 1)}
        self._marks = re.compile("(" + "|".join(map(re.escape, self._parts)) + ")")

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tier: Tier,
        schema: type[BaseModel],
        checkpoint: Checkpoint,
        max_tokens: int = MAX_TOKENS,
    ) -> Completion:
        """One reply of the client to the messages with their pictures."""
        shown = [self._insert_images(message) for message in messages]
        return self.client.complete(
            shown, tier=tier, schema=schema, checkpoint=checkpoint, max_tokens=max_tokens
        )

    def _insert_images(self, message: Message) -> Message:
        if message["role"] != "user" or not self._parts:
            return message
        pieces = self._marks.split(message["content"])
        if len(pieces) == 1:
            return message
        parts: list[dict[str, Any]] = []
        for piece in pieces:
            if piece in self._parts:
                parts += [
                    {"type": "text", "text": piece},
                    self._parts[piece],
                ]  # the mark stays, so that the picture can be spoken of
            elif piece.strip():
                parts.append({"type": "text", "text": piece})
        return {**message, "content": parts}
