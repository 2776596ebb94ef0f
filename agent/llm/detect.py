"""Finds the model server that the settings name, else a local Ollama; and checks one by asking it. Quick, and
never raises.

It looks at names only; whether a model is any good is not known here. No sentence of it ever holds a key."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests
from pydantic import BaseModel

from agent.config import Config
from agent.errors import ModelReplyError, ModelUnavailable
from agent.llm.client import OPENAI_URL, ModelClient, identify_server
from agent.llm.model import Model
from agent.llm.parse_reply import parse_reply

LIST_TIMEOUT_S = 3.0
"""Seconds a named server may take to list its models."""
LOCAL_LIST_TIMEOUT_S = 0.3
"""Seconds a local Ollama may take: when it is there it answers in a few milliseconds, and nobody waits for
one that is not."""
CHECK_TIMEOUT_S = 30.0
"""Seconds the check may take: a local model may have to be loaded first."""
_NOT_CHAT = re.compile(
    r"embed|whisper|tts|transcri|speech|audio|realtime|voice|dall-e|image|sora|moderation|rerank|guard|"
    r"babbage|davinci|(?:^|/)(?:bge|e5|gte)-|gpt-3\.5-turbo-instruct",
    re.IGNORECASE,
)
NO_MODEL = (
    "No model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL for another server, or start Ollama. "
    "Until then Touchstone works keyless, by rules alone."
)


@dataclass(frozen=True)
class DetectedModel:
    """The client, or None; `label` is a few words for a badge, `detail` a sentence for a person."""

    client: ModelClient | None
    label: str
    detail: str


class Check(BaseModel):
    """The reply the check asks for."""

    ok: bool


def find_model(config: Config) -> DetectedModel:
    """The server the settings name; only when they name none, a local Ollama. A named one that fails is not
    replaced."""
    try:
        if config.OPENAI_API_KEY or config.OPENAI_BASE_URL:
            return _find_configured(config)
        return _find_ollama(config)
    except _NoModel as absent:
        return DetectedModel(None, "keyless", str(absent))


def check_model(client: Model, *, within_s: float = CHECK_TIMEOUT_S) -> tuple[bool, str]:
    """Asks for one tiny reply: whether it came, and a sentence for a person. It costs some fifty tokens."""
    where = getattr(client, "server", "the server")
    began = time.monotonic()
    question = [
        {
            "role": "user",
            "content": 'This is a test. Reply with the JSON object {"ok": true} and nothing else.',
        }
    ]
    try:
        reply = client.complete(
            question,
            tier="strong",
            schema=Check,
            checkpoint=_build_deadline_check(began + within_s, where, within_s),
        )
        parse_reply(reply.text, Check)
    except ModelUnavailable as error:
        return False, str(error)
    except ModelReplyError as error:
        return False, f"{client.strong} at {where} answered, but not as asked. {error}"
    return True, f"{client.strong} at {where} answered in {time.monotonic() - began:.1f} s."


class _NoModel(Exception):
    """There is no model to use; the message says why."""


def _find_configured(config: Config) -> DetectedModel:
    base_url, secret = config.OPENAI_BASE_URL or OPENAI_URL, config.OPENAI_API_KEY
    server, _ = _check_server_url(base_url, "OPENAI_BASE_URL")
    strong = config.MODEL
    if not strong:
        strong = _choose_chat_model(_list_models(base_url, key=secret, within_s=LIST_TIMEOUT_S), server)
        chosen = "the first chat model it offers; MODEL chooses another"
    else:
        chosen = "as MODEL says"
    client = _build_client(config, base_url, strong=strong, key=secret)
    return DetectedModel(client, f"{strong} at {server}", f"{strong} at {server}, {chosen}.")


def _find_ollama(config: Config) -> DetectedModel:
    if not config.OLLAMA_URL:
        raise _NoModel(NO_MODEL)
    base_url = config.OLLAMA_URL.rstrip("/") + "/v1"
    server, _ = _check_server_url(base_url, "OLLAMA_URL")
    try:
        offered = _list_models(base_url, key="", within_s=LOCAL_LIST_TIMEOUT_S)
    except _NoModel:
        raise _NoModel(NO_MODEL) from None
    wanted = config.MODEL
    if wanted and wanted not in offered and f"{wanted}:latest" not in offered:
        raise _NoModel(
            f"The Ollama at {server} has no model {wanted}: run “ollama pull {wanted}”, or set MODEL to one it has."
        )
    strong = wanted or _choose_chat_model(offered, server)
    return DetectedModel(
        _build_client(config, base_url, strong=strong, key=""),
        f"{strong} (Ollama)",
        f"{strong} on the Ollama at {server}.",
    )


def _build_client(config: Config, base_url: str, *, strong: str, key: str) -> ModelClient:
    timeout_s = config.MODEL_TIMEOUT
    return ModelClient(
        base_url,
        strong=strong,
        fast=config.FAST_MODEL,
        key=key,
        timeout_s=timeout_s if timeout_s > 0 else 60.0,
    )


def _check_server_url(base_url: str, setting: str) -> tuple[str, bool]:
    try:
        where = identify_server(base_url)
    except ValueError:
        raise _NoModel(f"{setting} is not an address.") from None
    if not base_url.startswith(("http://", "https://")):
        raise _NoModel(f"{setting} must start with http:// or https://.")
    return where


def _choose_chat_model(offered: list[str], server: str) -> str:
    """The first name that is not one of another trade (embeddings, speech, images)."""
    if not offered:
        raise _NoModel(f"{server} offers no model. Load one, or set MODEL.")
    for name in offered:
        if not _NOT_CHAT.search(name):
            return name
    raise _NoModel(
        f"{server} offers no chat model (only {', '.join(offered[:3])}). Set MODEL to use one of them all the same."
    )


def _list_models(base_url: str, *, key: str, within_s: float) -> list[str]:
    """The names that GET /models lists. `requests`, not the SDK: looking in vain must not cost its import."""
    server, _ = identify_server(base_url)
    with requests.Session() as session:
        session.trust_env = False
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            answer = session.get(
                f"{base_url.rstrip('/')}/models", headers=headers, timeout=within_s, allow_redirects=False
            )
            data: Any = answer.json() if answer.status_code == 200 else None
        except requests.Timeout:
            raise _NoModel(
                f"{server} did not list its models within {within_s:g} s. Set MODEL to go without the list."
            ) from None
        except requests.JSONDecodeError:
            raise _NoModel(
                f"{server} did not answer like a model server. Check OPENAI_BASE_URL, or set MODEL."
            ) from None
        except (requests.RequestException, ValueError):
            raise _NoModel(
                f"{server} could not be reached. Check OPENAI_BASE_URL and that it runs."
            ) from None
    if answer.status_code != 200:
        raise _NoModel(_explain_list_failure(answer.status_code, server))
    listed = data.get("data") if isinstance(data, dict) else None
    return [item["id"] for item in listed or [] if isinstance(item, dict) and isinstance(item.get("id"), str)]


def _explain_list_failure(status: int, server: str) -> str:
    if status in (401, 403):
        return f"{server} did not accept the key ({status}). Check OPENAI_API_KEY."
    return f"{server} did not list its models ({status}). Check OPENAI_BASE_URL, or set MODEL to go without the list."


def _build_deadline_check(end: float, where: str, within_s: float) -> Callable[[], None]:
    def raise_if_late() -> None:
        if time.monotonic() > end:
            raise ModelUnavailable(f"{where} gave no reply within {within_s:g} s.")

    return raise_if_late
