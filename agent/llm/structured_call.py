"""One question to a model, from messages to a validated value: recall, ask, parse, repair once, record.

A completion is repeated at most twice: once when it was cut off at its length limit (asking for a shorter
reply, with twice the room), once when it did not fit the schema (with the error). A refusal is final."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import BaseModel

from agent.errors import ModelReplyError, ModelUnavailable, PromptTooLong, Signal
from agent.llm import prices
from agent.llm.model import (
    BYTES_PER_TOKEN,
    MAX_TOKENS,
    MIN_REPLY_TOKENS,
    Checkpoint,
    CompletionRequest,
    Message,
    Model,
    Tier,
    choose_model,
    measure_prompt,
)
from agent.llm.parse_reply import parse_reply
from agent.llm.request_options import build_strict_schema, describe_shape
from agent.types import ModelCall

MAX_SHOWN_CHARACTERS = 6000
"""Characters of a faulty reply that are shown to the model again."""
DECLINE_MESSAGES = {
    "refusal": "The model declined",
    "content_filter": "The server's content filter held the reply back",
}
_SCHEMA_INSTRUCTION = (
    "Reply with one JSON object and nothing else: no fence, no remark. All of these fields, no others:\n"
)
_SHORTEN_INSTRUCTION = (
    "Your reply was cut off before its end. Say the same in at most half as many words, as one complete "
    "JSON object."
)
_REPAIR_INSTRUCTION = "Reply again with one complete JSON object that has all of these fields."

Shape = TypeVar("Shape", bound=BaseModel)
ReserveUse = Callable[[int, float], AbstractContextManager[Callable[[int, float], None]]]
RESERVE_NOTHING: ReserveUse = lambda _tokens, _dollars: nullcontext(lambda _tokens, _dollars: None)  # noqa: E731


@dataclass(frozen=True)
class CallContext:
    """The step a call belongs to, and its storage: `recall` gives the stored call of a key, `record` stores a
    call.

    `earlier_steps` are the numbers under which this step was begun before without an end; `recall_earlier`
    finds the calls that were paid then."""

    run_id: str
    step: int
    role: str
    recall: Callable[[str], ModelCall | None]
    record: Callable[[ModelCall], None]
    checkpoint: Checkpoint
    earlier_steps: Sequence[int] = ()
    recall_earlier: Callable[[str], ModelCall | None] = lambda _key: None
    filling: Callable[[], str] = lambda: ""
    """As in CompletionRequest."""
    reserve: ReserveUse = RESERVE_NOTHING
    """Reserves the most tokens and US dollars that a completion may use; what this gives is told its use."""


def request_structured(
    client: Model, context: CallContext, messages: Sequence[Message], shape: type[Shape], *, tier: Tier
) -> Shape:
    """The model's reply as `shape`. Raises ModelUnavailable (no answer) or ModelReplyError (no usable one);
    Signals pass through.

    Every completion is recorded as a ModelCall, usable or not; its `error` says what was wrong. A recorded
    call that was answered is used again; one that was not keeps its key: the next attempt has its own."""
    context.checkpoint()
    model = choose_model(client, tier)
    prompt, most, attempt, chances = add_schema(messages, shape), MAX_TOKENS, 1, {"shorter", "repair"}
    context_length, problem = client.context_length(tier), ""
    while True:
        room = min(most, context_length - measure_prompt(prompt))
        if room < MIN_REPLY_TOKENS and len(chances) < 2:
            raise ModelReplyError(f"{model} gave no usable reply. {problem}")
        if room < MIN_REPLY_TOKENS:
            raise PromptTooLong(
                f"The prompt is too long for {model}, which takes {context_length:,} tokens with the reply. "
                "Choose a model with a larger context; MODEL_CONTEXT tells it where the server does not."
            )
        call, is_new = _recall_or_create(context, prompt, attempt, model)
        if is_new:
            request = CompletionRequest(
                prompt, shape, tier, room, context.checkpoint, context.role, context.filling
            )
            cost = 0.0 if client.local else prices.compute_cost(model, measure_prompt(prompt), room)
            try:
                with context.reserve(measure_prompt(prompt) + room, cost or 0.0) as settle:
                    call = _complete_call(client, request, context, call)
                    settle(call.prompt_tokens + call.completion_tokens, call.cost_usd or 0.0)
            except PromptTooLong:  # the client has learnt what the server takes
                if (known := client.context_length(tier)) >= context_length:
                    raise
                context_length = known
                continue
        value, problem = None, ""
        if call.finish in DECLINE_MESSAGES:
            text = call.reply.strip()[:300]
            problem = DECLINE_MESSAGES[call.finish] + (f": {text}" if text else ".")
        elif call.finish == "length":
            problem = "The reply was cut off at its length limit."
        else:
            try:
                value = parse_reply(call.reply, shape)
            except ModelReplyError as error:
                problem = str(error)
        if is_new:
            context.record(call.replace(error=problem))
        if value is not None:
            return value
        chance = "shorter" if call.finish == "length" else "repair"
        if call.finish in DECLINE_MESSAGES or chance not in chances:
            raise ModelReplyError(f"{model} gave no usable reply. {problem}")
        chances.discard(chance)
        attempt = call.attempt + 1
        if chance == "shorter":
            prompt, most = [*prompt, {"role": "user", "content": _SHORTEN_INSTRUCTION}], most * 2
        else:
            shown = int((context_length - measure_prompt(prompt)) / 2 * BYTES_PER_TOKEN)
            # The prompt with the faulty reply and its error. Some servers refuse a message without
            # content
            reply = call.reply[:shown]
            faulty = [{"role": "assistant", "content": reply[:MAX_SHOWN_CHARACTERS]}] if reply.strip() else []
            prompt = [*prompt, *faulty, {"role": "user", "content": f"{problem} {_REPAIR_INSTRUCTION}"}]


def add_schema(messages: Sequence[Message], shape: type[BaseModel]) -> list[Message]:
    """The messages with the form of the reply at the end of the system part; not every server enforces it."""
    instruction = _SCHEMA_INSTRUCTION + describe_shape(build_strict_schema(shape))
    if messages and messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n\n{instruction}"}, *messages[1:]]
    return [{"role": "system", "content": instruction}, *messages]


def compute_call_key(run_id: str, step: int, attempt: int, prompt: Sequence[Message]) -> str:
    """The key of a call: SHA-256, hex, of run, step, attempt and prompt."""
    keyed = json.dumps([run_id, step, attempt, list(prompt)], sort_keys=True)
    return hashlib.sha256(keyed.encode()).hexdigest()


def _recall_or_create(
    context: CallContext, prompt: list[Message], attempt: int, model: str
) -> tuple[ModelCall, bool]:
    """The stored call that was answered, else one under the first free key; and whether it is new. Without a
    reply a call has no tokens, an empty one costs its prompt; one whose run had to rest is not used again."""
    for step in context.earlier_steps:
        paid = context.recall_earlier(compute_call_key(context.run_id, step, attempt, prompt))
        if paid is not None and paid.prompt_tokens and not paid.is_spent:
            return paid, False
    key = compute_call_key(context.run_id, context.step, attempt, prompt)
    while (call := context.recall(key)) is not None:
        if call.prompt_tokens and not call.is_spent:
            return call, False
        attempt += 1
        key = compute_call_key(context.run_id, context.step, attempt, prompt)
    new = ModelCall(
        key=key,
        run_id=context.run_id,
        step=context.step,
        role=context.role,
        model=model,
        attempt=attempt,
        prompt=prompt,
        reply="",
        error="",
        prompt_tokens=0,
        completion_tokens=0,
        estimated=False,
        finish="",
        cost_usd=None,
        seconds=0.0,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    return new, True


def _complete_call(
    client: Model, request: CompletionRequest, context: CallContext, call: ModelCall
) -> ModelCall:
    """The call with its reply, not yet recorded. A failure is recorded and raised."""
    began = time.monotonic()
    try:
        reply = client.complete(request)
    except (ModelUnavailable, Signal) as error:
        interrupted = f"Given up while waiting ({type(error).__name__})."
        reason = str(error) if isinstance(error, ModelUnavailable) else interrupted
        failed = {"error": reason, "cost_usd": 0.0, "seconds": time.monotonic() - began}
        context.record(call.model_copy(update=failed))
        raise
    cost = prices.compute_cost(reply.model, reply.prompt_tokens, reply.completion_tokens)
    answer = {
        "reply": reply.text,
        "model": reply.model,
        "finish": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "estimated": reply.estimated,
        "cost_usd": 0.0 if client.local else cost,
        "seconds": reply.seconds,
    }
    return call.model_copy(update=answer)
