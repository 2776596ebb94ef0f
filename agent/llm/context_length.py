"""How many tokens a model takes, prompt and reply together: what its server says of it. Quick, and never
raises.

OpenAI's protocol has no field for it; servers add their own to `GET /models`, or tell it at an address of
their own: LM Studio (`/api/v0/models`), llama.cpp (`/props`), Ollama (`/api/ps`, `/api/show`). A local server
is asked there, too. What a server has loaded counts, not what the model was trained for."""

from __future__ import annotations

import re
from typing import Any

from agent.llm.http import UnexpectedReply, identify_server, request_json
from agent.net.deadline import Deadline, NoAnswer
from agent.net.policies import MODEL_LIST

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
    running = _request(f"{root}/api/ps", "", deadline)
    if running is None or not isinstance(running.get("models"), list):  # some servers answer any address
        return 0, True
    listed = [{**item, "id": item.get("model")} for item in _list_items(running.get("models"))]
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
    names = (model, f"{model}:latest")
    items = [item for item in _list_items((data or {}).get("data")) if item.get("id") in names]
    return next(
        (found for item in items if (found := _read_fields(item) or _read_fields(item.get("meta")))), 0
    )


def _read_fields(item: Any) -> int:
    values = (item.get(name) for name in _FIELDS) if isinstance(item, dict) else ()
    return next((value for value in values if isinstance(value, int) and value >= LEAST_TOKENS), 0)


def _list_items(data: Any) -> list[dict[str, Any]]:
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []


def _request(url: str, key: str, deadline: Deadline, body: Any = None) -> dict[str, Any] | None:
    """The answer, None where there is none that can be read."""
    try:
        data = request_json(url, MODEL_LIST, key=key, deadline=deadline, body=body)
    except (NoAnswer, UnexpectedReply):
        return None
    return data if isinstance(data, dict) else None
