"""Who asks over HTTP: a program with a person's API token or with REPLY_TOKEN, or, where nobody signs in and
no token is set, whoever calls the server by a name it is known by."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass

from agent.accounts.rate_limits import RequestRates
from agent.errors import UsageError
from agent.workbench import Workbench
from agent.workbenches import Workbenches


@dataclass(frozen=True)
class Caller:
    """Who asks. `owner` is the id of the person whose workbench answers ("" where nobody signs in);
    `still_holds`: does the token hold at this moment?"""

    owner: str
    bench: Workbench
    still_holds: Callable[[], bool] = lambda: True


class RequestRefused(UsageError):
    """A request is refused with an HTTP status and a sentence; `retry_after` is in seconds, 0 for none."""

    def __init__(self, status: int, sentence: str, retry_after: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = status, retry_after


def identify_caller(
    benches: Workbenches, rates: RequestRates, authorization: str, scope: str, *, is_known_name: bool
) -> Caller:
    """Who asks with this `authorization` header; `is_known_name`: the server was called by a name it is known
    by. Raises RequestRefused: 401, 403, 429, or 503; TouchstoneError."""
    # The token of a header; "" when it bears none
    scheme, _, token = authorization.partition(" ")
    given = token.strip() if scheme.lower() == "bearer" else ""
    wanted = benches.config.REPLY_TOKEN
    if wanted and hmac.compare_digest(given.encode(), wanted.encode()):
        _count_request(rates, "REPLY_TOKEN")
        # REPLY_TOKEN is the server's: with a login its requests are those of the first admin
        if benches.accounts is None:
            return Caller("", benches.local())
        first = benches.accounts.people.find_first_admin()
        if first is None or not benches.accounts.people.is_let_in(first):
            raise RequestRefused(
                503, "REPLY_TOKEN answers for the first admin, who has not signed in yet, or is blocked"
            )
        return Caller(first.id, benches.open(first))
    if benches.accounts and given and (person := benches.accounts.find_caller(given, scope)):
        _count_request(rates, person.id)
        find = benches.accounts.find_caller
        return Caller(person.id, benches.open(person), lambda: find(given, scope) is not None)
    if benches.accounts:
        raise RequestRefused(401, "send an API token (made on the screen You): authorization: Bearer …")
    if wanted:
        raise RequestRefused(401, "send the token of REPLY_TOKEN: authorization: Bearer …")
    if not is_known_name:
        raise RequestRefused(
            403, "this name is not among the allowed hosts; set REPLY_TOKEN to let others ask"
        )
    return Caller("", benches.local())


def _count_request(rates: RequestRates, caller: str) -> None:
    if wait := rates.take(caller):
        raise RequestRefused(429, f"too many requests: ask again in {wait} s", wait)
