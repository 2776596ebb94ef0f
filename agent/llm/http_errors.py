"""Reads a server's HTTP answer: the reply, or what went wrong and whether a retry may help."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agent.llm.model import Completion, estimate_tokens
from agent.llm.request_options import CONTEXT_OVERFLOW_PHRASES
from agent.text.json_text import parse_json
from agent.text.retry_after import parse_retry_after

_RETRY_STATUSES = (408, 409, 429)
_FINISH_REASONS = ("stop", "length", "content_filter", "tool_calls", "function_call", "refusal")
_UNCOUNTED_TOKENS = 50_000
"""What a server may count that is not seen here: thoughts, pictures, its own instructions."""
_NO_CREDIT_PHRASES = ("insufficient_quota", "billing_not_active", "credit balance")
_KEY_PATTERN = re.compile(r"\b(?:sk|pk|gsk|xai|AIza)[-_][\w*.…-]{6,}|\bBearer\s+\S+")
_MAX_QUOTED_CHARACTERS = 240


@dataclass(frozen=True)
class SettingNames:
    """The settings that a sentence about a server names."""

    url: str = "OPENAI_BASE_URL"
    key: str = "OPENAI_API_KEY"
    model: str = "MODEL"


CHAT_SETTINGS = SettingNames()


class ServerFault(Exception):
    """Why there is no reply, as a sentence for a person. `can_retry`: the same request may succeed later.

    `is_outage`: the server gave no answer, or failed (5xx). `complaint` is what the server says of a request
    it does not accept (400, 422): another form of it may do."""

    def __init__(
        self,
        sentence: str,
        *,
        can_retry: bool = False,
        retry_after_s: float | None = None,
        complaint: str = "",
        is_too_long: bool = False,
        is_outage: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.can_retry = can_retry
        self.retry_after_s = retry_after_s
        self.complaint = complaint
        self.is_too_long = is_too_long
        self.is_outage = is_outage


def parse_completion(body: str, content_type: str, *, server: str, prompt: str, model: str) -> Completion:
    """The reply in the body of a 200, `seconds` still 0. Raises ServerFault when it is none."""
    if "html" in content_type or body.lstrip().startswith("<"):
        check = "Check that OPENAI_BASE_URL ends where the API begins, often /v1."
        raise ServerFault(f"{server} answered with a web page, not a reply. {check}")
    try:
        data = parse_json(body)
    except ValueError:
        raise ServerFault(f"{server} answered with something that is not JSON.", can_retry=True) from None
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    choice = first if isinstance(first, dict) and isinstance(first.get("message"), dict) else None
    if choice is None:
        told = f"{server} answered, but not with a chat completion{_quote_message(_find_error_message(data))}"
        raise ServerFault(f"{told}. Check OPENAI_BASE_URL.")
    text, finish = _read_choice(choice)
    usage = data.get("usage") if isinstance(data.get("usage"), dict) else {}
    sent, got = estimate_tokens(prompt), estimate_tokens(text)
    asked = _read_token_count(usage.get("prompt_tokens"), sent)
    replied = _read_token_count(usage.get("completion_tokens"), got)
    return Completion(
        text=text,
        prompt_tokens=asked or sent,
        completion_tokens=(asked and replied) or got,
        seconds=0.0,
        model=model,
        finish_reason=finish,
        estimated=not (asked and replied),
    )


def explain_error_status(
    status: int,
    headers: Mapping[str, str],
    body: str,
    *,
    server: str,
    model: str,
    names: SettingNames = CHAT_SETTINGS,
) -> ServerFault:
    """The fault in an answer of 4xx or 5xx."""
    message = "a web page" if body.lstrip().startswith("<") else body.strip()
    with suppress(ValueError):
        message = _find_error_message(parse_json(body)) or message
    quoted = f"({status}){_quote_message(message)}."
    if status == 401:
        return ServerFault(f"{server} did not accept the key (401). Check {names.key}.")
    if status == 403:
        return ServerFault(f"{server} does not let this key use {model} {quoted} Check what the key may use.")
    if status == 404:
        check = f"Check {names.model} and {names.url}."
        return ServerFault(f"{server} has no model {model}, or no API at this address {quoted} {check}")
    if status == 402 or any(words in body for words in _NO_CREDIT_PHRASES):
        return ServerFault(f"The account at {server} has no credit left {quoted} Check its plan and billing.")
    if status in _RETRY_STATUSES or status >= 500:
        trouble = "has had too many requests for now" if status == 429 else "failed"
        wait = read_retry_after(headers)
        fault = f"{server} {trouble} {quoted}"
        return ServerFault(fault, can_retry=True, retry_after_s=wait, is_outage=status >= 500)
    if any(words in body.lower() for words in CONTEXT_OVERFLOW_PHRASES):
        sentence = f"The prompt is too long for {model} {quoted} Choose a model with a larger window."
        return ServerFault(sentence, complaint=message, is_too_long=True)
    complaint = message if status in (400, 422) else ""
    return ServerFault(f"{server} did not accept the request {quoted}", complaint=complaint)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait (`retry-after-ms`, or `Retry-After`); None when it does not say."""
    milliseconds = parse_retry_after(headers.get("retry-after-ms"))
    return milliseconds / 1000 if milliseconds is not None else parse_retry_after(headers.get("retry-after"))


def _read_choice(choice: dict[str, Any]) -> tuple[str, str]:
    """The reply's text and how it ended. Content may be a string, a list of parts, or nothing; the arguments
    of a function call go before it."""
    message = choice["message"]
    if isinstance(message.get("refusal"), str) and message["refusal"].strip():
        return message["refusal"], "refusal"
    calls = message.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls and isinstance(calls[0], dict) else {}
    function = first.get("function")
    content = function.get("arguments") if isinstance(function, dict) else None
    content = json.dumps(content) if isinstance(content, dict) else content
    if not (isinstance(content, str) and content):
        content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    finish = choice.get("finish_reason") or "stop"
    return content if isinstance(content, str) else "", finish if finish in _FINISH_REASONS else "other"


def _read_token_count(value: Any, own: int) -> int:
    """A server's count of tokens; 0 for none, and for one that our own count cannot explain."""
    return value if isinstance(value, int) and 0 < value <= 10 * own + _UNCOUNTED_TOKENS else 0


def _find_error_message(data: Any) -> str:
    """The message of an error body: {"error": {"message"}}, {"error"}, {"message"} or {"detail"}."""
    for name in ("error", "message", "detail"):
        if isinstance(data, dict) and data.get(name):
            return _find_error_message(data[name]) or str(data[name])
    return data if isinstance(data, str) else ""


def _quote_message(message: str) -> str:
    words = " ".join(message.split()).rstrip(".")
    if len(words) > _MAX_QUOTED_CHARACTERS:
        words = f"{words[:_MAX_QUOTED_CHARACTERS]}…"
    return f": {words}" if words else ""


def redact_keys(sentence: str, key: str) -> str:
    """The sentence without the key and what looks like one (servers show a part: "sk-abc***xyz")."""
    if len(key) >= 4:
        sentence = sentence.replace(key, "[key]")
    return _KEY_PATTERN.sub("[key]", sentence)
