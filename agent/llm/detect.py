"""Finds the model server that the settings name, else a local Ollama; and checks one with a tiny request.
Quick, and never raises.

It looks at model names only; how good a model is, is not known here. No sentence ever holds a key."""

from __future__ import annotations

import logging
import re
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from agent.errors import BudgetSpent, ModelReplyError, ModelUnavailable
from agent.llm.client import ModelClient
from agent.llm.model import Model
from agent.llm.recorded import RECORDED, RecordedModel
from agent.llm.server import explain_no_answer, identify_server, request_json
from agent.llm.structured_call import RESERVE_NOTHING, CallContext, ReserveUse, request_structured
from agent.net.deadline import Deadline, NoAnswer
from agent.net.policies import MODEL_LIST
from agent.settings import reply_config
from agent.settings.config import Config
from agent.settings.key_addresses import explain_unused_key, find_address, use_key
from agent.settings.reply_config import LLMSettings
from agent.text.plurals import list_first

log = logging.getLogger(__name__)
QUICK_S = 0.3
"""Seconds a local Ollama may take, which answers in milliseconds, and that a screen waits for a search."""
RETRY_S = 10.0
"""Seconds after which a search that found none is repeated, when somebody wants to know."""
CHECK_TIMEOUT_S = 30.0
"""Seconds the check may take: a local model may have to be loaded first."""
_NOT_CHAT = re.compile(
    r"embed|whisper|tts|transcri|speech|audio|realtime|voice|dall-e|image|sora|moderation|rerank|guard|"
    r"babbage|davinci|(?:^|/)(?:bge|e5|gte)-|gpt-3\.5-turbo-instruct",
    re.IGNORECASE,
)
NO_MODEL = (
    "No model is set up: give a key (OPENAI_API_KEY) or a server's address (OPENAI_BASE_URL) in Settings, or "
    "start Ollama. Until then Touchstone shows passages, as quotes."
)


@dataclass(frozen=True)
class DetectedModel:
    """The client, or None; a sentence for a person that says which, or why there is none; and the models that
    its server lists, where it was asked."""

    client: ModelClient | None
    detail: str
    offered: tuple[str, ...] = ()


class Check(BaseModel):
    """The reply of the check."""

    ok: bool


def find_model(config: Config) -> DetectedModel:
    """The server the settings name, else a local Ollama. A named server that fails is not replaced."""
    if unused := explain_unused_key(config, "OPENAI_API_KEY"):
        log.warning(unused)
    try:
        if unused and not config.OPENAI_BASE_URL:
            raise ModelUnavailable("")
        client, detail, offered = _connect(config)
    except (ModelUnavailable, ValueError) as absent:
        client, detail, offered = None, str(absent), []
    return DetectedModel(client, f"{detail} {unused}".strip(), tuple(offered))


def _connect(config: Config) -> tuple[ModelClient, str, list[str]]:
    """Raises ModelUnavailable, and ValueError for what is no address."""
    strong, key, address = config.MODEL, "", find_address(config, "OPENAI_API_KEY")
    offered: list[str] = []
    if config.OPENAI_API_KEY or config.OPENAI_BASE_URL:
        server, _ = identify_server(address, "OPENAI_BASE_URL")
        key = use_key(config, "OPENAI_API_KEY", address)
        told = f"at {server}, as MODEL says."
        if not strong:
            offered = _list_models(address, server, key, MODEL_LIST.seconds)
            told = f"at {server}, the first chat model it offers; MODEL chooses another."
    elif config.OLLAMA_URL:
        address = config.OLLAMA_URL.rstrip("/") + "/v1"
        server, _ = identify_server(address, "OLLAMA_URL")
        try:
            offered = _list_models(address, server, "", QUICK_S)
        except ModelUnavailable:
            raise ModelUnavailable(NO_MODEL) from None
        if strong and not {strong, f"{strong}:latest"} & set(offered):
            pull = f"run “ollama pull {strong}”, or set MODEL to one it has"
            raise ModelUnavailable(f"The Ollama at {server} has no model {strong}: {pull}.")
        told = f"on the Ollama at {server}."
    else:
        raise ModelUnavailable(NO_MODEL)
    strong = strong or next((name for name in offered if not _NOT_CHAT.search(name)), "")
    if not strong:
        only = f"chat model (only {list_first(offered)}). Set MODEL to use one of them all the same"
        raise ModelUnavailable(f"{server} offers no {only if offered else 'model. Load one, or set MODEL'}.")
    client = ModelClient(
        address,
        strong=strong,
        fast=config.FAST_MODEL,
        judge=config.JUDGE_MODEL,
        key=key,
        timeout_s=config.MODEL_TIMEOUT,
        context=config.MODEL_CONTEXT,
    )
    return client, f"{strong} {told}", offered


def asks_no_server(config: Config) -> bool:
    """Whether the settings alone say which model it is."""
    if config.OPENAI_API_KEY or config.OPENAI_BASE_URL:
        return bool(config.MODEL)
    return not config.OLLAMA_URL


def check_model(
    client: Model, reserve: ReserveUse = RESERVE_NOTHING, *, within_s: float = CHECK_TIMEOUT_S
) -> tuple[bool, str]:
    """Asks for one tiny reply: whether it came, and a sentence for a person. It costs some hundred tokens,
    which `reserve` counts."""
    server, late = getattr(client, "server", "the server"), Deadline(within_s)

    def raise_if_late() -> None:
        if not late.remaining():
            raise ModelUnavailable(f"{server} gave no reply within {within_s:g} s.")

    call = CallContext("", 0, "check", lambda _: None, lambda _: None, raise_if_late, reserve=reserve)
    message = {"role": "user", "content": 'This is a test. Reply with {"ok": true}.'}
    try:
        request_structured(client, call, [message], Check, tier="strong")
    except (ModelUnavailable, BudgetSpent) as error:
        return False, str(error)
    except ModelReplyError as error:
        return False, f"{client.strong} at {server} answered, but not as asked. {error}"
    took = f"{client.strong} at {server} answered in {within_s - late.remaining():.1f} s"
    asked = {"json_schema": "JSON by a schema", "json_object": "JSON, but by no schema"}
    return True, f"{took}, in {asked.get(getattr(client, 'format', ''), 'JSON as plain text')}."


def _list_models(base_url: str, server: str, key: str, within_s: float) -> list[str]:
    """The names that GET /models lists."""
    without = "Set MODEL to go without the list"
    try:
        status, data = request_json(f"{base_url.rstrip('/')}/models", key=key, deadline=Deadline(within_s))
    except NoAnswer as why:
        late = f"did not list its models within {within_s:g} s. {without}"
        raise ModelUnavailable(explain_no_answer(server, why, late, "OPENAI_BASE_URL")) from None
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise ModelUnavailable(f"{server} did not accept the key ({status}). Check OPENAI_API_KEY.")
    if status != HTTPStatus.OK or data is None:
        what = "answer like a model server" if status == HTTPStatus.OK else f"list its models ({status})"
        raise ModelUnavailable(f"{server} did not {what}. Check OPENAI_BASE_URL. {without}.")
    listed = data.get("data") if isinstance(data, dict) else None
    return [item["id"] for item in listed or [] if isinstance(item, dict) and isinstance(item.get("id"), str)]


class ModelSearch:
    """The search for the model of one configuration, in a thread of its own: no screen waits for a server. It
    ends within seconds, and is repeated until it has found one, or when asked to; thread-safe."""

    def __init__(self, config: Config, *, rests: bool = True) -> None:
        """`rests`: see RecordedModel."""
        self.config, self._rests, self._options = config, rests, dict[str, Any]()
        """The options of the client, as `ModelClient.with_options` takes them."""
        self._lock = threading.Lock()
        self._thread = threading.Thread()
        self._began = 0.0
        self.found: DetectedModel | None = None
        """What was found last; None before the first search has ended."""
        self.listing = threading.Thread()

    def find(self, *, again: bool = False) -> DetectedModel:
        """The model, when the search has ended."""
        if (search := self._begin(again)).is_alive():
            search.join()
        assert self.found, "the search failed; see the log"
        return self.found

    def peek(self) -> DetectedModel | None:
        """What is known now."""
        if (search := self._begin()).is_alive():
            search.join(max(0.0, self._began + QUICK_S - time.monotonic()))
        return self.found

    def list_models(self) -> list[str]:
        """The chat models that the server lists; none while it is asked, in the background."""
        if (found := self.peek()) and found.client and not found.offered:
            with self._lock:
                if not self.listing.ident:
                    self.listing.start()
            self.listing.join(QUICK_S)
        return [name for name in self.found.offered if not _NOT_CHAT.search(name)] if self.found else []

    def _list(self) -> None:
        found = self.found
        with suppress(ModelUnavailable):
            if found and found.client:
                offered = _list_models(*found.client.account, MODEL_LIST.seconds)
                if self.found is found:  # no search has ended meanwhile
                    self.found = replace(found, offered=tuple(offered))

    def client(self, name: str, fast: str = "") -> tuple[Model | None, str]:
        """The client for a run's `model` ("auto", "keyless" or a name), and why there is none; "" for a run
        that wants none."""
        if name == "keyless":
            return None, ""
        if name == RECORDED:
            return RecordedModel(rests=self._rests), ""
        found = self.find()
        if found.client is None:
            return None, found.detail
        return found.client if name == "auto" else found.client.with_models(strong=name, fast=fast), ""

    def _begin(self, again: bool = False) -> threading.Thread:
        """The search that is under way or was the last, or a new one where one is needed."""
        with self._lock:
            needs_none = asks_no_server(self.config)
            if self.found:
                is_stale = time.monotonic() > self._began + RETRY_S
                again |= self.found.client is None and is_stale and not needs_none
            if not self._thread.is_alive() and (again or not self.found):
                self._thread, self._began = threading.Thread(target=self._run, daemon=True), time.monotonic()
                self.listing = threading.Thread(target=self._list, daemon=True)  # it is asked anew, too
                self._thread.start()
                if needs_none:
                    self._thread.join()
            return self._thread

    def _run(self) -> None:
        found = find_model(self.config)
        if found.client and self._options:
            found = replace(found, client=found.client.with_options(**self._options))
        self.found = found


class ReplyModel(ModelSearch):
    """The model of `reply`: the one that `ai_response.llm` names, else the environment's, with the file's
    options, found once. One that cannot be reached is told, and `reply` stays silent. Thread-safe."""

    def __init__(self, config: Config, llm: LLMSettings) -> None:
        super().__init__(reply_config.apply_llm_settings(config, llm), rests=False)
        own, limit = self.config, llm.vram_limit
        self.is_model_named = bool(own.OPENAI_API_KEY or own.OPENAI_BASE_URL or own.MODEL)
        if limit is not None and limit.is_integer():  # some servers accept a whole number as an integer only
            limit = int(limit)
        self._options = {
            "tries": 1 + llm.max_retries,
            "format": llm.structured_output_method,
            "extra": {} if limit is None else {"vram_limit": limit},
        }

    def client(self, name: str = "auto", fast: str = "") -> tuple[Model | None, str]:
        """See ModelSearch; no reason when no model is named."""
        client, absent = super().client(name, fast)
        return client, absent if self.is_model_named or name != "auto" else ""
