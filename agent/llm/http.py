"""Plain HTTP requests to a model server: its address, its name for a person, and one JSON request with one
kind of error.

Not over the SDK, because looking for a server must not cost its import."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

from urllib3.util import make_headers

from agent.net.deadline import Deadline, DeadlineExceeded, NoAnswer
from agent.net.exchange import AnswerUnusable, Connections, Reply
from agent.net.policies import MODEL_LIST, Policy
from agent.settings.key_addresses import OPENAI_URL


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


# How many tokens a model takes, prompt and reply together: what its server says of it. Quick, and never
# raises.
#
# OpenAI's protocol has no field for it; servers add their own to `GET /models`, or tell it at an address of
# their own: LM Studio (`/api/v0/models`), llama.cpp (`/props`), Ollama (`/api/ps`, `/api/show`). A local
# server is asked there, too. What a server has loaded counts, not what the model was trained for.

ASSUMED_TOKENS = 32_768
"""Where nobody tells: what hosted models have at least (2026); no prompt of ours needs more."""
OLLAMA_TOKENS = 4_096
"""What Ollama gives a model on a machine with less than 24 GiB of video memory (its documentation, 2026)."""
LEAST_TOKENS = 1_024
"""A smaller figure is no context length."""
_FIELDS = (
    *("loaded_context_length", "max_model_len", "context_length", "context_window", "n_ctx"),
    *("max_context_length", "max_input_tokens"),
)
"""Fields of a listed model (LM Studio, vLLM, OpenRouter, Groq, llama.cpp, Mistral, LiteLLM), best first."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)
_STATED_LIMIT = re.compile(r"(?:context (?:length|size|window)|maximum)\D{0,40}?(\d{4,7})", re.IGNORECASE)


def ask_context_length(base_url: str, key: str, model: str) -> tuple[int, bool]:
    """The tokens, 0 where the server does not tell, and whether that stands: a model that is not loaded yet
    may get another length."""
    base = base_url.rstrip("/")
    deadline = Deadline(MODEL_LIST.seconds)
    if found := _read_list(_request(f"{base}/models", key, deadline), model):
        return found, True
    if not identify_server(base)[1]:
        return 0, True
    root = base.removesuffix("/v1")
    if found := _read_list(_request(f"{root}/api/v0/models", key, deadline), model):
        return found, True
    props = _request(f"{root}/props", key, deadline)
    if found := _read_fields((props or {}).get("default_generation_settings")):
        return found, True
    running = (_request(f"{root}/api/ps", "", deadline) or {}).get("models")
    if not isinstance(running, list):  # some servers answer any address
        return 0, True
    listed = [{**item, "id": item.get("model")} for item in running if isinstance(item, dict)]
    if found := _read_list({"data": listed}, model):
        return found, True
    shown = _request(f"{root}/api/show", "", deadline, body={"model": model}) or {}
    asked = _NUM_CTX.search(str(shown.get("parameters", "")))
    return (int(asked[1]) if asked else OLLAMA_TOKENS), False


def read_stated_limit(message: str) -> int:
    """The context length that a server names when it refuses a prompt; 0 for none."""
    found = _STATED_LIMIT.search(message)
    return int(found[1]) if found and int(found[1]) >= LEAST_TOKENS else 0


def _read_list(data: dict[str, Any] | None, model: str) -> int:
    listed, names = (data or {}).get("data"), (model, f"{model}:latest")
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    found = (
        _read_fields(item) or _read_fields(item.get("meta")) for item in items if item.get("id") in names
    )
    return next(filter(None, found), 0)


def _read_fields(item: Any) -> int:
    values = (item.get(name) for name in _FIELDS) if isinstance(item, dict) else ()
    return next((value for value in values if isinstance(value, int) and value >= LEAST_TOKENS), 0)


def _request(url: str, key: str, deadline: Deadline, body: Any = None) -> dict[str, Any] | None:
    """The answer, None where there is none that can be read."""
    try:
        data = request_json(url, MODEL_LIST, key=key, deadline=deadline, body=body)
    except (NoAnswer, UnexpectedReply):
        return None
    return data if isinstance(data, dict) else None
