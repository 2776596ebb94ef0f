"""One OpenAI-compatible server, asked with patience. It knows no role, no ledger and no price; a reply's text
is not read here.

There is one layer of retries, this one (the SDK's is off): at most TRIES tries of a completion (or as `tuned`
says) on 408, 409, 429, 5xx, timeouts and lost connections, with a random wait of up to 0.5 · 2ⁿ seconds
between them ("full jitter"), or as long as `Retry-After` asks when that is within `patience_s`. Complaints
about the form of a request (no JSON schema, no temperature ...) are answered with another form, at most five
times; they cost nothing, are not counted as tries, and what worked is remembered for each model.

Stop works at once: each HTTP call runs in a daemon thread of its own, and when `checkpoint()` raises, that
thread is abandoned. Its answer, if one still comes, is thrown away; the server may bill it all the same. The
same holds for a call that takes longer than `timeout_s` in all, however steadily it drips.

`openai` costs about half a second and 40 MB to import, so it is imported when the first client is made, not
with this module."""

from __future__ import annotations

import copy
import queue
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from agent.errors import ModelUnavailable
from agent.llm import http_errors
from agent.llm.http_errors import ServerFault
from agent.llm.model import MAX_TOKENS, Checkpoint, Completion, Message, Tier, messages_to_text
from agent.llm.request_options import RequestOptions

if TYPE_CHECKING:
    from openai import OpenAI

MAX_TRIES = 3
MAX_WAIT_S = 120.0
"""A server that asks for a longer wait is not waited for: the run goes on without it or rests."""
POLL_S = 0.1
OPENAI_URL = "https://api.openai.com/v1"


class ModelClient:
    """A server and the two models to ask there. Thread-safe: one for the whole process.

    `timeout_s`: seconds one HTTP call may take; `patience_s`: seconds one completion may spend waiting
    between its tries; `backoff_s`: the first wait's upper bound."""

    def __init__(
        self,
        base_url: str,
        *,
        strong: str,
        fast: str = "",
        key: str = "",
        timeout_s: float = 60.0,
        patience_s: float = MAX_WAIT_S,
        backoff_s: float = 0.5,
    ) -> None:
        self.strong = strong
        self.fast = fast or strong
        self.server, self.local = identify_server(base_url)
        self._key = key
        self._timeout_s, self._patience_s, self._backoff_s = timeout_s, min(patience_s, MAX_WAIT_S), backoff_s
        self._tries, self._first, self._extra = MAX_TRIES, RequestOptions(), dict[str, Any]()
        self._terms: dict[str, RequestOptions] = {}
        self._lock = threading.Lock()
        self._sdk = _create_sdk(base_url or OPENAI_URL, key, timeout_s)

    def __repr__(self) -> str:
        return f"Client({self.strong!r}, {self.fast!r}, at {self.server})"

    def with_models(self, strong: str, fast: str = "") -> ModelClient:
        """The same server with other models; connections and what was learnt about the server are shared."""
        other = copy.copy(self)
        other.strong, other.fast = strong, fast or strong
        return other

    def with_options(self, *, tries: int, format: str, extra: Mapping[str, Any]) -> ModelClient:
        """The same server asked in another way: `tries` of a completion in all, replies in `format` first
        (see request.Terms), and `extra` fields in every request's body."""
        other = copy.copy(self)
        other._tries, other._first, other._extra = max(1, tries), RequestOptions(format=format), dict(extra)
        other._terms, other._lock = {}, threading.Lock()
        return other

    def close(self) -> None:
        """Drops the connections; abandoned calls end with them."""
        self._sdk.close()

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tier: Tier,
        schema: type[BaseModel],
        checkpoint: Checkpoint,
        max_tokens: int = MAX_TOKENS,
    ) -> Completion:
        """One reply. Raises ModelUnavailable, saying why and what to do; what `checkpoint` raises passes
        through at once."""
        model = self.strong if tier == "strong" else self.fast
        began, waited, tries = time.monotonic(), 0.0, 1
        terms = self._known_options(model)
        request = {
            "model": model,
            "messages": list(messages),
            **({"extra_body": self._extra} if self._extra else {}),
        }
        while isinstance(
            got := self._send(request | terms.build_arguments(schema, max_tokens), checkpoint), ServerFault
        ):
            if other := terms.relax_after(got.complaint):
                terms = other
                continue
            wait = self._compute_wait(tries + 1, got, waited)
            _sleep_with_checkpoint(wait, checkpoint)
            waited, tries = waited + wait, tries + 1
        with self._lock:
            self._terms[model] = terms
        return replace(got, seconds=time.monotonic() - began)

    def _known_options(self, model: str) -> RequestOptions:
        with self._lock:
            return self._terms.get(model, self._first)

    def _compute_wait(self, attempt: int, fault: ServerFault, waited: float) -> float:
        """Seconds to wait before try number `attempt`; ModelUnavailable when there should be none."""
        sentence = self._redact_key(fault.sentence)
        if not fault.can_retry:
            raise ModelUnavailable(sentence)
        asked = fault.retry_after_s
        if asked is not None and asked > self._patience_s - waited:
            raise ModelUnavailable(f"{sentence} It asks to wait: try again {_format_wait(asked)}.")
        if attempt > self._tries:
            raise ModelUnavailable(
                f"{sentence} Tried {self._tries} {'time' if self._tries == 1 else 'times'}; try again later."
            )
        jitter = random.uniform(0, self._backoff_s * 2 ** (attempt - 2))
        return max(asked or 0.0, min(jitter, self._patience_s - waited))

    def _send(self, options: dict[str, Any], checkpoint: Checkpoint) -> Completion | ServerFault:
        """One HTTP call, in a thread that is left behind when `checkpoint` raises or the time is over."""
        checkpoint()
        box: queue.SimpleQueue[Completion | ServerFault] = queue.SimpleQueue()
        thread = threading.Thread(
            target=lambda: box.put(self._call_server(options)), name="model call", daemon=True
        )
        thread.start()
        deadline = time.monotonic() + self._timeout_s
        while time.monotonic() < deadline:
            try:
                return box.get(timeout=POLL_S)
            except queue.Empty:
                checkpoint()
            if not thread.is_alive() and box.empty():
                return ServerFault(
                    f"The call to {self.server} broke down inside this program; its log says where."
                )
        return self._timeout_fault()

    def _call_server(self, options: dict[str, Any]) -> Completion | ServerFault:
        import httpx2
        import openai

        try:
            raw = self._sdk.chat.completions.with_raw_response.create(**options)
            body, kind = raw.text, raw.headers.get("content-type", "")
        except openai.APIStatusError as error:
            answer = error.response
            return http_errors.explain_error_status(
                answer.status_code, answer.headers, answer.text, server=self.server, model=options["model"]
            )
        except (openai.APITimeoutError, httpx2.TimeoutException):
            return self._timeout_fault()
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
            return self._unreachable_fault(error)
        except (
            httpx2.InvalidURL,
            ValueError,
            RuntimeError,
        ) as error:  # a key no header can hold, a client that was closed
            cause = type(error).__name__
            return ServerFault(
                f"No request to {self.server} could be made ({cause}). Check OPENAI_API_KEY and OPENAI_BASE_URL."
            )
        return http_errors.parse_completion(
            body,
            kind,
            server=self.server,
            prompt=messages_to_text(options["messages"]),
            model=options["model"],
        )

    def _timeout_fault(self) -> ServerFault:
        return ServerFault(
            f"{self.server} gave no reply within {self._timeout_s:g} s (MODEL_TIMEOUT).", can_retry=True
        )

    def _unreachable_fault(self, error: Exception) -> ServerFault:
        cause = f"{type(error.__cause__ or error).__name__}: {error.__cause__ or error}"
        return ServerFault(
            f"{self.server} could not be reached ({cause}). Check OPENAI_BASE_URL and that it runs.",
            can_retry=True,
        )

    def _redact_key(self, sentence: str) -> str:
        """Servers repeat the key, or part of it, in their complaints."""
        return http_errors.redact_keys(sentence, self._key)


def identify_server(base_url: str) -> tuple[str, bool]:
    """A server's name for a person (host and port, nothing secret), and if it runs on this machine.
    ValueError if no address."""
    parts = urlsplit(base_url or OPENAI_URL)
    host = parts.hostname or ""
    if not host or parts.port == 0:
        raise ValueError("an address without a host")
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    return parts.netloc.rpartition("@")[2], local


def _create_sdk(base_url: str, key: str, timeout_s: float) -> OpenAI:
    import httpx2
    import openai

    # trust_env=False: a proxy named in the environment would take the calls to a server on this machine.
    timeout = httpx2.Timeout(timeout_s, connect=min(timeout_s, 10.0))
    http = httpx2.Client(trust_env=False, timeout=timeout, verify=_load_certificates())
    return openai.OpenAI(
        base_url=base_url, api_key=key or "none", timeout=timeout, max_retries=0, http_client=http
    )


@lru_cache(maxsize=1)
def _load_certificates() -> SSLContext:
    """The system's trusted certificates, read once: 20 ms for each client otherwise."""
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)


def _sleep_with_checkpoint(seconds: float, checkpoint: Checkpoint) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        checkpoint()
        time.sleep(min(left, POLL_S))


def _format_wait(seconds: float) -> str:
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    span = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"
    return f"in {span} (at {at:%H:%M} UTC)"
