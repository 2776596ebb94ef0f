"""Parses a model's raw text into a schema, or says why it does not fit. It mends slips of writing only.

The whole text must be one JSON object that validates. Only when the text is no JSON at all, thoughts
(`<think>…</think>` at its beginning) are removed and the rest is searched, outside of any braces, for the
first balanced object that validates; so fences and polite sentences around the object are accepted, and in
the object trailing commas, line breaks inside strings, and True, False and None for true, false and null. The
inside of an object that does not close is never read, so a truncated reply cannot pass for a whole one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from agent.errors import ModelReplyError

MAX_REPLY_CHARACTERS = 1_000_000
"""A reply of 4,096 tokens has some 16,000 characters; far more is a model that repeats itself."""
MAX_PARTS = 5_000
"""Each part of a reply may be a fault of it, and each fault is a kilobyte; a long report has some 500."""
_THOUGHT = re.compile(r"\s*<(think|thinking)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OPENED_BY_TEMPLATE = re.compile(r"\A(?:(?!<think).)*?</(?:think|thinking)>", re.DOTALL | re.IGNORECASE)
"""Some servers put the opening `<think>` into the prompt, so that only the closing tag comes back."""
_SLIP = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])|\b(True|False|None)\b', re.DOTALL)
_JSON_WORDS = {"True": "true", "False": "false", "None": "null"}
_BRACE_OR_STRING = re.compile(r'[{}]|"(?:[^"\\]|\\.)*(?:"|\Z)', re.DOTALL)

Shape = TypeVar("Shape", bound=BaseModel)


def parse_reply(text: str, shape: type[Shape]) -> Shape:
    """The reply as `shape`. Raises ModelReplyError with the problem, in words for the model and a person."""
    if not text.strip():
        raise ModelReplyError("The reply is empty.")
    if len(text) > MAX_REPLY_CHARACTERS:
        limit = f"at most {MAX_REPLY_CHARACTERS:,} are read"
        raise ModelReplyError(f"The reply has {len(text):,} characters; {limit}.")
    text = text.lstrip("\ufeff").strip()
    try:
        _check_strict_json(text)
    except ValueError as error:
        return _find_valid_object(text, shape, str(error))
    return _validate(text, shape)


def strip_thoughts(text: str) -> str:
    """The text without the thoughts at its beginning; empty when they never end."""
    while match := _THOUGHT.match(text):
        text = text[match.end() :]
    opened = _OPENED_BY_TEMPLATE.match(text)
    return text[opened.end() :] if opened else text


def _find_valid_object(text: str, shape: type[Shape], trouble: str) -> Shape:
    """The first balanced outermost object that validates; raises the first problem when there is none."""
    first: ModelReplyError | None = None
    for candidate in _balanced_objects(strip_thoughts(text)):
        try:
            # The text as strict JSON: without trailing commas, with escaped line breaks in strings, and
            # with JSON's own words for true, false and null. Raises ValueError when it is no JSON all the
            # same
            mended = _SLIP.sub(lambda found: found[1] or _JSON_WORDS.get(found[2], ""), candidate)
            return _validate(json.dumps(_check_strict_json(mended, strict=False)), shape)
        except ModelReplyError as error:
            first = first or error
        except ValueError as error:
            first = first or ModelReplyError(f"The reply is not valid JSON: {error}.")
    raise first or ModelReplyError(f"The reply holds no complete JSON object: {trouble}.")


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


def _validate(text: str, shape: type[Shape]) -> Shape:
    if (parts := text.count(",")) > MAX_PARTS:
        raise ModelReplyError(f"The reply has {parts:,} parts; at most {MAX_PARTS:,} are read.")
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        lines = [f"{'.'.join(map(str, fault['loc'])) or 'the reply'}: {fault['msg']}" for fault in faults]
        more = f" (and {len(lines) - 8} more)" if len(lines) > 8 else ""
        raise ModelReplyError(f"The reply does not fit the schema: {'; '.join(lines[:8])}{more}.") from None


def _check_strict_json(text: str, *, strict: bool = True) -> object:
    """The JSON value of a text. Raises ValueError unless it is one by RFC 8259, without NaN or infinities (of
    a key that is repeated the last value counts). Without `strict` strings may hold line breaks."""
    try:
        return json.loads(text, strict=strict, parse_constant=_parse_finite, parse_float=_parse_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parse_finite(digits: str) -> float:
    if not math.isfinite(value := float(digits)):
        problem = (
            f"the number {digits[:20]} is too large"
            if digits[-1].isdigit()
            else f"{digits} is no JSON number"
        )
        raise ModelReplyError(f"The reply is not usable: {problem}.")
    return value
