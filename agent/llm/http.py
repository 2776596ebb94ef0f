"""Plain HTTP requests to a model server: its address, its name for a person, and one JSON request with one
kind of error.

Not over the SDK, because looking for a server must not cost its import."""

from __future__ import annotations

import json
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

from urllib3.util import make_headers

from agent.key_addresses import OPENAI_URL
from agent.net.deadline import Deadline, DeadlineExceeded, NoAnswer
from agent.net.exchange import AnswerUnusable, Connections, Reply
from agent.net.policies import Policy


class UnexpectedReply(Exception):
    """An answer that is not the JSON of a 200."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"status {reply.status}")
        self.reply, self.text = reply, reply.body.decode("utf-8", "replace")


def request_json(
    url: str, policy: Policy, *, key: str, deadline: Deadline | None = None, body: Any = None
) -> Any:
    """The JSON of a 200: GET without a `body`, else POST. Raises NoAnswer, UnexpectedReply."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    if name_and_password := urlsplit(url).netloc.rpartition("@")[0]:
        headers |= make_headers(basic_auth=unquote(name_and_password))
    sent = None if body is None else json.dumps(body).encode()
    connections = Connections([urlsplit(url).hostname or ""])
    try:
        reply = connections.exchange(policy, url, headers, sent, deadline=deadline)
    finally:
        connections.close()
    if reply.status == 200:
        with suppress(ValueError):
            return reply.json()
    raise UnexpectedReply(reply)


def explain_no_answer(server: str, why: NoAnswer, late: str, setting: str) -> str:
    """The sentence for a server that gave no answer; `late` is what it did not do in time."""
    if isinstance(why, DeadlineExceeded):
        return f"{server} {late}."
    if isinstance(why, AnswerUnusable):
        return f"{server} cannot be used. {why} Check {setting}."
    cause = type(why.__cause__ or why).__name__
    return f"{server} could not be reached ({cause}). Check {setting} and that it runs."


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
