"""Pictures on their way to a model: where their marks stand, in order, in the adapter's form, and nowhere
else."""

from __future__ import annotations

import base64

import pytest
from pydantic import BaseModel

from agent.llm.images import Image, VisionModel, format_image_mark
from agent.llm.model import CompletionRequest, measure_prompt
from tests.web.scripted import ScriptedModel

ONE = Image("https://cdn.example/1.png", "image/png", "a" * 64, b"\x89PNG one")
TWO = Image("https://cdn.example/2.jpg", "image/jpeg", "b" * 64, b"\xff\xd8\xff two")


class Yes(BaseModel):
    ok: bool


def sent(adapter: str, text: str, role: str = "user") -> object:
    model = ScriptedModel([{"ok": True}], strong="big", fast="small")
    seeing = VisionModel(model, [ONE, TWO], adapter)
    assert (seeing.strong, seeing.fast, seeing.local) == ("big", "small", True)
    seeing.complete(CompletionRequest([{"role": role, "content": text}], Yes, "fast", max_tokens=9))
    assert (model.requests[0].tier, model.requests[0].schema, model.requests[0].max_tokens) == (
        "fast",
        Yes,
        9,
    )
    return model.requests[0].messages[0]["content"]


TEXT = f"User: look\n  {format_image_mark(2, TWO.sha256)}\nYou: yes\nUser: {format_image_mark(1, ONE.sha256)} and?"


def test_the_openai_adapter_sends_the_bytes_where_the_marks_stand() -> None:
    parts = sent("openai", TEXT)
    assert [part["type"] for part in parts] == [
        "text",
        "text",
        "image_url",
        "text",
        "text",
        "image_url",
        "text",
    ]  # type: ignore[attr-defined]
    first, second = (part["image_url"]["url"] for part in parts if part["type"] == "image_url")  # type: ignore[attr-defined]
    assert first == f"data:image/jpeg;base64,{base64.b64encode(TWO.data).decode()}"
    assert second == f"data:image/png;base64,{base64.b64encode(ONE.data).decode()}"
    assert "".join(part.get("text", "") for part in parts).replace("\n", "").replace(" ", "") == TEXT.replace(
        "\n", ""
    ).replace(" ", "")  # type: ignore[attr-defined]


def test_the_url_adapter_passes_the_addresses() -> None:
    parts = sent("openai_url", TEXT)
    assert [part["image_url"]["url"] for part in parts if part["type"] == "image_url"] == [TWO.url, ONE.url]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "role"), [("no mark at all", "user"), (TEXT, "system"), (TEXT, "assistant")]
)
def test_other_messages_stay_texts(text: str, role: str) -> None:
    assert sent("openai", text, role) == text


def test_tokens_are_estimated_without_the_pictures_bytes() -> None:
    assert measure_prompt([{"role": "user", "content": sent("openai", TEXT)}]) < len(TEXT)  # type: ignore[dict-item]
