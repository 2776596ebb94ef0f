"""Plain HTTP requests to a model server: its address, its name for a person, and one JSON request with one
kind of error.

Not over the SDK, because looking for a server must not cost its import."""

from __future__ import annotations

import json
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from urllib3.util import make_headers

from agent.key_addresses import OPENAI_URL
from agent.net.deadline import Deadline, DeadlineExceeded
from agent.net.exchange import AnswerUnusable, Connections
from agent.net.policies import Policy
from agent.net.ssrf_guard import FetchRefused, HostUnreachable

ProblemKind = Literal["timeout", "not_json", "unusable", "unreachable", "status"]


class RequestProblem(Exception):
    """Why there is no JSON answer. `kind` "status": not 200; then the answer's parts are set. "unusable":
    `cause` goes on after the server's name."""

    def __init__(
        self,
        kind: ProblemKind,
        cause: str = "",
        status: int = 0,
        headers: Mapping[str, str] | None = None,
        body: str = "",
    ) -> None:
        super().__init__(f"{kind} {status or cause}")
        self.kind = kind
        self.cause = cause
        self.status, self.headers, self.body = status, headers or {}, body


def request_json(url: str, policy: Policy, *, key: str, timeout: float = 0.0, body: Any = None) -> Any:
    """The JSON of a 200: GET without a `body`, else POST, within `timeout` seconds or the policy's. Raises
    RequestProblem."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if name_and_password := urlsplit(url).netloc.rpartition("@")[0]:
        headers |= make_headers(basic_auth=unquote(name_and_password))
    sent = None if body is None else json.dumps(body).encode()
    if sent is not None:
        headers["Content-Type"] = "application/json"
    connections = Connections([urlsplit(url).hostname or ""])
    try:
        deadline = Deadline(timeout or policy.seconds)
        answer = connections.exchange(policy, url, headers, sent, deadline=deadline)
    except DeadlineExceeded:
        raise RequestProblem("timeout") from None
    except AnswerUnusable as unusable:
        raise RequestProblem("unusable", str(unusable)) from None
    except (HostUnreachable, FetchRefused, ValueError) as error:
        raise RequestProblem("unreachable", type(error.__cause__ or error).__name__) from error
    finally:
        connections.close()
    if answer.status != 200:
        text = answer.body.decode("utf-8", "replace")
        raise RequestProblem("status", "", answer.status, answer.headers, text)
    try:
        return answer.json()
    except ValueError as error:
        raise RequestProblem("not_json") from error


def identify_server(base_url: str) -> tuple[str, bool]:
    """A server's name for a person (host and port, nothing secret), and whether it is on this machine. Raises
    ValueError for no address."""
    parts = urlsplit(base_url or OPENAI_URL)
    host = parts.hostname or ""
    if not host or parts.port == 0:
        raise ValueError("an address without a host")
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    return parts.netloc.rpartition("@")[2], local


def check_server_url(base_url: str, setting: str) -> str:
    """The name of the server at a setting's address. Raises ValueError with a sentence for a person."""
    try:
        server, _ = identify_server(base_url)
    except ValueError:
        raise ValueError(f"{setting} is not an address.") from None
    if not base_url.startswith(("http://", "https://")):
        raise ValueError(f"{setting} must start with http:// or https://.")
    return server
