"""The HTTP door of `reply`, beside the screens: POST /reply, POST /messages, GET /metrics. It reads requests
and draws nothing.

    curl -s localhost:8501/reply -H 'content-type: application/json' -d '{"conversation": [{"role": "user", "text": "How do I ...?"}]}'

The blocking work runs in threads of its own, so that bots never take the screens' threads. What a request may
not be is told with a 4xx and a sentence; a request that is understood is always answered with 200, silence
included."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Annotated, Any, Literal, TypeVar

import streamlit as st
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.bot import metrics
from agent.bot.debounce import Debouncer, MessageBatch
from agent.bot.responder import MOST_PICTURES, ReplyOutcome, ReplyService
from agent.errors import TouchstoneError
from agent.text.urls import canonicalize
from agent.types.reply import Conversation, Message, RequestContext
from pages.widgets.shell import client

log = logging.getLogger(__name__)
MAX_BODY_BYTES = 512_000
"""Bytes a request may have."""
MAX_PARALLEL = 16
"""Replies that are worked on at the same time; more of them wait in line, and their time runs meanwhile."""
MERGED_RESPONSE = {"should_reply": False, "reply_text": "", "merged": True}

_lock = threading.Lock()
_services: list[tuple[ReplyService, Debouncer[ReplyOutcome], ThreadPoolExecutor]] = []


def _check_url(url: str) -> str:
    if not canonicalize(url):
        raise ValueError("must be an address that begins with http:// or https://")
    return url


ShortText = Annotated[str, StringConstraints(max_length=200)]
WebAddress = Annotated[str, StringConstraints(max_length=4000), AfterValidator(_check_url)]


class MessageBody(BaseModel):
    """One message of a request."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "bot"]
    text: str = Field(default="", max_length=20_000)
    images: list[WebAddress] = Field(default_factory=list, max_length=10)
    at: ShortText = ""

    @model_validator(mode="after")
    def _check_not_empty(self) -> MessageBody:
        if not (self.text.strip() or self.images):
            raise ValueError("needs a text or an image")
        return self


class ReplyRequest(BaseModel):
    """The body of POST /reply."""

    model_config = ConfigDict(extra="forbid")

    conversation: list[MessageBody] = Field(min_length=1, max_length=200)
    platform: ShortText = ""
    channel: ShortText = ""
    user: ShortText = ""
    message_id: ShortText = ""

    @model_validator(mode="after")
    def _check_image_count(self) -> ReplyRequest:
        if sum(len(said.images) for said in self.conversation) > MOST_PICTURES:
            raise ValueError(f"a conversation may hold {MOST_PICTURES} images in all")
        return self


class MessageRequest(MessageBody):
    """The body of POST /messages: one message of a person, and with the first of a batch what was said
    before."""

    role: Literal["user"] = "user"
    channel: Annotated[ShortText, StringConstraints(min_length=1)]
    user: Annotated[ShortText, StringConstraints(min_length=1)]
    platform: ShortText = ""
    message_id: ShortText = ""
    conversation: list[MessageBody] = Field(default_factory=list, max_length=200)


RequestBody = TypeVar("Body", bound=BaseModel)


class _RequestRefused(Exception):
    """The request may not be; answered with this status and sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def get_service() -> tuple[ReplyService, Debouncer[ReplyOutcome], ThreadPoolExecutor]:
    """The replying service of this process, opened at the first call."""
    with _lock:
        if not _services:
            bench = client.workbench()
            replying = ReplyService(bench)
            batching = Debouncer[ReplyOutcome](
                bench.config.REPLY_WINDOW, lambda batch: _answer_batch(replying, batch)
            )
            _services.append(
                (replying, batching, ThreadPoolExecutor(MAX_PARALLEL, thread_name_prefix="reply"))
            )
        return _services[0]


def close() -> None:
    """Let go of it; requests that wait are dropped."""
    with _lock:
        while _services:
            replying, batching, threads = _services.pop()
            batching.close()
            threads.shutdown(wait=False, cancel_futures=True)
            replying.close()


async def handle_reply(request: Request) -> Response:
    """POST /reply: a conversation in, {"should_reply", "reply_text"} out."""
    began = time.monotonic()
    try:
        asked = await _read_body(request, ReplyRequest)
        replying, _, threads = _get_ready_service()
    except _RequestRefused as refused:
        return _make_error_response(refused)
    where = RequestContext(
        platform=asked.platform, channel=asked.channel, user=asked.user, message_id=asked.message_id
    )
    talk = Conversation(messages=[_to_message(said) for said in asked.conversation])
    replied = await asyncio.get_running_loop().run_in_executor(
        threads, lambda: replying.reply(talk, where, began=began)
    )
    return _make_response(replied)


async def handle_message(request: Request) -> Response:
    """POST /messages: one message in; answered when its batch is, or at once with "merged" when a later
    message takes its place."""
    try:
        sent = await _read_body(request, MessageRequest)
        batching = _get_ready_service()[1]
    except _RequestRefused as refused:
        return _make_error_response(refused)
    where = RequestContext(
        platform=sent.platform, channel=sent.channel, user=sent.user, message_id=sent.message_id
    )
    before = Conversation(messages=[_to_message(said) for said in sent.conversation])
    try:
        replied = await asyncio.wrap_future(batching.add(_to_message(sent), where, before))
    except (CancelledError, asyncio.CancelledError, RuntimeError):
        return _make_error_response(_RequestRefused(503, "this server is ending; send the message again"))
    return JSONResponse(MERGED_RESPONSE) if replied is None else _make_response(replied, merged=False)


def handle_metrics(_request: Request) -> Response:
    """GET /metrics, for Prometheus."""
    return Response(metrics.render_metrics(), headers={"content-type": metrics.CONTENT_TYPE})


def _get_ready_service() -> tuple[ReplyService, Debouncer[ReplyOutcome], ThreadPoolExecutor]:
    try:
        return get_service()
    except TouchstoneError as trouble:  # a folder that is gone, a file of settings that does not fit
        log.error("replies cannot be given: %s", trouble)
        raise _RequestRefused(503, f"replies cannot be given now: {trouble}") from trouble


def _answer_batch(replying: ReplyService, batch: MessageBatch[ReplyOutcome]) -> ReplyOutcome:
    return replying.reply(batch.conversation, batch.context, began=batch.closed_at)


def _to_message(said: MessageBody) -> Message:
    return Message(role=said.role, text=said.text, images=list(said.images), at=said.at)


def _make_response(replied: ReplyOutcome, **more: Any) -> JSONResponse:
    return JSONResponse({**replied.result.model_dump(), **more}, headers={"x-touchstone-run": replied.run_id})


def _make_error_response(refused: _RequestRefused) -> JSONResponse:
    headers = {"www-authenticate": "Bearer"} if refused.status == 401 else {}
    return JSONResponse({"error": str(refused)}, status_code=refused.status, headers=headers)


async def _read_body(request: Request, shape: type[RequestBody]) -> RequestBody:
    """The body as what it must be. Raises _Refused."""
    _authorize(request)
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise _RequestRefused(415, "send JSON, with the header content-type: application/json")
    if (told := request.headers.get("content-length", "")).isdecimal() and int(told) > MAX_BODY_BYTES:
        raise _RequestRefused(413, f"a request may have {MAX_BODY_BYTES:,} bytes")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise _RequestRefused(413, f"a request may have {MAX_BODY_BYTES:,} bytes")
    try:
        return shape.model_validate(json.loads(bytes(body)))
    except ValidationError as wrong:
        faults = wrong.errors(include_url=False, include_input=False)[:4]
        raise _RequestRefused(
            400,
            "; ".join(
                f"{'.'.join(map(str, fault['loc'])) or 'the body'}: {fault['msg']}" for fault in faults
            ),
        ) from None
    except (ValueError, RecursionError):
        raise _RequestRefused(400, "the body is no JSON") from None


def _authorize(request: Request) -> None:
    """Whoever knows the token may ask; without one only who calls the server by a name it allows (a page
    elsewhere can lend it another)."""
    token = client.workbench().config.REPLY_TOKEN
    if token:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise _RequestRefused(401, "send the token of REPLY_TOKEN: authorization: Bearer …")
        return
    allowed, name = (
        st.get_option("server.allowedHosts") or ["*"],
        (request.url.hostname or "").lower().rstrip("."),
    )
    if not any(
        host in ("*", name) or (host.startswith("*.") and name.endswith(host[1:])) for host in allowed
    ):
        raise _RequestRefused(
            403, "this name is not among the allowed hosts; set REPLY_TOKEN to let others ask"
        )


ROUTES = [
    Route("/reply", handle_reply, methods=["POST"]),
    Route("/messages", handle_message, methods=["POST"]),
    Route("/metrics", handle_metrics, methods=["GET"]),
]
