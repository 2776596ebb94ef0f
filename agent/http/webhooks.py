"""The routes of webhooks: who is told when a run comes to rest."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from agent.bot.http import RequestRefused
from agent.engine.webhooks import RESTS, WebhookRecord
from agent.http.programs import Caller
from agent.types import Record

ROUTER = APIRouter(tags=["webhooks"])
Rest = Literal[RESTS]  # type: ignore[valid-type]


class WebhookRequest(Record, defer_build=False):
    """A webhook to add."""

    url: Annotated[
        str, Field(min_length=1, examples=["https://hooks.example/told"], description="the address to tell")
    ]
    statuses: list[Rest] = Field(default_factory=list, description="of what; empty: of all")


class NewWebhook(WebhookRecord):
    """A webhook that was added."""

    secret: str = Field(description="what signs its messages (Standard Webhooks); shown this once")


@ROUTER.get("/webhooks")
def list_webhooks(program: Caller) -> list[WebhookRecord]:
    """The webhooks of the person."""
    program.require("read")
    return list[WebhookRecord](program.bench.worker.webhooks().list())


@ROUTER.post("/webhooks", status_code=HTTPStatus.CREATED)
def add_webhook(asked: WebhookRequest, program: Caller) -> NewWebhook:
    """Tell an address by a signed request when a run of the person comes to rest: its id, step, status and
    question. It ends with the token that added it."""
    program.require("read")
    if not program.bench.worker.limits.holds_token(program.token.id):
        raise RequestRefused(HTTPStatus.FORBIDDEN, "a webhook needs a token that was made on the screen You")
    hooks = program.bench.worker.webhooks()
    made, secret = hooks.add(
        asked.url, tuple(asked.statuses), program=program.token.name, token=program.token.id
    )
    return NewWebhook(**made.model_dump(include=set(WebhookRecord.model_fields)), secret=secret)


@ROUTER.delete("/webhooks/{hook_id}", status_code=HTTPStatus.NO_CONTENT, response_class=Response)
def remove_webhook(hook_id: str, program: Caller) -> None:
    """Tell an address nothing more. That which another program or the person added, only with `decide`."""
    program.require("read")
    hooks = program.bench.worker.webhooks()
    of_others = [hook.id for hook in hooks.list() if hook.token != program.token.id]
    if hook_id in of_others:
        program.require("decide")
    hooks.remove(hook_id)
