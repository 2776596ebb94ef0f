"""The form of a request beside its messages, and the next form when a server complains.

Servers differ in what they accept: a JSON schema, a function call, only "some JSON", or none of it; a
temperature or not; the limit of the reply under one of two names. The first request has all of it, and each
complaint removes one thing; the client remembers what worked."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

_FORMAT_COMPLAINTS = (
    *("response_format", "json_schema", "json_object", "json mode", "schema"),
    *("structured output", "grammar", "guided", "tool", "function"),
)
_NEXT_FORMAT = {"json_schema": "json_object", "function_calling": "json_object", "json_object": "plain"}


@dataclass(frozen=True)
class RequestOptions:
    """The response format, whether a temperature is sent, and the name of the reply's limit."""

    format: str = "json_schema"
    """"json_schema", "function_calling" (the reply is the arguments of a required call), "json_object" or
    "plain"."""
    temperature: bool = True
    limit: str = "max_tokens"
    """"max_tokens", or "max_completion_tokens"."""

    def build_arguments(self, schema: type[BaseModel], max_tokens: int) -> dict[str, Any]:
        """The arguments of a chat completion in this form."""
        options: dict[str, Any] = {self.limit: max_tokens}
        if self.temperature:
            options["temperature"] = 0
        name = {"name": schema.__name__, "strict": True}
        if self.format == "json_schema":
            described = name | {"schema": build_strict_schema(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": described}
        elif self.format == "function_calling":
            described = name | {"parameters": build_strict_schema(schema)}
            options["tools"] = [{"type": "function", "function": described}]
            options["tool_choice"] = {"type": "function", "function": {"name": schema.__name__}}
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
        if self.format in _NEXT_FORMAT and any(word in said for word in _FORMAT_COMPLAINTS):
            return replace(self, format=_NEXT_FORMAT[self.format])
        return None


@lru_cache(maxsize=64)
def build_strict_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a reply for strict servers: every object closed, every field required, no defaults.
    Do not change the result: it is cached."""
    closed = _make_strict(shape.model_json_schema())
    return closed if isinstance(closed, dict) else {}


def describe_shape(node: dict[str, Any], known: dict[str, Any] | None = None) -> str:
    """The form of a reply by its strict schema: its fields with their types, in brackets what each is for.
    It is half as long as the schema, which only adds that all fields are required and that there are no
    others. `known`: the definitions that it refers to."""
    known = known or node.get("$defs", {})
    if "$ref" in node:
        return describe_shape(known[node["$ref"].rsplit("/", 1)[-1]], known)
    if "properties" in node:
        fields = (f'"{name}": {describe_shape(field, known)}' for name, field in node["properties"].items())
        text = f"{{{', '.join(fields)}}}"
    elif "items" in node:
        text = f"[{describe_shape(node['items'], known)}, …]"
    else:
        options = [describe_shape(option, known) for option in node.get("anyOf", [])]
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
        if key in ("properties", "$defs"):  # its keys are names: a field may be called "title"
            made[key] = {name: _make_strict(schema) for name, schema in value.items()}
        elif key not in ("default", "title"):
            made[key] = _make_strict(value)
    if "properties" in made:
        made.pop("description", None)  # the docstring of a class; what a field is for stands at the field
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    return made
