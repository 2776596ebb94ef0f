"""The form of a request beside its messages, and the next form when a server complains.

Servers differ in what they accept: a JSON schema, a function call, only "some JSON", or none of it; a
temperature or not; the limit of the reply under one of two names. The first request has all of it, and each
complaint removes one thing; the client remembers what worked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

CONTEXT_OVERFLOW_PHRASES = (
    *("context length", "context_length", "context window", "context size"),
    *("too many tokens", "maximum prompt length", "prompt is too long"),
)
"""How servers say that prompt and reply together are too long for the model."""
_FORMAT_COMPLAINTS = (
    *("response_format", "json_schema", "json_object", "json mode", "schema"),
    *("structured output", "grammar", "guided"),
)
_FUNCTION_COMPLAINTS = ("tool", "function")
_NEXT_FORMAT = {"json_schema": "json_object", "function_calling": "json_object", "json_object": "plain"}
_INVALID_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_MAPS = ("properties", "$defs")
"""Here the keys are names (a field may be called "title"), not words of the schema language."""
_DROPPED_KEYS = ("default", "title", "discriminator")


@dataclass(frozen=True)
class RequestOptions:
    """The response format, whether a temperature is sent, and the name of the reply's limit."""

    format: str = "json_schema"
    """"json_schema", "function_calling" (the reply is the arguments of a required call), "json_object" or
    "plain"."""
    temperature: bool = True
    limit: str = "max_tokens"
    """"max_tokens", "max_completion_tokens", or empty: no limit is sent."""

    def build_arguments(self, schema: type[BaseModel], max_tokens: int) -> dict[str, Any]:
        """The arguments of a chat completion in this form."""
        options: dict[str, Any] = {}
        if self.temperature:
            options["temperature"] = 0
        if self.limit:
            options[self.limit] = max_tokens
        form = build_strict_schema(schema)
        name = {"name": _INVALID_NAME_CHARACTERS.sub("_", schema.__name__)[:64]}
        if self.format == "json_schema":
            described = name | {"schema": form, "strict": _is_closed(form)}
            options["response_format"] = {"type": "json_schema", "json_schema": described}
        elif self.format == "function_calling":
            described = name | {"description": "Takes the whole reply.", "parameters": form}
            described["strict"] = _is_closed(form)
            options["tools"] = [{"type": "function", "function": described}]
            options["tool_choice"] = {"type": "function", "function": name}
        elif self.format == "json_object":
            options["response_format"] = {"type": "json_object"}
        return options

    def relax_after(self, complaint: str) -> RequestOptions | None:
        """The form to try after a complaint; None when another form would not help."""
        said = complaint.lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if any(words in said for words in CONTEXT_OVERFLOW_PHRASES):
            return replace(self, limit="") if self.limit else None
        words = _FUNCTION_COMPLAINTS if self.format == "function_calling" else _FORMAT_COMPLAINTS
        if self.format in _NEXT_FORMAT and any(word in said for word in words):
            return replace(self, format=_NEXT_FORMAT[self.format])
        return None


@lru_cache(maxsize=64)
def build_strict_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a reply for strict servers: every object closed, every field required, no defaults.
    Do not change the result: it is cached."""
    closed = _make_strict(shape.model_json_schema())
    return closed if isinstance(closed, dict) else {}


def describe_shape(shape: type[BaseModel]) -> str:
    """The form of a reply: its fields with their types, and in brackets what each is for. Half as long as the
    schema, which only adds that all fields are required and that there are no others."""
    schema = build_strict_schema(shape)
    return _describe_node(schema, schema.get("$defs", {}))


def _describe_node(node: dict[str, Any], known: dict[str, Any]) -> str:
    if "$ref" in node:
        return _describe_node(known[node["$ref"].rsplit("/", 1)[-1]], known)
    if "properties" in node:
        fields = (f'"{name}": {_describe_node(field, known)}' for name, field in node["properties"].items())
        text = f"{{{', '.join(fields)}}}"
    elif "items" in node:
        text = f"[{_describe_node(node['items'], known)}, …]"
    else:
        options = [_describe_node(option, known) for option in node.get("anyOf", [])]
        text = " | ".join([*map(json.dumps, node.get("enum", [])), *options]) or str(node.get("type", "any"))
    text += f" {node['minimum']:g} to {node['maximum']:g}" if {"minimum", "maximum"} <= set(node) else ""
    return f"{text} ({node['description']})" if "description" in node else text


def _make_strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_make_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # strict servers refuse anything beside a reference
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key in _NAME_MAPS:
            made[key] = {name: _make_strict(schema) for name, schema in value.items()}
        elif key not in _DROPPED_KEYS:
            made["anyOf" if key == "oneOf" else key] = _make_strict(value)
    if "properties" in made:
        made.pop("description", None)  # the docstring of a class; what a field is for stands at the field
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    return made


def _is_closed(node: Any) -> bool:
    """Whether a strict server accepts the schema: it holds no object with arbitrary keys (a dict)."""
    if isinstance(node, list):
        return all(_is_closed(item) for item in node)
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        return False
    return all(_is_closed(value) for value in node.values())
