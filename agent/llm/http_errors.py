"""Reads a server's HTTP answer: the reply in it, or what went wrong and whether to try again. Sends nothing,
knows no SDK."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agent.llm.model import Completion, estimate_tokens
from agent.llm.request_options import CONTEXT_OVERFLOW_PHRASES

_RETRY_STATUSES = (408, 409, 429)
_NO_CREDIT_PHRASES = ("insufficient_quota", "billing_not_active", "credit balance")
_KEY_PATTERN = re.compile(r"\b(?:sk|pk|gsk|xai|AIza)[-_][\w*.…-]{6,}|\bBearer\s+\S+")
_MAX_QUOTED_CHARACTERS = 240


@dataclass(frozen=True)
class ServerFault:
    """Why there is no reply, as a sentence for a person; `again` says that the same request may succeed
    later."""

    sentence: str
    can_retry: bool = False
    retry_after_s: float | None = None
    complaint: str = ""
    """What the server said of a request that it would not take (400, 422): another form of it may do."""


def parse_completion(
    body: str, content_type: str, *, server: str, prompt: str, model: str
) -> Completion | ServerFault:
    """The reply in the body of a 200, with `seconds` still 0; a Fault when it is no chat completion."""
    if "html" in content_type or body.lstrip().startswith("<"):
        return ServerFault(
            f"{server} answered with a web page, not a reply. Check that OPENAI_BASE_URL ends where the API begins, often /v1."
        )
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return ServerFault(f"{server} answered with something that is not JSON.", can_retry=True)
    choice = _first_choice(data)
    if choice is None:
        return ServerFault(
            f"{server} answered, but not with a chat completion{_quote_message(_find_error_message(data))}. Check OPENAI_BASE_URL."
        )
    text, finish = _read_choice(choice)
    usage = data.get("usage") if isinstance(data.get("usage"), dict) else {}
    asked, replied = (_read_token_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return Completion(
        text=text,
        prompt_tokens=asked or estimate_tokens(prompt),
        completion_tokens=replied if asked else estimate_tokens(text),
        seconds=0.0,
        model=model,
        finish_reason=finish,
        estimated=not asked,
    )


def explain_error_status(
    status: int, headers: Mapping[str, str], body: str, *, server: str, model: str
) -> ServerFault:
    """The Fault in an answer of 4xx or 5xx."""
    said = _find_error_message(_parse_json(body)) or (
        "a web page" if body.lstrip().startswith("<") else body.strip()
    )
    told = _quote_message(said)
    if status == 401:
        return ServerFault(f"{server} did not accept the key (401). Check OPENAI_API_KEY.")
    if status == 403:
        return ServerFault(
            f"{server} does not let this key use {model} (403){told}. Check what the key may use."
        )
    if status == 404:
        return ServerFault(
            f"{server} has no model {model}, or no API at this address (404){told}. Check MODEL and OPENAI_BASE_URL."
        )
    if status == 402 or any(words in body for words in _NO_CREDIT_PHRASES):
        return ServerFault(
            f"The account at {server} has no credit left ({status}){told}. Check its plan and billing."
        )
    if status == 429:
        return ServerFault(
            f"{server} has had too many requests for now (429){told}.",
            can_retry=True,
            retry_after_s=parse_retry_after(headers),
        )
    if status in _RETRY_STATUSES or status >= 500:
        return ServerFault(
            f"{server} failed ({status}){told}.", can_retry=True, retry_after_s=parse_retry_after(headers)
        )
    if any(words in body.lower() for words in CONTEXT_OVERFLOW_PHRASES):
        return ServerFault(
            f"The prompt is too long for {model} ({status}){told}. Choose a model with a larger window.",
            complaint=said,
        )
    return ServerFault(
        f"{server} would not take the request ({status}){told}.",
        complaint=said if status in (400, 422) else "",
    )


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait (`retry-after-ms`, or `Retry-After` as seconds or a date); None when it
    does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            seconds = _seconds_until(value)
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _seconds_until(date: str) -> float:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    return (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp()


def _first_choice(data: Any) -> dict[str, Any] | None:
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) and isinstance(first.get("message"), dict) else None


def _read_choice(choice: dict[str, Any]) -> tuple[str, str]:
    """What the model said and how it ended. Content may be a string, a list of parts, or nothing; a
    function's arguments go before it."""
    message = choice["message"]
    if isinstance(message.get("refusal"), str) and message["refusal"].strip():
        return _replace_surrogates(message["refusal"]), "refusal"
    content = _read_function_arguments(message) or message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    finish = choice.get("finish_reason")
    return _replace_surrogates(content if isinstance(content, str) else ""), finish if isinstance(
        finish, str
    ) else "stop"


def _read_function_arguments(message: dict[str, Any]) -> str:
    """The arguments of the function that was called, as JSON text; "" when none was."""
    calls = message.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls and isinstance(calls[0], dict) else {}
    function = first.get("function")
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return (
        json.dumps(arguments)
        if isinstance(arguments, dict)
        else arguments
        if isinstance(arguments, str)
        else ""
    )


def _replace_surrogates(text: str) -> str:
    """Half a surrogate pair cannot be stored or sent on."""
    return text.encode("utf-8", "replace").decode()


def _read_token_count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _parse_json(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _find_error_message(data: Any) -> str:
    """The message of an error body, in the forms that servers use: {"error": {"message"}}, {"error"},
    {"message"}, {"detail"}."""
    for name in ("error", "message", "detail"):
        if isinstance(data, dict) and data.get(name):
            return _find_error_message(data[name]) or str(data[name])
    return data if isinstance(data, str) else ""


def _quote_message(said: str) -> str:
    words = re.sub(r"\s+", " ", said).strip().rstrip(".")
    return (
        f": {words if len(words) <= _MAX_QUOTED_CHARACTERS else words[:_MAX_QUOTED_CHARACTERS] + '…'}"
        if words
        else ""
    )


def redact_keys(sentence: str, key: str) -> str:
    """The sentence without the key and without what looks like one ("sk-abc***xyz": servers show a part of
    it)."""
    if len(key) >= 4:
        sentence = sentence.replace(key, "[key]")
    return _KEY_PATTERN.sub("[key]", sentence)
