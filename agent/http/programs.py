"""Which program asks, for whom, and what it may: by its token alone, on this machine too."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import TypeAdapter, ValidationError

from agent.accounts.tokens import ApiToken
from agent.bot.http import RequestRefused
from agent.engine.snapshots import RunSnapshot
from agent.errors import NotFound, UsageError
from agent.flows import FLOWS
from agent.store.ledger import act_as_program
from agent.workbench import Workbench
from agent.workbenches import Workbenches

FLOW_SCOPES = {
    flow: {"check_text": "check", "verify_again": "check", "chat": "library"}.get(flow, flow)
    for flow in FLOWS
}
"""The scope that a program needs for the runs of a flow."""
DECIDING_ACTS = frozenset("accept settle overrule erase_note mark correct revise add".split())
"""The acts that give a person's word: they need the scope `decide`, too."""


class NotPossible(RequestRefused):
    """What is asked is not possible now, but these acts are."""

    def __init__(self, sentence: str, possible: Sequence[str]) -> None:
        super().__init__(HTTPStatus.CONFLICT, sentence)
        self.possible = list(possible)


@dataclass(frozen=True)
class Program:
    """A program with a token that holds, and the workbench of the person it acts for. `still_holds`: does the
    token hold at this moment? `renew_feed`: see `Workbenches`;
    None over standard input."""

    token: ApiToken
    bench: Workbench
    still_holds: Callable[[], bool]
    renew_feed: Callable[[str], str] | None = None

    def require(self, *scopes: str) -> None:
        """Raise RequestRefused (403) for a token that has none of these scopes."""
        if not set(scopes) & set(self.token.scopes):
            wanted = " or ".join(scopes)
            raise RequestRefused(
                HTTPStatus.FORBIDDEN,
                f"this token is not for that: make one with the scope {wanted} (it has "
                f"{', '.join(self.token.scopes)})",
            )

    def require_flow(self, flow: str, *others: str) -> None:
        """Raise RequestRefused (403) for a token without the scope of a flow or one of the others."""
        self.require(FLOW_SCOPES[flow], *others)

    def open_run(self, run_id: str, *others: str) -> RunSnapshot:
        """A run of the person. Raises NotFound for any other and one in the bin, RequestRefused (403) without
        the scope of its flow or one of the `others`."""
        self.require(*FLOW_SCOPES.values(), *others)
        view = self.bench.snapshot(run_id)
        if self.bench.store.ledger.is_deleted(run_id):
            raise NotFound(f"run {run_id} is in the bin: its person can restore it on the screen Runs")
        self.require_flow(view.run.settings.flow, *others)
        return view

    def acting(self, key: str = "", content: str = "") -> AbstractContextManager[None]:
        """What is recorded meanwhile is recorded as done by this program, by its request of this key."""
        return act_as_program(self.token.name, key, content)

    def sign(self, given: dict[str, Any]) -> dict[str, Any]:
        """The parameters of an act, with the program named in the reason: it is shown wherever the decision
        is."""
        reasons = {name: str(given[name]).strip() for name in {"reason", "because"} & given.keys()}
        signed = {name: f"by program {self.token.name}: {said}" for name, said in reasons.items() if said}
        return {**given, **signed}

    def check_quota(self) -> None:
        """Raise RequestRefused (429) when the person's quota allows no further run now."""
        try:
            self.bench.check_quota()
        except UsageError as used_up:
            raise RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, str(used_up)) from used_up


def identify_program(benches: Workbenches, authorization: str) -> Program:
    """The program that sends this `authorization` header. Raises RequestRefused (401, 429), TouchstoneError
    when the workbench cannot be opened."""
    scheme, _, text = authorization.partition(" ")
    text = text.strip() if scheme.lower() == "bearer" else ""
    found = benches.find_program(text)
    if found is None:
        where = "on the screen You" if benches.accounts else "with `./touchstone token NAME --for SCOPES`"
        raise RequestRefused(
            HTTPStatus.UNAUTHORIZED, f"send a token that holds, made {where}: authorization: Bearer tst_…"
        )
    token, person = found
    if wait := benches.rates.take(person.id):
        sentence = f"too many requests: ask again in {wait} s"
        raise RequestRefused(HTTPStatus.TOO_MANY_REQUESTS, sentence, wait)
    bench = benches.open(person) if benches.accounts else benches.local()
    return Program(
        token, bench, lambda: benches.find_program(text) is not None, partial(benches.renew_feed, person)
    )


_BEARER = HTTPBearer(auto_error=False, description="a token of a person, or of `./touchstone token`")


def find_program(
    request: Request, _given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Program:
    """The program that sends a request. Raises as `identify_program` does."""
    found: Program = request.app.state.identify(request.headers.get("authorization", ""))
    return found


async def check_body(request: Request) -> None:
    """Raise UsageError for a body with what JSON and UTF-8 do not know, wherever in it, and
    RequestValidationError for values of another type than the contract says, such as true for a number."""
    if "json" not in request.headers.get("content-type", ""):
        return
    try:
        body = json.loads(await request.body(), parse_float=_read_number)
        text = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as wrong:
        raise UsageError("the body holds half a character, NaN or Infinity: send JSON in UTF-8") from wrong
    if field := request.scope["route"].body_field:
        try:
            TypeAdapter(field.field_info.annotation).validate_json(text, strict=True)
        except ValidationError as wrong:
            raise RequestValidationError(wrong.errors()) from wrong


def _read_number(text: str) -> float:
    """A number of JSON, where 10.0 is an integer."""
    return int(number) if (number := float(text)).is_integer() else number


Caller = Annotated[Program, Depends(find_program)]
"""The program that asks, as a parameter of a route."""
