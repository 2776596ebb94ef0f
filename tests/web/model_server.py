"""A real HTTP server on 127.0.0.1 that speaks the OpenAI protocol (`/v1/chat/completions`, `/v1/models`) and
fails as told.

    with ModelServer([status(429, retry_after=1), {"ok": True}]) as server:
        Client(server.url, strong="m") ...
        server.requests[0].body["messages"]

`replies` is a list (one a completion; when it is used up the server says so with a 418) or a function of the
`Request`. A reply is a str (the model's text), a dict or pydantic model (sent as JSON text), or one of the
functions below. It may be set or extended at any time. `refuses` names response formats that are answered
with a 400, as many servers do. Thread-safe."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

from pydantic import BaseModel

from tests.web import site
from tests.web.site import Asked, Site


@dataclass(frozen=True)
class Request:
    """One completion that was asked for. `format` is what response_format named: json_schema, json_object or
    plain."""

    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def format(self) -> str:
        return str((self.body.get("response_format") or {}).get("type", "plain"))

    @property
    def prompt(self) -> str:
        """All contents of the messages, one below the other."""
        return "\n".join(str(message["content"]) for message in self.body["messages"])


@dataclass(frozen=True)
class Answer:
    """What goes over the wire. `ends`: how the connection does."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    ends: Literal["well", "silent", "drips", "resets", "breaks off"] = "well"

    def as_reply(self) -> site.Reply:
        """As a site sends it."""
        return site.Reply(
            self.status, self.body, {"Content-Type": self.content_type, **self.headers}, self.ends
        )


Reply = str | dict[str, Any] | BaseModel | Answer
Teller = Callable[[Request], Reply]
Embedding = Callable[[list[str]], "list[list[float]] | Answer"]


def says(content: Any, *, finish: str = "stop", usage: bool = True, **message: Any) -> Answer:
    """A completion whose content is exactly `content` (a text, None, a list of parts); `message` adds e.g.
    refusal="No."."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "served",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return sends(body)


def sends(body: Any) -> Answer:
    """Any JSON as the body of a 200: without choices, with an error inside, a bare list."""
    return Answer(body=json.dumps(body).encode())


def status(
    code: int, message: str = "scripted failure", *, retry_after: object = None, error_code: str = ""
) -> Answer:
    """An error answer as OpenAI forms it. `retry_after` is written into the header as it is."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = {"error": {"message": message, "type": "error", "param": None, "code": error_code or None}}
    return Answer(status=code, body=json.dumps(body).encode(), headers=headers)


def html(code: int = 200) -> Answer:
    """A web page where a reply was expected."""
    return Answer(
        status=code,
        body=b"<!doctype html><title>Sign in</title><p>Welcome",
        content_type="text/html; charset=utf-8",
    )


def raw(body: bytes, content_type: str = "application/json") -> Answer:
    """A 200 with exactly these bytes."""
    return Answer(body=body, content_type=content_type)


def stalls() -> Answer:
    """Never answers, until the server is closed."""
    return Answer(ends="silent")


def drips() -> Answer:
    """Sends one blank after the other for ever: a time limit for each read never strikes."""
    return Answer(ends="drips")


def resets() -> Answer:
    """Breaks the connection instead of answering."""
    return Answer(ends="resets")


def cuts(content: str) -> Answer:
    """Ends the connection in the middle of the body."""
    return Answer(body=says(content).body, ends="breaks off")


class ModelServer:
    """The server, a context manager. `url` is what OPENAI_BASE_URL would be; `requests` logs completions,
    `paths` everything."""

    def __init__(
        self,
        replies: Iterable[Reply] | Teller = (),
        *,
        models: Iterable[str] = ("served",),
        refuses: Iterable[str] = (),
        embeds: Embedding | None = None,
        context: int = 0,
        tells_context: bool = True,
    ) -> None:
        self.replies: list[Reply] | Teller = replies if callable(replies) else list(replies)
        self.models: list[str] | Answer = list(models)
        self.refuses = set(refuses)
        self.embeds, self.context, self.tells_context = embeds, context, tells_context
        """What `/v1/embeddings` answers: a vector for each text, or an Answer; None: there is no such path.
        `context`: tokens (characters / 4) of prompt and reply, beyond which it refuses (0: none), and whether
        its list of models tells them. `refused` counts."""
        self.refused = 0
        self.requests: list[Request] = []
        self.arrived = threading.Event()
        """Set when a completion has been asked for: a test can wait for it instead of sleeping."""
        self._lock = threading.Lock()
        self._site = Site({"/v1/models": self._list_models, "/v1/chat/completions": self._complete})
        self._site.missing = status(404, "no such path").as_reply()
        if embeds is not None:
            self._site.pages["/v1/embeddings"] = self._embed
        self.closing = self._site.over

    @property
    def url(self) -> str:
        return self._site.url("/v1")

    @property
    def paths(self) -> list[str]:
        """The paths of all requests."""
        return [asked.path for asked in self._site.asked]

    @property
    def connections(self) -> int:
        """How many connections sent requests."""
        return len(self._site.peers)

    @property
    def keys(self) -> set[str]:
        """The Authorization headers of all requests; "" where there was none."""
        sent = (_read_headers(asked).get("authorization", "") for asked in self._site.asked)
        return {key.replace("Bearer none", "") for key in sent}

    def __enter__(self) -> ModelServer:
        self._site.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._site.__exit__(kind, error, trace)

    def counted(self, expected: int) -> int:
        """How many requests arrived. One that its client gave up on is read a little later: these are waited
        for, up to `expected`."""
        for _ in range(1000):
            if len(self.requests) >= expected:
                break
            self.closing.wait(0.01)
        return len(self.requests)

    def _list_models(self, _asked: Asked) -> site.Reply:
        if isinstance(self.models, Answer):
            return self.models.as_reply()
        told = {"max_model_len": self.context} if self.tells_context else {}
        data = [{"id": name, "object": "model", **told} for name in self.models]
        return sends({"object": "list", "data": data}).as_reply()

    def _embed(self, asked: Asked) -> site.Reply:
        """The vectors of a request's texts, in an order of the server's own: each carries its index."""
        assert self.embeds is not None
        request = _read_request(asked)
        with self._lock:
            self.requests.append(request)
        got = self.embeds(request.body["input"])
        if isinstance(got, Answer):
            return got.as_reply()
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(got)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        told = {"object": "list", "data": data[::-1], "model": request.body["model"], "usage": usage}
        return sends(told).as_reply()

    def _complete(self, asked: Asked) -> site.Reply:
        return self.answer(_read_request(asked)).as_reply()

    def answer(self, request: Request) -> Answer:
        """What the script has for this request."""
        with self._lock:
            self.requests.append(request)
            self.arrived.set()
            if request.format in self.refuses:
                return status(
                    400, f"'response_format' of type '{request.format}' is not supported by this model."
                )
            asked = len(request.prompt) // 4 + request.body.get("max_tokens", 0)
            if self.context and asked > self.context:
                self.refused += 1
                said = f"This model's maximum context length is {self.context} tokens. However, you requested {asked}."
                return status(400, said, error_code="context_length_exceeded")
            if isinstance(self.replies, list):
                reply = (
                    self.replies.pop(0)
                    if self.replies
                    else status(418, "the test's script has no reply left")
                )
                return _answer(reply)
            teller = self.replies
        return _answer(teller(request))


def _answer(reply: Reply) -> Answer:
    if isinstance(reply, Answer):
        return reply
    if isinstance(reply, BaseModel):
        return says(reply.model_dump_json())
    return says(reply if isinstance(reply, str) else json.dumps(reply))


def _read_request(asked: Asked) -> Request:
    return Request(json.loads(asked.body), _read_headers(asked))


def _read_headers(asked: Asked) -> dict[str, str]:
    return {name.lower(): value for name, value in asked.headers.items()}
