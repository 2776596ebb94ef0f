"""One OpenAI-compatible server: completions with retries, fallbacks of the request's form, and an immediate
stop.

This is the only layer of retries (the SDK's is off): at most MAX_TRIES tries of a completion (or as
`with_options` says) on 408, 409, 429, 5xx, timeouts and lost connections, with a random wait of up to 0.5 ·
2ⁿ seconds between them ("full jitter"), or as long as `Retry-After` asks when that is within `patience_s`.
Complaints about the form of a request (no JSON schema, no temperature ...) are answered with another form, at
most five times; they cost nothing, do not count as tries, and what worked is remembered for each model.

A server that fails all tries of a completion is left alone (`circuit_breaker`): then every completion fails
at once, but for one try a minute.

A call ends within `timeout_s`, with its connection, and at once when `checkpoint()` raises; the server may
bill it all the same.

`openai` costs about half a second and 40 MB to import, so it is imported when the first client is made."""

from __future__ import annotations

import copy
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from agent.errors import ModelUnavailable, PromptTooLong
from agent.llm import circuit_breaker, http_errors
from agent.llm.http import (
    ASSUMED_TOKENS,
    ask_context_length,
    explain_no_answer,
    identify_server,
    read_stated_limit,
)
from agent.llm.http_errors import ServerFault
from agent.llm.model import (
    Checkpoint,
    Completion,
    CompletionRequest,
    Tier,
    choose_model,
    measure_prompt,
    messages_to_text,
)
from agent.llm.request_options import RequestOptions
from agent.net.deadline import Deadline, NoAnswer, use_deadline
from agent.net.exchange import AnswerUnusable, Connections
from agent.net.httpx_transport import make_transport
from agent.net.policies import MODEL_REPLY
from agent.settings.key_addresses import OPENAI_URL

MAX_TRIES = 3
MAX_WAIT_S = 120.0
"""A server that asks for a longer wait is not waited for: the run goes on without it or pauses."""
POLL_S = 0.1
REFUSED_SHARE = 0.75
"""Of a prompt that was refused as too long, what is tried next: its tokens are more than were counted."""


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
        backoff_s: float = 0.5,
        context: int = 0,
    ) -> None:
        self.strong = strong
        self.fast, self.judge = fast or strong, judge
        self.server, self.local = identify_server(base_url)
        self._base_url, self._key = base_url or OPENAI_URL, key
        self._context, self._contexts, self._context_lock = context, dict[str, int](), threading.Lock()
        self._timeout_s, self._patience_s, self._backoff_s = timeout_s, min(patience_s, MAX_WAIT_S), backoff_s
        self._tries, self._first, self._extra = MAX_TRIES, RequestOptions(), dict[str, Any]()
        self._options_by_model: dict[str, RequestOptions] = {}
        self._lock = threading.Lock()
        self.breaker = circuit_breaker.find_breaker(self._base_url, key)
        import httpx2
        import openai

        connections = Connections([urlsplit(self._base_url).hostname or ""])
        http = httpx2.Client(trust_env=False, transport=make_transport(connections, MODEL_REPLY))
        self._sdk = openai.OpenAI(
            base_url=self._base_url, api_key=key or "none", max_retries=0, http_client=http
        )

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
        other._tries, other._first, other._extra = max(1, tries), RequestOptions(format=format), dict(extra)
        other._options_by_model, other._lock = {}, threading.Lock()
        return other

    def close(self) -> None:
        """Close the connections."""
        self._sdk.close()

    def complete(self, request: CompletionRequest) -> Completion:
        """One reply. Raises ModelUnavailable (why, and what to do), and what `checkpoint` raises, at once."""
        if not self.breaker.admit():
            raise ModelUnavailable(circuit_breaker.describe_outage(self.server))
        model = choose_model(self, request.tier)
        began, waited, tries = time.monotonic(), 0.0, 1
        with self._lock:
            options = self._options_by_model.get(model, self._first)
        arguments: dict[str, Any] = {"model": model, "messages": list(request.messages)}
        if self._extra:
            arguments["extra_body"] = self._extra
        while True:
            form = options.build_arguments(request.schema, request.max_tokens)
            try:
                completion = self._send(arguments | form, request.checkpoint)
                self.breaker.record(is_outage=False)
                break
            except ServerFault as fault:
                self.breaker.record(is_outage=fault.is_outage)
                if other := options.relax_after(fault.complaint):
                    options = other
                    continue
                if fault.is_too_long:  # so many tokens were too many
                    sent = measure_prompt(request.messages) + request.max_tokens
                    stated = read_stated_limit(fault.complaint)
                    with self._context_lock:
                        self._contexts[model] = stated if 0 < stated < sent else int(sent * REFUSED_SHARE)
                    raise PromptTooLong(http_errors.redact_keys(fault.sentence, self._key)) from None
                wait = self._compute_wait(tries + 1, fault, waited)
            _sleep_with_checkpoint(wait, request.checkpoint)
            waited, tries = waited + wait, tries + 1
        with self._lock:
            self._options_by_model[model] = options
        return replace(completion, seconds=time.monotonic() - began)

    def context_length(self, tier: Tier) -> int:
        """Tokens that a prompt and its reply may have together: as set, else as the server tells, at the
        first need, or has told by refusing a prompt."""
        model = choose_model(self, tier)
        with self._context_lock:
            if found := self._contexts.get(model) or self._context:
                return found
            if self.breaker.is_open:  # it is asked once a minute, and not for this
                return ASSUMED_TOKENS
            found, is_final = ask_context_length(self._base_url, self._key, model)
            if is_final:
                self._contexts[model] = found or ASSUMED_TOKENS
            return found or ASSUMED_TOKENS

    def _compute_wait(self, attempt: int, fault: ServerFault, waited: float) -> float:
        """Seconds to wait before try number `attempt`; raises ModelUnavailable when there is none."""
        sentence = http_errors.redact_keys(fault.sentence, self._key)
        if not fault.can_retry:
            raise ModelUnavailable(sentence)
        if attempt > self._tries:
            self.breaker.open_if_dead()
        elif self.breaker.is_open:
            raise ModelUnavailable(f"{sentence} {circuit_breaker.describe_outage(self.server)}")
        asked = fault.retry_after_s
        if asked is not None and asked > self._patience_s - waited:
            span = f"{asked / 60:.0f} minutes" if asked >= 90 else f"{asked:.0f} seconds"
            at = f"{datetime.now(UTC) + timedelta(seconds=asked):%H:%M} UTC"
            raise ModelUnavailable(f"{sentence} It asks to wait: try again in {span} (at {at}).")
        if attempt > self._tries:
            times = f"{self._tries} {'time' if self._tries == 1 else 'times'}"
            raise ModelUnavailable(f"{sentence} Tried {times}; try again later.")
        jitter = random.uniform(0, self._backoff_s * 2 ** (attempt - 2))
        return max(asked or 0.0, min(jitter, self._patience_s - waited))

    def _send(self, arguments: dict[str, Any], checkpoint: Checkpoint) -> Completion:
        """One HTTP call. Raises ServerFault, and what `checkpoint` raises."""
        import httpx2
        import openai

        try:
            with use_deadline(Deadline(self._timeout_s, checkpoint)):
                raw = self._sdk.chat.completions.with_raw_response.create(**arguments)
            body, kind = raw.text, raw.headers.get("content-type", "")
        except openai.APIStatusError as error:
            answer = error.response
            raise http_errors.explain_error_status(
                answer.status_code, answer.headers, answer.text, server=self.server, model=arguments["model"]
            ) from None
        except NoAnswer as why:
            late = f"gave no reply within {self._timeout_s:g} s (MODEL_TIMEOUT)"
            sentence = explain_no_answer(self.server, why, late, "OPENAI_BASE_URL")
            is_outage = not isinstance(why, AnswerUnusable)
            raise ServerFault(sentence, can_retry=True, is_outage=is_outage) from None
        except (openai.OpenAIError, httpx2.InvalidURL, ValueError, RuntimeError) as error:
            cause = type(error).__name__  # e.g. a key that no header can hold
            check = "Check OPENAI_API_KEY and OPENAI_BASE_URL."
            raise ServerFault(f"No request to {self.server} could be made ({cause}). {check}") from None
        prompt = messages_to_text(arguments["messages"])
        return http_errors.parse_completion(
            body, kind, server=self.server, prompt=prompt, model=arguments["model"]
        )


def _sleep_with_checkpoint(seconds: float, checkpoint: Checkpoint) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        checkpoint()
        time.sleep(min(left, POLL_S))
