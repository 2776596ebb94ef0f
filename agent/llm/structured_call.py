"""One question to a model, from messages to a checked value: recall, ask, parse, one repair, record. Knows no
prompt by name.

A completion is asked again at most twice: once when it was cut off at its length limit (asking to be shorter,
with twice the room), once when it did not fit the shape (telling the model what was wrong). A refusal is not
argued with."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from pydantic import BaseModel

from agent.errors import ModelReplyError, ModelUnavailable, Signal
from agent.llm import prices
from agent.llm.model import MAX_TOKENS, Checkpoint, Completion, Message, Model, Tier
from agent.llm.parse_reply import parse_reply
from agent.llm.request_options import build_strict_schema
from agent.types import ModelCall

MAX_SHOWN_CHARACTERS = 6000
"""Characters of a faulty reply that are shown to the model again."""
DECLINE_MESSAGES = {
    "refusal": "The model declined",
    "content_filter": "The server's content filter held the reply back",
}
_SCHEMA_INSTRUCTION = (
    "Reply with one JSON object and nothing else: no fence, no remark. It must fit this JSON schema:\n"
)
_SHORTEN_INSTRUCTION = "Your reply was cut off before its end. Say the same in at most half as many words, as one complete JSON object."

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True)
class CallContext:
    """Whose call it is, and where calls are kept: `recall` gives the stored call of a key, `record` stores
    one (each once).

    `earlier` are the numbers under which this step was begun before without coming to its end; `kept` looks
    for what was paid then."""

    run_id: str
    step: int
    role: str
    recall: Callable[[str], ModelCall | None]
    record: Callable[[ModelCall], None]
    checkpoint: Checkpoint
    earlier_steps: Sequence[int] = ()
    recall_earlier: Callable[[str], ModelCall | None] = lambda _key: None


def request_structured(
    client: Model, ticket: CallContext, messages: Sequence[Message], shape: type[Shape], *, tier: Tier
) -> Shape:
    """The model's reply as `shape`. Raises ModelUnavailable (no answer) or ReplyError (no usable one);
    Signals pass through.

    Every completion is recorded as a Call, usable or not; its `error` says what was wrong. A recorded Call
    that was answered is used again without asking; one that was not keeps its key, and the next attempt gets
    its own."""
    ticket.checkpoint()
    complete = partial(client.complete, tier=tier, schema=shape, checkpoint=ticket.checkpoint)
    model = client.strong if tier == "strong" else client.fast
    prompt, room, attempt, chances = add_schema(messages, shape), MAX_TOKENS, 1, {"shorter", "repair"}
    while True:
        call = _recall_or_create(ticket, prompt, attempt, model)
        recalled = _is_answered(call)
        if not recalled:
            call = _complete_call(
                partial(complete, prompt, max_tokens=room), ticket, call, local=client.local
            )
        value, trouble = _read_reply(call, shape)
        if not recalled:
            ticket.record(call.model_copy(update={"error": trouble}))
        if value is not None:
            return value
        chance = "shorter" if call.finish == "length" else "repair"
        if call.finish in DECLINE_MESSAGES or chance not in chances:
            raise ModelReplyError(f"{model} gave no usable reply. {trouble}")
        chances.discard(chance)
        attempt = call.attempt + 1
        if chance == "shorter":
            prompt, room = [*prompt, {"role": "user", "content": _SHORTEN_INSTRUCTION}], room * 2
        else:
            prompt = _build_repair_prompt(prompt, call.reply, trouble)


def add_schema(messages: Sequence[Message], shape: type[BaseModel]) -> list[Message]:
    """The messages with the reply's schema told at the end of the system part; not every server enforces
    it."""
    told = _SCHEMA_INSTRUCTION + json.dumps(build_strict_schema(shape), ensure_ascii=False)
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n\n{told}"}, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]


def attempt_key(ticket: CallContext, prompt: Sequence[Message], attempt: int) -> str:
    """SHA-256, hex, of run, step, attempt and prompt."""
    return compute_call_key(ticket.run_id, ticket.step, attempt, prompt)


def compute_call_key(run_id: str, step: int, attempt: int, prompt: Sequence[Message]) -> str:
    """The key of a call; see `key`."""
    return hashlib.sha256(
        json.dumps([run_id, step, attempt, list(prompt)], sort_keys=True).encode()
    ).hexdigest()


def _recall_or_create(ticket: CallContext, prompt: list[Message], attempt: int, model: str) -> ModelCall:
    """The stored Call that was answered; else a new one under the first key that is free."""
    for step in ticket.earlier_steps:
        paid = ticket.recall_earlier(compute_call_key(ticket.run_id, step, attempt, prompt))
        if paid is not None and _is_answered(paid):
            return paid
    while (call := ticket.recall(attempt_key(ticket, prompt, attempt))) is not None:
        if _is_answered(call):
            return call
        attempt += 1
    return ModelCall(
        key=attempt_key(ticket, prompt, attempt),
        run_id=ticket.run_id,
        step=ticket.step,
        role=ticket.role,
        model=model,
        attempt=attempt,
        prompt=prompt,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _is_answered(call: ModelCall) -> bool:
    """A call that no reply came to has no tokens; an empty reply has cost at least its prompt."""
    return call.prompt_tokens > 0


def _complete_call(
    complete: Callable[[], Completion], ticket: CallContext, call: ModelCall, *, local: bool
) -> ModelCall:
    """The call with its reply, not yet recorded. When none comes, that is recorded and the reason raised."""
    began = time.monotonic()
    try:
        reply = complete()
    except (ModelUnavailable, Signal) as error:
        why = (
            str(error)
            if isinstance(error, ModelUnavailable)
            else f"Given up while waiting ({type(error).__name__})."
        )
        ticket.record(
            call.model_copy(update={"error": why, "cost_usd": 0.0, "seconds": time.monotonic() - began})
        )
        raise
    cost = 0.0 if local else prices.compute_cost(reply.model, reply.prompt_tokens, reply.completion_tokens)
    answer = {
        "reply": reply.text,
        "model": reply.model,
        "finish": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "estimated": reply.estimated,
        "cost_usd": cost,
        "seconds": reply.seconds,
    }
    return call.model_copy(update=answer)


def _read_reply(call: ModelCall, shape: type[Shape]) -> tuple[Shape | None, str]:
    """The value in a reply and "", or None and what is wrong with it. A reply that was cut off is not read at
    all."""
    if call.finish in DECLINE_MESSAGES:
        said = f": {call.reply.strip()[:300]}" if call.reply.strip() else "."
        return None, DECLINE_MESSAGES[call.finish] + said
    if call.finish == "length":
        return None, "The reply was cut off at its length limit."
    try:
        return parse_reply(call.reply, shape), ""
    except ModelReplyError as error:
        return None, str(error)


def _build_repair_prompt(prompt: list[Message], reply: str, trouble: str) -> list[Message]:
    """The prompt with the faulty reply and what was wrong with it. Some servers refuse a message without
    content."""
    said = [{"role": "assistant", "content": reply[:MAX_SHOWN_CHARACTERS]}] if reply.strip() else []
    told = f"{trouble} Reply again with one complete JSON object that fits the schema, and nothing else."
    return [*prompt, *said, {"role": "user", "content": told}]
