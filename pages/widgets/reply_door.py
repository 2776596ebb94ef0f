"""The HTTP door of `reply`, beside the screens: POST /reply, POST /messages, GET /metrics. It reads requests and draws nothing.

    curl -s localhost:8501/reply -H 'content-type: application/json' -d '{"conversation": [{"role": "user", "text": "How do I ...?"}]}'

The blocking work runs in threads of its own, so that bots never take the screens' threads. What a request may not be is told with a
4xx and a sentence; a request that is understood is always answered with 200, silence included.
"""

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
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent import metrics
from agent.batching import Batch, Batching
from agent.errors import TouchstoneError
from agent.replying import MOST_PICTURES, Replied, Replying
from agent.types.reply import Conversation, Message, RequestContext
from agent.urls import canonical
from pages.widgets import door

log = logging.getLogger(__name__)
BODY = 512_000
"""Bytes a request may have."""
SIDE_BY_SIDE = 16
"""Replies that are worked on at the same time; more of them wait in line, and their time runs meanwhile."""
MERGED = {"should_reply": False, "reply_text": "", "merged": True}

_lock = threading.Lock()
_open: list[tuple[Replying, Batching[Replied], ThreadPoolExecutor]] = []


def _web(url: str) -> str:
    if not canonical(url):
        raise ValueError("must be an address that begins with http:// or https://")
    return url


Word = Annotated[str, StringConstraints(max_length=200)]
Address = Annotated[str, StringConstraints(max_length=4000), AfterValidator(_web)]


class Said(BaseModel):
    """One message of a request."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "bot"]
    text: str = Field(default="", max_length=20_000)
    images: list[Address] = Field(default_factory=list, max_length=10)
    at: Word = ""

    @model_validator(mode="after")
    def _something(self) -> Said:
        if not (self.text.strip() or self.images):
            raise ValueError("needs a text or an image")
        return self


class Asked(BaseModel):
    """The body of POST /reply."""

    model_config = ConfigDict(extra="forbid")

    conversation: list[Said] = Field(min_length=1, max_length=200)
    platform: Word = ""
    channel: Word = ""
    user: Word = ""
    message_id: Word = ""

    @model_validator(mode="after")
    def _not_an_album(self) -> Asked:
        if sum(len(said.images) for said in self.conversation) > MOST_PICTURES:
            raise ValueError(f"a conversation may hold {MOST_PICTURES} images in all")
        return self


class Sent(Said):
    """The body of POST /messages: one message of a person, and with the first of a batch what was said before."""

    role: Literal["user"] = "user"
    channel: Annotated[Word, StringConstraints(min_length=1)]
    user: Annotated[Word, StringConstraints(min_length=1)]
    platform: Word = ""
    message_id: Word = ""
    conversation: list[Said] = Field(default_factory=list, max_length=200)


Body = TypeVar("Body", bound=BaseModel)


class _Refused(Exception):
    """The request may not be; answered with this status and sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def service() -> tuple[Replying, Batching[Replied], ThreadPoolExecutor]:
    """The replying service of this process, opened at the first call."""
    with _lock:
        if not _open:
            bench = door.workbench()
            replying = Replying(bench)
            batching = Batching[Replied](bench.config.number("REPLY_WINDOW"), lambda batch: _answer_batch(replying, batch))
            _open.append((replying, batching, ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="reply")))
        return _open[0]


def close() -> None:
    """Let go of it; requests that wait are dropped."""
    with _lock:
        while _open:
            replying, batching, threads = _open.pop()
            batching.close()
            threads.shutdown(wait=False, cancel_futures=True)
            replying.close()


async def reply(request: Request) -> Response:
    """POST /reply: a conversation in, {"should_reply", "reply_text"} out."""
    began = time.monotonic()
    try:
        asked = await _read(request, Asked)
        replying, _, threads = _ready()
    except _Refused as refused:
        return _refusal(refused)
    where = RequestContext(platform=asked.platform, channel=asked.channel, user=asked.user, message_id=asked.message_id)
    talk = Conversation(messages=[_message(said) for said in asked.conversation])
    replied = await asyncio.get_running_loop().run_in_executor(threads, lambda: replying.reply(talk, where, began=began))
    return _answer(replied)


async def messages(request: Request) -> Response:
    """POST /messages: one message in; answered when its batch is, or at once with "merged" when a later message takes its place."""
    try:
        sent = await _read(request, Sent)
        batching = _ready()[1]
    except _Refused as refused:
        return _refusal(refused)
    where = RequestContext(platform=sent.platform, channel=sent.channel, user=sent.user, message_id=sent.message_id)
    before = Conversation(messages=[_message(said) for said in sent.conversation])
    try:
        replied = await asyncio.wrap_future(batching.add(_message(sent), where, before))
    except (CancelledError, asyncio.CancelledError, RuntimeError):
        return _refusal(_Refused(503, "this server is ending; send the message again"))
    return JSONResponse(MERGED) if replied is None else _answer(replied, merged=False)


def counters(_request: Request) -> Response:
    """GET /metrics, for Prometheus."""
    return Response(metrics.exposed(), headers={"content-type": metrics.TYPE})


def _ready() -> tuple[Replying, Batching[Replied], ThreadPoolExecutor]:
    try:
        return service()
    except TouchstoneError as trouble:  # a folder that is gone, a file of settings that does not fit
        log.error("replies cannot be given: %s", trouble)
        raise _Refused(503, f"replies cannot be given now: {trouble}") from trouble


def _answer_batch(replying: Replying, batch: Batch[Replied]) -> Replied:
    return replying.reply(batch.conversation, batch.context, began=batch.closed_at)


def _message(said: Said) -> Message:
    return Message(role=said.role, text=said.text, images=list(said.images), at=said.at)


def _answer(replied: Replied, **more: Any) -> JSONResponse:
    return JSONResponse({**replied.result.model_dump(), **more}, headers={"x-touchstone-run": replied.run_id})


def _refusal(refused: _Refused) -> JSONResponse:
    headers = {"www-authenticate": "Bearer"} if refused.status == 401 else {}
    return JSONResponse({"error": str(refused)}, status_code=refused.status, headers=headers)


async def _read(request: Request, shape: type[Body]) -> Body:
    """The body as what it must be. Raises _Refused."""
    _admit(request)
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise _Refused(415, "send JSON, with the header content-type: application/json")
    if (told := request.headers.get("content-length", "")).isdecimal() and int(told) > BODY:
        raise _Refused(413, f"a request may have {BODY:,} bytes")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY:
            raise _Refused(413, f"a request may have {BODY:,} bytes")
    try:
        return shape.model_validate(json.loads(bytes(body)))
    except ValidationError as wrong:
        faults = wrong.errors(include_url=False, include_input=False)[:4]
        raise _Refused(400, "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'the body'}: {fault['msg']}" for fault in faults)) from None
    except (ValueError, RecursionError):
        raise _Refused(400, "the body is no JSON") from None


def _admit(request: Request) -> None:
    """Whoever knows the token may ask; without one only who calls the server by a name it allows (a page elsewhere can lend it another)."""
    token = door.workbench().config["REPLY_TOKEN"]
    if token:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise _Refused(401, "send the token of REPLY_TOKEN: authorization: Bearer …")
        return
    allowed, name = st.get_option("server.allowedHosts") or ["*"], (request.url.hostname or "").lower().rstrip(".")
    if not any(host in ("*", name) or (host.startswith("*.") and name.endswith(host[1:])) for host in allowed):
        raise _Refused(403, "this name is not among the allowed hosts; set REPLY_TOKEN to let others ask")


ROUTES = [Route("/reply", reply, methods=["POST"]), Route("/messages", messages, methods=["POST"]), Route("/metrics", counters, methods=["GET"])]
