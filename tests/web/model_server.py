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
import socket
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal

from pydantic import BaseModel


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
    ends: Literal["well", "stalls", "drips", "resets", "cut"] = "well"


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
    return Answer(ends="stalls")


def drips() -> Answer:
    """Sends one blank after the other for ever: a time limit for each read never strikes."""
    return Answer(ends="drips")


def resets() -> Answer:
    """Breaks the connection instead of answering."""
    return Answer(ends="resets")


def cuts(content: str) -> Answer:
    """Ends the connection in the middle of the body."""
    whole = says(content)
    return Answer(body=whole.body, ends="cut")


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
        self.paths: list[str] = []
        self.connections = 0
        self.keys: set[str] = set()
        """The Authorization headers of all requests; "" where there was none."""
        self.arrived = threading.Event()
        """Set when a completion has been asked for: a test can wait for it instead of sleeping."""
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def counted(self, expected: int) -> int:
        """How many requests arrived. One that its client gave up on is read a little later: these are waited
        for, up to `expected`."""
        for _ in range(1000):
            if len(self.requests) >= expected:
                break
            self.closing.wait(0.01)
        return len(self.requests)

    def embedded(self, request: Request) -> Answer:
        """The vectors of a request's texts, in an order of the server's own: each carries its index."""
        assert self.embeds is not None
        with self._lock:
            self.requests.append(request)
        got = self.embeds(request.body["input"])
        if isinstance(got, Answer):
            return got
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(got)]
        return sends(
            {
                "object": "list",
                "data": data[::-1],
                "model": request.body["model"],
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            }
        )

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


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: ModelServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def do_GET(self) -> None:
        self.server.owner.paths.append(self.path)
        self.server.owner.keys.add(self.headers.get("Authorization", ""))
        if self.path != "/v1/models":
            self._send(status(404, "no such path"))
            return
        models = self.server.owner.models
        told = {"max_model_len": self.server.owner.context} if self.server.owner.tells_context else {}
        listed = (
            [{"id": name, "object": "model", **told} for name in models] if isinstance(models, list) else []
        )
        self._send(models if isinstance(models, Answer) else sends({"object": "list", "data": listed}))

    def do_POST(self) -> None:
        owner = self.server.owner
        owner.paths.append(self.path)
        owner.keys.add(self.headers.get("Authorization", "").replace("Bearer none", ""))
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/embeddings" and owner.embeds is not None:
            self._send(
                owner.embedded(Request(body, {name.lower(): value for name, value in self.headers.items()}))
            )
            return
        if self.path != "/v1/chat/completions":
            self._send(status(404, "no such path"))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(owner.answer(Request(body, headers)))

    def _send(self, answer: Answer) -> None:
        if answer.ends == "resets":
            # Lingering for zero seconds makes the kernel send RST instead of FIN.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if answer.ends == "stalls":
            self.server.owner.closing.wait()
            self.close_connection = True
            return
        length = 100_000 if answer.ends == "drips" else len(answer.body)
        self.send_response(answer.status)
        for name, value in {
            "Content-Type": answer.content_type,
            "Content-Length": str(length),
            **answer.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.ends == "drips":
            self._drip()
        else:
            self.wfile.write(answer.body[: len(answer.body) // 2] if answer.ends == "cut" else answer.body)
        self.close_connection = self.close_connection or answer.ends != "well"

    def _drip(self) -> None:
        try:
            while not self.server.owner.closing.wait(0.02):
                self.wfile.write(b" ")
        except OSError:
            return

    def handle(self) -> None:
        self.server.owner.connections += 1
        try:
            super().handle()
        except (OSError, ValueError):  # the client went away, or the connection was reset by the script
            return

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):
            return

    def log_message(self, format: str, *args: object) -> None:
        return
