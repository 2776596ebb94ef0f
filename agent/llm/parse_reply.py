"""Parses a model's raw text into a schema, or says why it does not fit. It mends slips of writing only.

The whole text must be one JSON object that validates. Only when the text is no JSON at all, thoughts
(`<think>…</think>` at its beginning) are removed and the rest is searched, outside of any braces, for the
first balanced object that validates; so fences and polite sentences around the object are accepted, and in
the object trailing commas, line breaks inside strings, and True, False and None for true, false and null. The
inside of an object that does not close is never read, so a truncated reply cannot pass for a whole one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent.errors import ModelReplyError

MAX_REPLY_CHARACTERS = 100_000
"""A reply of 4,096 tokens has some 16,000 characters; far more is a model that repeats itself. Every
third may be a fault of it, and each fault is a kilobyte."""
_THOUGHT = re.compile(r"\s*<(think|thinking)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OPENED_BY_TEMPLATE = re.compile(r"\A(?:(?!<think).)*?</(?:think|thinking)>", re.DOTALL | re.IGNORECASE)
"""Some servers put the opening `<think>` into the prompt, so that only the closing tag comes back."""
_SLIP = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])|\b(True|False|None)\b', re.DOTALL)
_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]|\\.)*(?:"|\Z)', re.DOTALL)

Shape = TypeVar("Shape", bound=BaseModel)


def parse_reply(text: str, shape: type[Shape]) -> Shape:
    """The reply as `shape`. Raises ModelReplyError with the problem, in words for the model and a person."""
    if not text.strip():
        raise ModelReplyError("The reply is empty.")
    if len(text) > MAX_REPLY_CHARACTERS:
        text = strip_thoughts(text)
    if len(text) > MAX_REPLY_CHARACTERS:
        limit = f"at most {MAX_REPLY_CHARACTERS:,} are read"
        raise ModelReplyError(f"The reply has {len(text):,} characters; {limit}.")
    text = text.lstrip("\ufeff").strip()
    try:
        return _read_object(text, shape)
    except ValueError as error:
        first = ModelReplyError(f"The reply holds no complete JSON object: {error}.")
    for n, candidate in enumerate(_balanced_objects(strip_thoughts(text))):
        try:
            return _read_object(_SLIP.sub(_mend_slip, candidate), shape, strict=False)
        except ModelReplyError as error:
            first = first if n else error
        except ValueError as error:
            first = first if n else ModelReplyError(f"The reply is not valid JSON: {error}.")
    raise first


def strip_thoughts(text: str) -> str:
    """The text without the thoughts at its beginning; empty when they never end."""
    while match := _THOUGHT.match(text):
        text = text[match.end() :]
    opened = _OPENED_BY_TEMPLATE.match(text)
    return text[opened.end() :] if opened else text


def _mend_slip(found: re.Match[str]) -> str:
    """A string as it is; no trailing comma; JSON's own word for Python's."""
    return found[1] or {"True": "true", "False": "false", "None": "null"}.get(found[2], "")


def _balanced_objects(text: str) -> Iterator[str]:
    """The balanced outermost `{…}` of a text, up to the first that does not close."""
    at = text.find("{")
    while at >= 0:
        depth = 0
        for match in _BRACE_OR_STRING.finditer(text, at):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if depth == 0:
                yield text[at : match.end()]
                at = text.find("{", match.end())
                break
        else:
            return


def _read_object(text: str, shape: type[Shape], *, strict: bool = True) -> Shape:
    """The JSON text as `shape`. Raises ValueError unless it is JSON by RFC 8259 (no NaN, no infinities), and
    ModelReplyError for what does not fit. Without `strict` strings may hold line breaks."""
    try:
        plain = json.dumps(json.loads(text, strict=strict), allow_nan=False)
        return shape.model_validate_json(plain)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        lines = [f"{'.'.join(map(str, fault['loc'])) or 'the reply'}: {fault['msg']}" for fault in faults]
        shown, rest = lines[:8], lines[8:]
        more = f" (and {len(rest)} more)" if rest else ""
        raise ModelReplyError(f"The reply does not fit the schema: {'; '.join(shown)}{more}.") from None
