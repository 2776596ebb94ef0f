"""What is asked of a server: the strict schema, and what is given up for which complaint."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from agent.llm.request_options import RequestOptions, build_strict_schema, describe_shape


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    title: str = ""


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Zoo(BaseModel):
    """Animals."""

    title: str = Field(default="none", description="what it is called")
    default: int = 1
    best: Cat | None = Field(None, description="beside a reference")
    animals: list[Cat | Dog] = []


def objects(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for item in node for found in objects(item)]
    if not isinstance(node, dict):
        return []
    inner = [found for value in node.values() for found in objects(value)]
    return [node, *inner] if node.get("type") == "object" else inner


def test_every_object_is_closed_and_every_field_required():
    form = build_strict_schema(Zoo)
    assert form["required"] == ["title", "default", "best", "animals"]
    found = objects(form)
    assert len(found) == 3
    for item in found:
        assert item["additionalProperties"] is False and item["required"] == list(item["properties"])


def test_what_strict_servers_refuse_is_left_out():
    spelt = repr(build_strict_schema(Zoo))
    assert "'default': 'none'" not in spelt
    assert build_strict_schema(Zoo)["properties"]["title"] == {
        "type": "string",
        "description": "what it is called",
    }


@pytest.mark.parametrize(
    ("complaint", "after"),
    [
        ("'response_format.type' must be 'json_object'", RequestOptions(format="json_object")),
        ("failed to parse grammar", RequestOptions(format="json_object")),
        ("Invalid schema for response_format 'Zoo'", RequestOptions(format="json_object")),
        (
            "Use 'max_completion_tokens' instead of 'max_tokens'",
            RequestOptions(limit="max_completion_tokens"),
        ),
        ("temperature does not support 0", RequestOptions(temperature=False)),
        ("the model is sad", None),
        ("", None),
    ],
)
def test_one_thing_is_given_up_for_each_complaint(complaint: str, after: RequestOptions | None):
    assert RequestOptions().relax_after(complaint) == after


def test_a_function_may_carry_the_reply():
    terms = RequestOptions(format="function_calling")
    options = terms.build_arguments(Dog, 50)
    [tool] = options["tools"]
    assert options["tool_choice"] == {"type": "function", "function": {"name": tool["function"]["name"]}}
    assert tool["function"]["parameters"] == build_strict_schema(Dog) and "response_format" not in options
    assert terms.relax_after("'tools' is not supported by this model").format == "json_object"


def test_the_form_of_a_reply_is_told_in_fewer_words_than_its_schema():
    class Item(BaseModel):
        kind: Literal["cat", "dog"]
        legs: int | None = None

    class Reply(BaseModel):
        items: list[Item] = Field(description="all of them")
        share: float = Field(ge=0, le=1)

    assert describe_shape(build_strict_schema(Reply)) == (
        '{"items": [{"kind": "cat" | "dog", "legs": integer | null}, …] (all of them), "share": number 0 to 1}'
    )
