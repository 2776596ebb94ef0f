"""Finds the model server that the settings name, else a local Ollama; and checks one by asking it. Quick, and never raises.

It looks at names only; whether a model is any good is not known here. No sentence of it ever holds a key.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests
from pydantic import BaseModel

from agent.config import Config
from agent.errors import ModelUnavailable, ReplyError
from agent.llm.client import OFFICIAL, Client, place
from agent.llm.model import Model
from agent.llm.reply import parse

LOOK_S = 3.0
"""Seconds a named server may take to list its models."""
LOCAL_LOOK_S = 0.3
"""Seconds a local Ollama may take: when it is there it answers in a few milliseconds, and nobody waits for one that is not."""
CHECK_S = 30.0
"""Seconds the check may take: a local model may have to be loaded first."""
_NOT_CHAT = re.compile(
    r"embed|whisper|tts|transcri|speech|audio|realtime|voice|dall-e|image|sora|moderation|rerank|guard|"
    r"babbage|davinci|(?:^|/)(?:bge|e5|gte)-|gpt-3\.5-turbo-instruct",
    re.IGNORECASE,
)
NOTHING = (
    "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for another server, or start Ollama. "
    "Until then Touchstone works keyless, by rules alone."
)


@dataclass(frozen=True)
class Found:
    """The client, or None; `label` is a few words for a badge, `detail` a sentence for a person."""

    client: Client | None
    label: str
    detail: str


class Check(BaseModel):
    """The reply the check asks for."""

    ok: bool


def find(config: Config) -> Found:
    """The server the settings name; only when they name none, a local Ollama. A named one that fails is not replaced."""
    try:
        if config["OPENAI_API_KEY"] or config["OPENAI_BASE_URL"]:
            return _named(config)
        return _ollama(config)
    except _Absent as absent:
        return Found(None, "keyless", str(absent))


def check(client: Model, *, within_s: float = CHECK_S) -> tuple[bool, str]:
    """Asks for one tiny reply: whether it came, and a sentence for a person. It costs some fifty tokens."""
    where = getattr(client, "server", "the server")
    began = time.monotonic()
    question = [{"role": "user", "content": 'This is a test. Reply with the JSON object {"ok": true} and nothing else.'}]
    try:
        reply = client.complete(question, tier="strong", schema=Check, checkpoint=_deadline(began + within_s, where, within_s))
        parse(reply.text, Check)
    except ModelUnavailable as error:
        return False, str(error)
    except ReplyError as error:
        return False, f"{client.strong} at {where} answered, but not as asked. {error}"
    return True, f"{client.strong} at {where} answered in {time.monotonic() - began:.1f} s."


class _Absent(Exception):
    """There is no model to use; the message says why."""


def _named(config: Config) -> Found:
    base_url, secret = config["OPENAI_BASE_URL"] or OFFICIAL, config["OPENAI_API_KEY"]
    server, _ = _placed(base_url, "OPENAI_BASE_URL")
    strong = config["MODEL"]
    if not strong:
        strong = _first(_models(base_url, key=secret, within_s=LOOK_S), server)
        chosen = "the first chat model it offers; MODEL chooses another"
    else:
        chosen = "as MODEL says"
    client = _client(config, base_url, strong=strong, key=secret)
    return Found(client, f"{strong} at {server}", f"{strong} at {server}, {chosen}.")


def _ollama(config: Config) -> Found:
    if not config["OLLAMA_URL"]:
        raise _Absent(NOTHING)
    base_url = config["OLLAMA_URL"].rstrip("/") + "/v1"
    server, _ = _placed(base_url, "OLLAMA_URL")
    try:
        offered = _models(base_url, key="", within_s=LOCAL_LOOK_S)
    except _Absent:
        raise _Absent(NOTHING) from None
    wanted = config["MODEL"]
    if wanted and wanted not in offered and f"{wanted}:latest" not in offered:
        raise _Absent(f"The Ollama at {server} has no model {wanted}: run “ollama pull {wanted}”, or set MODEL to one it has.")
    strong = wanted or _first(offered, server)
    return Found(_client(config, base_url, strong=strong, key=""), f"{strong} (Ollama)", f"{strong} on the Ollama at {server}.")


def _client(config: Config, base_url: str, *, strong: str, key: str) -> Client:
    timeout_s = config.number("MODEL_TIMEOUT")
    return Client(base_url, strong=strong, fast=config["FAST_MODEL"], key=key, timeout_s=timeout_s if timeout_s > 0 else 60.0)


def _placed(base_url: str, setting: str) -> tuple[str, bool]:
    try:
        where = place(base_url)
    except ValueError:
        raise _Absent(f"{setting} is not an address.") from None
    if not base_url.startswith(("http://", "https://")):
        raise _Absent(f"{setting} must start with http:// or https://.")
    return where


def _first(offered: list[str], server: str) -> str:
    """The first name that is not one of another trade (embeddings, speech, images)."""
    if not offered:
        raise _Absent(f"{server} offers no model. Load one, or set MODEL.")
    for name in offered:
        if not _NOT_CHAT.search(name):
            return name
    raise _Absent(f"{server} offers no chat model (only {', '.join(offered[:3])}). Set MODEL to use one of them all the same.")


def _models(base_url: str, *, key: str, within_s: float) -> list[str]:
    """The names that GET /models lists. `requests`, not the SDK: looking in vain must not cost its import."""
    server, _ = place(base_url)
    with requests.Session() as session:
        session.trust_env = False
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            answer = session.get(f"{base_url.rstrip('/')}/models", headers=headers, timeout=within_s, allow_redirects=False)
            data: Any = answer.json() if answer.status_code == 200 else None
        except requests.Timeout:
            raise _Absent(f"{server} did not list its models within {within_s:g} s. Set MODEL to go without the list.") from None
        except requests.JSONDecodeError:
            raise _Absent(f"{server} did not answer like a model server. Check OPENAI_BASE_URL, or set MODEL.") from None
        except (requests.RequestException, ValueError):
            raise _Absent(f"{server} could not be reached. Check OPENAI_BASE_URL and that it runs.") from None
    if answer.status_code != 200:
        raise _Absent(_unlisted(answer.status_code, server))
    listed = data.get("data") if isinstance(data, dict) else None
    return [item["id"] for item in listed or [] if isinstance(item, dict) and isinstance(item.get("id"), str)]


def _unlisted(status: int, server: str) -> str:
    if status in (401, 403):
        return f"{server} did not accept the key ({status}). Check OPENAI_API_KEY."
    return f"{server} did not list its models ({status}). Check OPENAI_BASE_URL, or set MODEL to go without the list."


def _deadline(end: float, where: str, within_s: float) -> Callable[[], None]:
    def look() -> None:
        if time.monotonic() > end:
            raise ModelUnavailable(f"{where} gave no reply within {within_s:g} s.")

    return look
