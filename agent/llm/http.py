"""Plain HTTP requests to a model server: its address, its name for a person, and one JSON request with one
kind of error.

`requests` instead of the SDK, because looking for a server must not cost the SDK's import. No proxy of the
environment, no redirects: a key goes to the server it was given for."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

import requests

OPENAI_URL = "https://api.openai.com/v1"
ProblemKind = Literal["timeout", "not_json", "unreachable", "status"]


class RequestProblem(Exception):
    """Why there is no JSON answer. `kind` "status": not 200; then the answer's parts are set."""

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


def request_json(url: str, *, key: str, timeout: float | tuple[float, float], body: Any = None) -> Any:
    """The JSON of a 200: GET without a `body`, else POST. Raises RequestProblem."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    method = "GET" if body is None else "POST"
    with requests.Session() as session:
        session.trust_env = False
        try:
            answer = session.request(
                method, url, json=body, headers=headers, timeout=timeout, allow_redirects=False
            )
            if answer.status_code != 200:
                raise RequestProblem("status", "", answer.status_code, answer.headers, answer.text)
            return answer.json()
        except requests.Timeout as error:
            raise RequestProblem("timeout") from error
        except requests.JSONDecodeError as error:
            raise RequestProblem("not_json") from error
        except (requests.RequestException, ValueError) as error:
            raise RequestProblem("unreachable", type(error).__name__) from error


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
