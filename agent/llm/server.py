"""A server of models that speaks OpenAI's protocol: its name for a person, requests to it, why there is no
answer, how often it is asked, and when it is left alone.

The retries are our own, because the SDK's cannot be stopped while they wait: on 408, 409, 429, 5xx, timeouts
and lost connections, after a random wait ("full jitter"), or as long as `Retry-After` asks. No sentence ever
holds a key. `openai` costs about half a second and 40 MB to import, so it is imported for
the first request; looking for a server goes without it (`request_json`)."""

from __future__ import annotations

import math
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit
from weakref import WeakValueDictionary

from urllib3.util import make_headers

from agent.errors import ModelUnavailable
from agent.net.deadline import POLL_SECONDS, Deadline, DeadlineExceeded, NoAnswer, use_deadline
from agent.net.exchange import AnswerUnusable, Connections, make_transport, parse_json, parse_retry_after
from agent.net.policies import MODEL_LIST, Policy
from agent.settings.key_addresses import OPENAI_URL
from agent.text.plurals import format_count

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

_REFUSALS = {
    401: "{server} did not accept the key (401). Check {key}.",
    402: "The account at {server} has no credit left {said} Check its plan and billing.",
    403: "{server} does not let this key use {model} {said} Check what the key may use.",
    404: "{server} has no model {model}, or no API there {said} Check {setting} and {url}.",
    413: "The prompt is too long for {model} {said} Choose a model with a larger window.",
    429: "{server} has had too many requests for now {said}",
}
_RETRY_STATUSES, _FORM_STATUSES = (408, 409, 429), (400, 422)
_OVERFLOW_PHRASES = (
    *("context length", "context_length", "context window", "context size"),
    *("too many tokens", "maximum prompt length", "prompt is too long"),
)
"""How servers say that prompt and reply together are too long for the model."""
_KEY_PATTERN = re.compile(r"\b(?:sk|pk|gsk|xai|AIza)[-_][\w*.…-]{6,}|\bBearer\s+\S+")
_MAX_QUOTED_CHARACTERS = 240
MAX_TRIES = 3
"""Of one request; and so many tries in a row, over all runs, fail before a server counts as dead."""
BACKOFF_S, MAX_WAIT_S = 0.5, 120.0
"""Most of the first wait between two tries, and of all together. A server that asks for a longer wait is not
waited for: the run goes on without it or pauses."""
PROBE_S = 60.0
"""Seconds between two requests to a dead server."""


@dataclass(eq=False)
class ServerFault(ModelUnavailable):
    """Why there is no reply, as a sentence for a person. `can_retry`: the same request may succeed later;
    `is_outage`: the server gave no answer, or failed (5xx)."""

    sentence: str
    can_retry: bool = False
    is_outage: bool = False
    retry_after_s: float = 0.0
    is_too_long: bool = False
    complaint: str = ""
    """What the server says of a request it does not accept (400, 422): another form of it may do."""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Patience:
    """How long an answer may be waited for. A try has `timeout_s` seconds; all waits between the tries
    together take at most `wait_s`, the first one at most `backoff_s`, if the server does not ask for more."""

    timeout_s: float
    tries: int = MAX_TRIES
    wait_s: float = MAX_WAIT_S
    backoff_s: float = BACKOFF_S


class ModelServer:
    """A server and the account of a key there, asked by OpenAI's library over our own connections.
    `settings` begins the names of the settings that sentences about it name: "OPENAI" or "EMBEDDING"."""

    def __init__(self, base_url: str, key: str, policy: Policy, settings: str) -> None:
        self.url, self.key = base_url or OPENAI_URL, key
        named = "MODEL" if settings == "OPENAI" else f"{settings}_MODEL"
        self._settings = {"url": f"{settings}_BASE_URL", "key": f"{settings}_API_KEY", "setting": named}
        self.name, self.local = identify_server(self.url, self._settings["url"])
        with _breakers_lock:
            self.breaker = _breakers.setdefault((self.url, key, policy.purpose), CircuitBreaker())
        self._policy = policy

    @cached_property
    def _sdk(self) -> openai.OpenAI:
        import httpx2
        import openai

        connections = Connections([urlsplit(self.url).hostname or ""])
        http = httpx2.Client(trust_env=False, transport=make_transport(connections, self._policy))
        return openai.OpenAI(base_url=self.url, api_key=self.key or "none", max_retries=0, http_client=http)

    def close(self) -> None:
        """Close the connections."""
        self._sdk.close()

    def ask(
        self,
        request: Callable[[openai.OpenAI], Any],
        read: Callable[[Any], T],
        *,
        model: str,
        what: str,
        patience: Patience,
        checkpoint: Callable[[], None] = lambda: None,
    ) -> T:
        """What `read` makes of the JSON of the answer (it may raise ServerFault); `what` is asked for, and in
        which time. Raises ModelUnavailable, as ServerFault where the server does not accept this request, and
        what `checkpoint` raises."""
        if not self.breaker.admit():
            raise ModelUnavailable(describe_outage(self.name))
        waited, tried = 0.0, 0
        while True:
            tried += 1
            try:
                with use_deadline(Deadline(patience.timeout_s, checkpoint)):
                    answer = self._ask_once(request, read, model, f"gave no {what}")
                self.breaker.record(is_outage=False)
                return answer
            except ServerFault as fault:
                is_last = fault.can_retry and tried >= patience.tries
                self.breaker.record(is_outage=fault.is_outage, is_last=is_last)
                if not fault.can_retry:
                    raise
                asked, left = fault.retry_after_s, patience.wait_s - waited
                if asked > left:
                    at = datetime.now(UTC) + timedelta(seconds=asked)
                    why = f"It asks to wait: try again at {at:%H:%M:%S} UTC."
                elif is_last:
                    why = f"Tried {format_count(tried, 'time')}; try again later."
                else:
                    why = describe_outage(self.name) if self.breaker.is_open else ""
                if why:
                    raise ModelUnavailable(f"{fault} {why}") from None
                jitter = random.uniform(0, patience.backoff_s * 2 ** (tried - 1))
            wait = max(asked, min(jitter, left))
            waited += wait
            sleep_with_checkpoint(wait, checkpoint)

    def _ask_once(
        self, request: Callable[[openai.OpenAI], Any], read: Callable[[Any], T], model: str, late: str
    ) -> T:
        """Raises ServerFault, and what the checkpoint of the deadline raises."""
        import httpx2
        import openai

        try:
            answer = request(self._sdk)
            if "html" in answer.headers.get("content-type", "") or answer.text.lstrip().startswith("<"):
                check = f"Check that {self._settings['url']} ends where the API begins, often /v1."
                raise ServerFault(f"{self.name} answered with a web page, not a reply. {check}")
            try:
                data = parse_json(answer.text)
            except ValueError:
                told = f"{self.name} answered with something that is not JSON."
                raise ServerFault(told, can_retry=True) from None
            return read(data)
        except openai.APIStatusError as error:
            fault = self._explain_status(error, model)
        except NoAnswer as why:
            sentence = explain_no_answer(self.name, why, late, self._settings["url"])
            fault = ServerFault(sentence, can_retry=True, is_outage=not isinstance(why, AnswerUnusable))
        except ServerFault as odd:
            fault = odd
        except (openai.OpenAIError, httpx2.InvalidURL, ValueError, RuntimeError) as error:
            cause = type(error).__name__  # e.g. a key that no header can hold
            check = f"Check {self._settings['key']} and {self._settings['url']}."
            fault = ServerFault(f"No request to {self.name} could be made ({cause}). {check}")
        fault.sentence = redact_keys(fault.sentence, self.key)
        raise fault from None

    def _explain_status(self, error: openai.APIStatusError, model: str) -> ServerFault:
        """The fault in an answer of 4xx or 5xx."""
        kind, message, text = error.status_code, find_error_message(error.body), error.response.text.lower()
        is_outage, is_form = kind >= HTTPStatus.INTERNAL_SERVER_ERROR, kind in _FORM_STATUSES
        can_retry = is_outage or kind in _RETRY_STATUSES
        said = f"({kind}){quote_message(message)}."
        if any(words in text for words in ("insufficient_quota", "billing_not_active", "credit balance")):
            kind, can_retry = HTTPStatus.PAYMENT_REQUIRED, False
        elif not can_retry and any(words in text for words in _OVERFLOW_PHRASES):
            kind = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        usual = "{server} failed {said}" if can_retry else "{server} did not accept the request {said}"
        told = _REFUSALS.get(kind, usual)
        return ServerFault(
            told.format(server=self.name, model=model, said=said, **self._settings),
            can_retry=can_retry,
            is_outage=is_outage,
            retry_after_s=parse_retry_after(error.response.headers.get("retry-after")) or 0.0,
            is_too_long=kind == HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            complaint=message if is_form else "",
        )


def sleep_with_checkpoint(seconds: float, checkpoint: Callable[[], None]) -> None:
    """Sleep, and call `checkpoint` often meanwhile."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        checkpoint()
        time.sleep(min(left, POLL_SECONDS))


def find_error_message(data: Any) -> str:
    """The message of an error body: {"error": {"message"}}, {"error"}, {"message"}, {"detail"} or a text."""
    for name in ("error", "message", "detail"):
        if isinstance(data, dict) and data.get(name):
            return find_error_message(data[name]) or str(data[name])
    text = data if isinstance(data, str) else ""
    return "a web page" if text.startswith("<") else text


def quote_message(message: str) -> str:
    """What a server said, as the end of a sentence."""
    words = " ".join(message.encode("utf-8", "replace").decode().split()).rstrip(".")
    if len(words) > _MAX_QUOTED_CHARACTERS:
        words = f"{words[:_MAX_QUOTED_CHARACTERS]}…"
    return f": {words}" if words else ""


def redact_keys(sentence: str, key: str) -> str:
    """The sentence without the key and what looks like one (servers show a part: "sk-abc***xyz")."""
    return _KEY_PATTERN.sub("[key]", sentence.replace(key, "[key]") if len(key) > 3 else sentence)


def explain_no_answer(server: str, why: NoAnswer, late: str, setting: str) -> str:
    """The sentence for a server that gave no answer; `late` is what it did not do in time."""
    if isinstance(why, DeadlineExceeded):
        return f"{server} {late}."
    if isinstance(why, AnswerUnusable):
        return f"{server} cannot be used. {why} Check {setting}."
    cause = type(why.__cause__ or why).__name__
    return f"{server} could not be reached ({cause}). Check {setting} and that it runs."


def request_json(url: str, *, key: str, deadline: Deadline) -> tuple[int, Any]:
    """The status of the answer to a GET, and what it says; None for what is no JSON. Raises NoAnswer."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if name_and_password := urlsplit(url).netloc.rpartition("@")[0]:
        headers = make_headers(basic_auth=unquote(name_and_password))
    connections = Connections([urlsplit(url).hostname or ""])
    try:
        reply = connections.exchange(MODEL_LIST, url, headers, deadline=deadline)
    finally:
        connections.close()
    try:
        return reply.status, parse_json(reply.body)
    except ValueError:
        return reply.status, None


def identify_server(base_url: str, setting: str) -> tuple[str, bool]:
    """A server's name for a person (host and port, nothing secret), and whether it is on this machine. Raises
    ValueError with a sentence that names the setting, for no address."""
    try:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        if not host or parts.port == 0:
            raise ValueError("an address without a host")
    except ValueError:
        raise ValueError(f"{setting} is not an address.") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{setting} must start with http:// or https://.")
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    return parts.netloc.rpartition("@")[2], local


class CircuitBreaker:
    """Leaves a dead server alone: one request a minute asks it again. What the requests to one server with
    one key tell of it; thread-safe, shared by all who ask it."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._next_at = -math.inf
        self.is_open = False
        """Whether the server counts as dead."""

    def admit(self) -> bool:
        """Whether a request may be sent now; of a dead server's, one a minute may."""
        with self._lock:
            if self.is_open and self._clock() < self._next_at:
                return False
            self._next_at = self._clock() + PROBE_S
            return True

    def ask_at_once(self) -> None:
        """Let the next request through: a person wants to know."""
        self._next_at = -math.inf

    def record(self, *, is_outage: bool, is_last: bool = False) -> None:
        """One request failed for want of a server (`is_outage`), or the server answered, whatever it said.
        After the last try of a request the server is dead from the third failure in a row on."""
        with self._lock:
            self._failures = self._failures + 1 if is_outage else 0
            self.is_open = self.is_open and is_outage
            if is_last and self._failures >= MAX_TRIES and not self.is_open:
                self.is_open, self._next_at = True, self._clock() + PROBE_S


_breakers: WeakValueDictionary[tuple[str, str, str], CircuitBreaker] = WeakValueDictionary()
"""By server, key and purpose: what fails for one account slows nobody who has another."""
_breakers_lock = threading.Lock()


def describe_outage(server: str) -> str:
    """That a server is left alone, in a sentence for a person."""
    return f"The model server {server} does not answer; it is asked again once a minute."
