"""One OpenAI-compatible server: completions with fallbacks of the request's form, and an immediate stop; and
how many tokens its models take.

A complaint about the form of a request (no JSON schema, no temperature ...) is answered with another form,
and what worked is remembered for each model. A call ends within `timeout_s`, with its connection, and at once
when `checkpoint()` raises; the server may bill it all the same."""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any

from agent.errors import PromptTooLong
from agent.llm.model import (
    ASSUMED_TOKENS,
    Completion,
    CompletionRequest,
    Tier,
    choose_model,
    estimate_tokens,
    measure_prompt,
)
from agent.llm.request_options import RequestOptions
from agent.llm.server import (
    BACKOFF_S,
    MAX_WAIT_S,
    ModelServer,
    Patience,
    ServerFault,
    find_error_message,
    identify_server,
    quote_message,
    request_json,
)
from agent.net.deadline import Deadline, NoAnswer
from agent.net.policies import MODEL_LIST, MODEL_REPLY

REFUSED_SHARE = 0.75
"""Of a prompt that was refused as too long, what is tried next: its tokens are more than were counted."""
OLLAMA_TOKENS = 4_096
"""What Ollama gives a model on a machine with less than 24 GiB of video memory (its documentation, 2026)."""
_LENGTH_FIELDS = (
    *("loaded_context_length", "max_model_len", "context_length", "context_window", "n_ctx"),
    *("max_context_length", "max_input_tokens"),
)
"""Fields of a listed model (LM Studio, vLLM, OpenRouter, Groq, llama.cpp, Mistral, LiteLLM), best first."""
_UNCOUNTED_TOKENS = 50_000
"""What a server may count that is not seen here: thoughts, pictures, its own instructions."""


class ModelClient:
    """A server and its two models. Thread-safe: one for the whole process.

    `timeout_s`: seconds of one HTTP call; `patience_s`: seconds one completion may wait between its tries;
    `backoff_s`: most of the first wait; `context`: tokens of a prompt with its reply, 0: ask the server."""

    def __init__(
        self,
        base_url: str,
        *,
        strong: str,
        fast: str = "",
        judge: str = "",
        key: str = "",
        timeout_s: float = MODEL_REPLY.seconds,
        patience_s: float = MAX_WAIT_S,
        backoff_s: float = BACKOFF_S,
        context: int = 0,
    ) -> None:
        self.strong, self.fast, self.judge = strong, fast or strong, judge
        self._server = ModelServer(base_url, key, MODEL_REPLY, "OPENAI")
        self.server, self.local, self.breaker = self._server.name, self._server.local, self._server.breaker
        self.account, self.format = (self._server.url, self.server, key), ""
        self._context, self._contexts, self._context_lock = context, dict[str, int](), threading.Lock()
        self._patience = Patience(timeout_s, wait_s=min(patience_s, MAX_WAIT_S), backoff_s=backoff_s)
        self._first, self._extra = RequestOptions(), dict[str, Any]()
        self._options_by_model: dict[str, RequestOptions] = {}

    def __repr__(self) -> str:
        return f"ModelClient({self.strong!r}, {self.fast!r}, at {self.server})"

    def with_models(self, strong: str, fast: str = "") -> ModelClient:
        """The same server with other models; connections and what was learnt about the server are shared."""
        other = copy.copy(self)
        other.strong, other.fast = strong, fast or strong
        return other

    def with_options(self, *, tries: int, format: str, extra: Mapping[str, Any]) -> ModelClient:
        """The same server with other options: `tries` of a completion in all, replies first in `format` (see
        RequestOptions), and `extra` fields in every request's body."""
        other = copy.copy(self)
        other._patience = replace(self._patience, tries=tries)
        other._first, other._extra = RequestOptions(format=format), dict(extra)
        other._options_by_model = {}
        return other

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    def complete(self, request: CompletionRequest) -> Completion:
        """One reply. Raises ModelUnavailable (why, and what to do), and what `checkpoint` raises, at once."""
        model, began = choose_model(self, request.tier), time.monotonic()
        options = self._options_by_model.get(model, self._first)
        arguments: dict[str, Any] = {"model": model, "messages": list(request.messages)}
        if self._extra:
            arguments["extra_body"] = self._extra
        while True:
            form = arguments | options.build_arguments(request.schema, request.max_tokens)
            try:
                completion = self._server.ask(
                    lambda sdk, form=form: sdk.chat.completions.with_raw_response.create(**form),  # type: ignore[misc]
                    partial(parse_completion, server=self.server, arguments=arguments),
                    model=model,
                    what=f"reply within {self._patience.timeout_s:g} s (MODEL_TIMEOUT)",
                    patience=self._patience,
                    checkpoint=request.checkpoint,
                )
            except ServerFault as fault:
                if fault.is_too_long:  # so many tokens were too many
                    sent = measure_prompt(request.messages) + request.max_tokens
                    with self._context_lock:
                        self._contexts[model] = int(sent * REFUSED_SHARE)
                    raise PromptTooLong(fault.sentence) from None
                if (other := options.relax_after(fault.complaint)) is None:
                    raise
                options = other
                continue
            self._options_by_model[model], self.format = options, options.format
            return replace(completion, seconds=time.monotonic() - began)

    def context_length(self, tier: Tier) -> int:
        """Tokens of a prompt with its reply: as set, else as the server tells, asked or refusing."""
        model = choose_model(self, tier)
        with self._context_lock:
            if found := self._contexts.get(model) or self._context:
                return found
            if self.breaker.is_open:  # it is asked once a minute, and not for this
                return ASSUMED_TOKENS
            found, is_final = ask_context_length(self._server.url, self._server.key, model)
            if is_final:
                self._contexts[model] = found or ASSUMED_TOKENS
            return found or ASSUMED_TOKENS


def parse_completion(data: Any, *, server: str, arguments: Mapping[str, Any]) -> Completion:
    """The reply to these arguments in a server's answer, `seconds` still 0. Raises ServerFault for none."""
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        told = f"{server} answered, but not with a chat completion{quote_message(find_error_message(data))}"
        raise ServerFault(f"{told}. Check OPENAI_BASE_URL.")
    text, finish = _read_choice(first)
    usage = data.get("usage") if isinstance(data.get("usage"), dict) else {}
    sent, got = measure_prompt(arguments["messages"]), estimate_tokens(text)
    asked = _read_token_count(usage.get("prompt_tokens"), sent)
    replied = _read_token_count(usage.get("completion_tokens"), got)
    return Completion(
        text=text,
        prompt_tokens=asked or sent,
        completion_tokens=(asked and replied) or got,
        seconds=0.0,
        model=arguments["model"],
        finish_reason=finish,
        estimated=not (asked and replied),
    )


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
    is_known = finish in ("stop", "length", "content_filter", "tool_calls", "function_call", "refusal")
    return content if isinstance(content, str) else "", finish if is_known else "other"


def _read_token_count(value: Any, own: int) -> int:
    """A server's count of tokens; 0 for none, and for one that our own count cannot explain."""
    return value if isinstance(value, int) and 0 < value <= 10 * own + _UNCOUNTED_TOKENS else 0


def ask_context_length(base_url: str, key: str, model: str) -> tuple[int, bool]:
    """The tokens that a model takes, prompt and reply together, 0 where its server does not tell, and whether
    that stands: a model that is not loaded yet may get another length. Quick, and never raises.

    OpenAI's protocol has no field for it; servers add their own to `GET /models`, or tell it at an address of
    their own, where a local server is asked, too: LM Studio (`/api/v0/models`), llama.cpp (`/props`), Ollama
    (`/api/ps`). What a server has loaded counts, not what the model was trained for."""
    deadline = Deadline(MODEL_LIST.seconds)

    def ask(address: str) -> dict[str, Any]:
        try:
            status, data = request_json(address, key=key, deadline=deadline)
        except NoAnswer:
            return {}
        return data if status == HTTPStatus.OK and isinstance(data, dict) else {}

    base = base_url.rstrip("/")
    root, names = base.removesuffix("/v1"), (model, f"{model}:latest")
    if found := _find_length(ask(f"{base}/models"), names):
        return found, True
    if not identify_server(base, "OPENAI_BASE_URL")[1]:
        return 0, True
    for path in ("/api/v0/models", "/props", "/api/ps"):
        if found := _find_length(answer := ask(f"{root}{path}"), names):
            return found, True
    is_ollama = isinstance(answer.get("models"), list)  # some servers answer any address
    return (OLLAMA_TOKENS, False) if is_ollama else (0, True)


def _find_length(data: dict[str, Any], names: tuple[str, ...]) -> int:
    listed = data.get("data", data.get("models"))
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    own = [item for item in items if item.get("id", item.get("model")) in names]
    for told in (data.get("default_generation_settings"), *own, *(item.get("meta") for item in own)):
        values = [told.get(name) for name in _LENGTH_FIELDS] if isinstance(told, dict) else []
        for value in values:
            if isinstance(value, int) and value > 0:
                return value
    return 0
