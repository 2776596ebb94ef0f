"""`reply` over HTTP: POST /reply and /messages, as routes for the server of the screens.

Blocking work runs in threads of its own, so that bots never take the threads of the screens. A wrong request
gets a 4xx and a sentence; a valid one is always answered with 200, silence included."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.accounts.quotas import RequestRates
from agent.bot.debounce import Debouncer, MessageBatch
from agent.bot.responder import MOST_PICTURES, ReplyOutcome, ReplyService
from agent.bot.routes import RULES, KnowsName
from agent.errors import TouchstoneError, UsageError, describe_faults
from agent.text.urls import canonicalize
from agent.types.record import Record
from agent.types.reply import AIResult, Conversation, Message, RequestContext
from agent.workbench import Workbench
from agent.workbenches import Workbenches


@dataclass(frozen=True)
class Caller:
    """Who asks: `owner` ("" where nobody signs in), their workbench, and whether the token holds still."""

    owner: str
    bench: Workbench
    still_holds: Callable[[], bool] = lambda: True


class RequestRefused(UsageError):
    """A request is refused with an HTTP status and a sentence; `retry_after` is in seconds, 0 for none."""

    def __init__(self, status: HTTPStatus, sentence: str, retry_after: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = status, retry_after


def identify_caller(
    benches: Workbenches, rates: RequestRates, authorization: str, scope: str, *, is_known_name: bool
) -> Caller:
    """Who asks with this `authorization` header; `is_known_name`: the server was called by a name it is known
    by. Raises RequestRefused: 401, 403, 429, or 503; TouchstoneError."""

    def count(caller: str) -> None:
        if wait := rates.take(caller):
            raise RequestRefused(
                HTTPStatus.TOO_MANY_REQUESTS, f"too many requests: ask again in {wait} s", wait
            )

    scheme, _, token = authorization.partition(" ")
    given = token.strip() if scheme.lower() == "bearer" else ""
    wanted = benches.config.REPLY_TOKEN
    if wanted and hmac.compare_digest(given.encode(), wanted.encode()):
        count("REPLY_TOKEN")
        # REPLY_TOKEN is the server's: with a login its requests are those of the first admin
        if benches.accounts is None:
            return Caller("", benches.local())
        first = benches.accounts.people.find_first_admin()
        if first is None or not benches.accounts.people.is_let_in(first):
            raise RequestRefused(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "REPLY_TOKEN answers for the first admin, who has not signed in yet, or is blocked",
            )
        return Caller(first.id, benches.open(first))
    if (benches.accounts or given.startswith("tst_")) and (found := benches.find_program(given, scope)):
        person = found[1]
        count(person.id)
        owner, bench = (person.id, benches.open(person)) if benches.accounts else ("", benches.local())
        return Caller(owner, bench, lambda: benches.find_program(given, scope) is not None)
    if benches.accounts or given.startswith("tst_"):
        where = "on the screen You" if benches.accounts else f"with `./touchstone token NAME --for {scope}`"
        raise RequestRefused(
            HTTPStatus.UNAUTHORIZED, f"send a token that holds, made {where}: authorization: Bearer …"
        )
    if wanted:
        raise RequestRefused(
            HTTPStatus.UNAUTHORIZED, "send the token of REPLY_TOKEN: authorization: Bearer …"
        )
    if not is_known_name:
        raise RequestRefused(
            HTTPStatus.FORBIDDEN,
            "this name is not among the allowed hosts; set REPLY_TOKEN to let others ask",
        )
    return Caller("", benches.local())


log = logging.getLogger(__name__)
MAX_PARALLEL = 16
"""Replies made at the same time; further ones wait, and their time runs meanwhile."""


def _check_url(url: str) -> str:
    if not canonicalize(url):
        raise ValueError("must be an address that begins with http:// or https://")
    return url


Filled = Annotated[str, StringConstraints(min_length=1, max_length=200)]
WebAddress = Annotated[str, StringConstraints(max_length=4000), AfterValidator(_check_url)]
MOST_MESSAGES = 200
"""Messages that a request may hold."""


class MessageBody(Message):
    """One message of a request."""

    text: str = Field("", max_length=20_000)
    images: list[WebAddress] = Field(default_factory=list, max_length=10)  # type: ignore[assignment]

    @model_validator(mode="after")
    def _check_not_empty(self) -> Self:
        if not (self.text.strip() or self.images):
            raise ValueError("needs a text or an image")
        return self


class ReplyRequest(RequestContext):
    """The body of POST /reply."""

    conversation: list[MessageBody] = Field(min_length=1, max_length=MOST_MESSAGES)

    @model_validator(mode="after")
    def _check_image_count(self) -> Self:
        if sum(len(said.images) for said in self.conversation) > MOST_PICTURES:
            raise ValueError(f"a conversation may hold {MOST_PICTURES} images in all")
        return self


class MessageRequest(MessageBody, RequestContext):
    """The body of POST /messages: one message, and with the first of a batch what was said before."""

    role: Literal["user"] = "user"
    channel: Filled
    user: Filled
    conversation: list[MessageBody] = Field(default_factory=list, max_length=MOST_MESSAGES)


Part = TypeVar("Part", bound=Record)


@dataclass(frozen=True)
class _Opened:
    """The service of a person, and what its requests run on."""

    service: ReplyService
    debouncer: Debouncer[ReplyOutcome]
    threads: ThreadPoolExecutor

    def close(self) -> None:
        """Drop waiting requests, and close the service."""
        self.debouncer.close()
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.service.close()


class ReplyHttp:
    """The routes of `reply`, with a service a person, opened at their first request. Thread-safe."""

    def __init__(self, open_benches: Callable[[], Workbenches], is_known_name: KnowsName) -> None:
        self._open_benches, self._is_known_name = open_benches, is_known_name
        self._lock, self._threads = threading.Lock(), ThreadPoolExecutor(MAX_PARALLEL)
        self._opened: dict[str, _Opened] = {}
        """By the id of the person; "" where nobody signs in."""
        self.routes = [
            Route(path, partial(self._handle, path), methods=RULES[path].methods)
            for path in ("/reply", "/messages")
        ]

    def get_service(self, owner: str, bench: Workbench) -> ReplyService:
        """The service that answers for a person ("" where nobody signs in). Raises TouchstoneError."""
        return self._open(Caller(owner, bench)).service

    def close(self) -> None:
        """Close the services; waiting requests are dropped."""
        with self._lock:
            opened, self._opened = list(self._opened.values()), {}
        for one in opened:
            one.close()

    def _open(self, caller: Caller) -> _Opened:
        if not caller.still_holds():  # it ended while the body was being sent
            raise RequestRefused(HTTPStatus.UNAUTHORIZED, "this token was revoked")
        with self._lock:
            former = self._opened.get(caller.owner)
            if former and former.service.bench is caller.bench:
                return former
            if former:  # its workbench was closed
                former.close()
            service = ReplyService(caller.bench)
            threads = ThreadPoolExecutor(MAX_PARALLEL, thread_name_prefix="reply")
            debouncer = Debouncer(caller.bench.config.REPLY_WINDOW, partial(_run, service, threads))
            self._opened[caller.owner] = _Opened(service, debouncer, threads)
            return self._opened[caller.owner]

    async def _handle(self, path: str, request: Request) -> Response:
        """A conversation (/reply) in, {"should_reply", "reply_text"} out; or a message (/messages), answered
        when its batch is, or at once with "merged" when a later message takes its place. Looking who asks and
        opening their workbench may wait, in a thread."""
        do, began = partial(asyncio.get_running_loop().run_in_executor, self._threads), time.monotonic()
        try:
            caller = await do(self._identify, request, path[1:])
            body = await self._read_body(request, ReplyRequest if path == "/reply" else MessageRequest)
            opened, context = await do(self._open, caller), _pick(RequestContext, body)
            said = Conversation(messages=list(body.conversation))
            if isinstance(body, ReplyRequest):
                batch = MessageBatch(context, said)
                return _make_response(await _run(opened.service, opened.threads, batch, began))
            outcome = await opened.debouncer.add(_pick(Message, body), context, said)
        except TouchstoneError as refused:
            return _refuse(refused)
        except (asyncio.CancelledError, RuntimeError):
            return _refuse(
                RequestRefused(
                    HTTPStatus.SERVICE_UNAVAILABLE, "this server is stopping; send the message again"
                )
            )
        if outcome is None:
            return JSONResponse({**AIResult().model_dump(), "merged": True})
        return _make_response(outcome, merged=False)

    async def _read_body(
        self, request: Request, shape: type[ReplyRequest | MessageRequest]
    ) -> ReplyRequest | MessageRequest:
        """The parsed body. Raises RequestRefused."""
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            raise RequestRefused(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send JSON, with the header content-type: application/json"
            )
        try:
            return shape.model_validate(json.loads(await request.body()))
        except ValidationError as wrong:
            raise RequestRefused(HTTPStatus.BAD_REQUEST, describe_faults(wrong)) from None
        except (ValueError, RecursionError):
            raise RequestRefused(HTTPStatus.BAD_REQUEST, "the body is not JSON") from None

    def _identify(self, request: Request, scope: str) -> Caller:
        """Who asks; without a token only known names hold. Raises TouchstoneError."""
        benches = self._open_benches()
        is_known, given = self._is_known_name(request.headers), request.headers.get("authorization", "")
        return identify_caller(benches, benches.rates, given, scope, is_known_name=is_known)


async def _run(
    service: ReplyService, threads: ThreadPoolExecutor, batch: MessageBatch, began: float = 0.0
) -> ReplyOutcome:
    """The reply to a conversation, timed from when it `began`, else from now: waiting in line counts."""
    answer = partial(service.reply, batch.conversation, batch.context, began=began or time.monotonic())
    return await asyncio.get_running_loop().run_in_executor(threads, answer)


def _refuse(refused: TouchstoneError) -> JSONResponse:
    if not isinstance(refused, RequestRefused):  # a missing folder, a wrong settings file
        log.error("replies cannot be given: %s", refused)
        refused = RequestRefused(HTTPStatus.SERVICE_UNAVAILABLE, f"replies cannot be given now: {refused}")
    headers = {"www-authenticate": "Bearer"} if refused.status == HTTPStatus.UNAUTHORIZED else {}
    if refused.retry_after:
        headers["retry-after"] = str(refused.retry_after)
    return JSONResponse({"error": str(refused)}, status_code=refused.status, headers=headers)


def _pick(kind: type[Part], body: Record) -> Part:
    """The part of a body that is such a record."""
    return kind.model_validate(body.model_dump(include=set(kind.model_fields)))


def _make_response(outcome: ReplyOutcome, **more: Any) -> JSONResponse:
    return JSONResponse({**outcome.result.model_dump(), **more}, headers={"x-touchstone-run": outcome.run_id})
