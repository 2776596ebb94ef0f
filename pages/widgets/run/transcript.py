"""A conversation as text and back: "User: …" and "You: …" at the beginning of a line say who speaks. Pure.

What stands before the first label is a person's. Lines without a label go on with the message before; "Image:
https://…" is a picture of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.text.urls import canonicalize
from agent.types.reply import Message
from pages.widgets.shell import escape

SPEAKER_LINE = re.compile(
    r"^\s*(?:\*\*)?(you|bot|assistant|user|person|customer)(?:\*\*)?\s*:(?:\*\*)?\s?(.*)$", re.IGNORECASE
)
IMAGE_LINE = re.compile(r"^\s*image\s*:\s*(\S+)\s*$", re.IGNORECASE)
BOT_LABELS = ("you", "bot", "assistant")
ROLE_LABELS = {"user": "User", "bot": "You"}


def parse_messages(text: str) -> list[Message]:
    """The messages of a pasted text, oldest first."""
    found: list[tuple[str, list[str], list[str]]] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        label, picture = SPEAKER_LINE.match(line), IMAGE_LINE.match(line)
        if label:
            found.append(("bot" if label.group(1).lower() in BOT_LABELS else "user", [label.group(2)], []))
        elif picture and canonicalize(picture.group(1)):
            found = found or [("user", [], [])]
            found[-1][2].append(picture.group(1))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            found.append(("user", [line], []))
    said = [
        Message(role=role, text="\n".join(lines).strip(), images=images)  # type: ignore[arg-type]
        for role, lines, images in found
    ]
    return [message for message in said if message.text or message.images]


def format_messages(messages: Sequence[Message]) -> str:
    """The messages as such a text."""
    lines = list[str]()
    for message in messages:
        lines.append(f"{ROLE_LABELS[message.role]}: {message.text}")
        lines += [f"Image: {url}" for url in message.images]
    return "\n".join(lines)


def swap_speaker(messages: Sequence[Message], n: int) -> list[Message]:
    """The messages with the n-th said by the other side."""
    other = {"user": "bot", "bot": "user"}
    return [m.model_copy(update={"role": other[m.role]}) if i == n else m for i, m in enumerate(messages)]


def render_bubble(message: Message) -> str:
    """A message as HTML."""
    who = "You (the bot)" if message.role == "bot" else "User"
    said = f'<div class="who">{who}</div><div class="said">{escape.html(message.text)}</div>'
    for url in message.images:
        said += f'<div class="small">picture: {escape.render_link(url)}</div>'
    return f'<div class="bubble {message.role}">{said}</div>'
