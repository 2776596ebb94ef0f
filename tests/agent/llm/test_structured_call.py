"""From messages to a checked value: repair, shortening, refusals, what is recorded, and that nothing is paid
for twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import BaseModel, ConfigDict

from agent.errors import BudgetSpent, LeaseLost, ModelReplyError, ModelUnavailable, StopRequested
from agent.llm.model import MAX_TOKENS, Completion, Model
from agent.llm.structured_call import CallContext, add_schema, request_structured
from agent.types import ModelCall
from tests.web import model_server as web
from tests.web.model_server import Reply
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow

ASK = [{"role": "system", "content": "You judge."}, {"role": "user", "content": "Is it?"}]


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    ok: bool
    why: str = ""


class Kept(dict[str, ModelCall]):
    """Where calls are kept; a key is written once."""

    def record(self, call: ModelCall) -> None:
        assert call.key not in self
        self[call.key] = call

    def ticket(self, step: int = 3, checkpoint: Callable[[], None] = lambda: None) -> CallContext:
        return CallContext("run", step, "judge", self.get, self.record, checkpoint)

    @property
    def calls(self) -> list[ModelCall]:
        return list(self.values())


def asked(model: Model, kept: Kept, **ticket) -> Verdict:
    return request_structured(model, kept.ticket(**ticket), ASK, Verdict, tier="strong")


def cut(text: str) -> Completion:
    return Completion(text, 5, 5, 0.0, "m", "length")


def test_a_good_reply_is_a_value_and_a_call():
    model, kept = ScriptedModel([{"ok": True, "why": "så"}]), Kept()
    assert asked(model, kept) == Verdict(ok=True, why="så")
    [call] = kept.calls
    assert (call.run_id, call.step, call.role, call.model, call.attempt) == ("run", 3, "judge", "scripted", 1)
    assert (call.reply, call.error, call.finish, call.cost_usd) == (
        '{"ok": true, "why": "så"}',
        "",
        "stop",
        0.0,
    )
    assert call.prompt == model.requests[0].messages
    assert call.prompt_tokens > 0
    assert call.at.endswith("Z")


def test_the_form_of_the_reply_is_told_in_the_system_part():
    for messages in (ASK, ASK[1:], []):
        told = add_schema(messages, Verdict)
        assert told[0]["role"] == "system"
        assert '"ok": boolean' in told[0]["content"]
        assert told[1:] == [message for message in messages if message["role"] != "system"]
    assert add_schema(ASK, Verdict)[0]["content"].startswith("You judge.")
    assert ASK[0]["content"] == "You judge."


@pytest.mark.parametrize(
    "bad", ["", "Sorry?", '{"ok": ', '{"okay": true}', '{"ok": true, "ok": NaN}', "null"]
)
def test_a_bad_reply_is_told_what_is_wrong_once(bad: str):
    model, kept = ScriptedModel([bad, {"ok": True}]), Kept()
    assert asked(model, kept).ok
    first, second = kept.calls
    assert first.error.startswith("The reply") and second.error == ""
    assert [call.attempt for call in kept.calls] == [1, 2]
    repair = model.requests[1].messages
    assert repair[: len(ASK)] == model.requests[0].messages
    assert first.error in repair[-1]["content"]
    assert all(message["content"] for message in repair)
    assert (bad in [message["content"] for message in repair]) == bool(bad)


def test_two_bad_replies_are_a_reply_error():
    model, kept = ScriptedModel(["no", '{"ok": "perhaps"}']), Kept()
    with pytest.raises(
        ModelReplyError, match=r"scripted gave no usable reply\. .*ok: Input should be a valid boolean"
    ):
        asked(model, kept)
    assert [bool(call.error) for call in kept.calls] == [True, True]


def test_a_cut_off_reply_gets_more_room_once_and_is_never_mended():
    model, kept = ScriptedModel([cut('{"ok": true}'), {"ok": False}]), Kept()
    assert asked(model, kept).ok is False
    assert [one.max_tokens for one in model.requests] == [MAX_TOKENS, 2 * MAX_TOKENS]
    assert "cut off" in model.requests[1].messages[-1]["content"]
    model = ScriptedModel([cut('{"ok": true}'), cut('{"ok": true}'), {"ok": True}])
    with pytest.raises(ModelReplyError, match="cut off"):
        asked(model, Kept())
    assert model.calls == 2


def test_shortening_and_repair_are_each_done_once_at_most():
    model = ScriptedModel(["no", cut("{"), "no", {"ok": True}])
    with pytest.raises(ModelReplyError):
        asked(model, Kept())
    assert model.calls == 3
    assert asked(ScriptedModel([cut("{"), "no", {"ok": True}]), Kept()).ok


@pytest.mark.parametrize("finish", ["refusal", "content_filter"])
def test_a_refusal_is_not_argued_with(finish: str):
    model, kept = ScriptedModel([Completion("I must not.", 5, 5, 0.0, "m", finish), {"ok": True}]), Kept()
    with pytest.raises(ModelReplyError, match="I must not"):
        asked(model, kept)
    assert model.calls == 1
    assert kept.calls[0].finish == finish


def test_what_was_answered_is_not_paid_for_again():
    kept = Kept()
    asked(ScriptedModel(["no", cut("{"), {"ok": True}]), kept)
    before = dict(kept)
    nobody = ScriptedModel([])
    assert asked(nobody, kept).ok
    assert nobody.calls == 0
    assert kept == before


def test_a_crash_in_the_middle_pays_for_the_rest_only():
    kept = Kept()
    with pytest.raises(ModelUnavailable):
        asked(ScriptedModel(["no"]), kept)
    rest = ScriptedModel([{"ok": True}])
    assert asked(rest, kept).ok
    assert rest.calls == 1
    assert rest.requests[0].messages[-1]["content"].startswith("The reply")


def test_a_failed_call_is_kept_and_asked_again_under_its_own_key():
    kept = Kept()
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="gone"):
            asked(ScriptedModel([ModelUnavailable("gone")]), kept)
    assert asked(ScriptedModel([{"ok": True}]), kept).ok
    assert [(call.attempt, call.error, call.prompt_tokens) for call in kept.calls[:2]] == [
        (1, "gone", 0),
        (2, "gone", 0),
    ]
    assert kept.calls[2].attempt == 3
    assert asked(ScriptedModel([]), kept).ok


@pytest.mark.parametrize("signal", [StopRequested("s"), BudgetSpent("b")])
def test_a_signal_passes_and_the_abandoned_call_is_kept(signal: Exception):
    kept = Kept()
    with pytest.raises(type(signal)):
        asked(ScriptedModel([signal]), kept)
    assert kept.calls[0].error.startswith("Given up while waiting")


def test_a_stopped_run_leaves_no_trace():
    def checkpoint() -> None:
        raise StopRequested("stop")

    model, kept = ScriptedModel([{"ok": True}]), Kept()
    with pytest.raises(StopRequested):
        asked(model, kept, checkpoint=checkpoint)
    assert (model.calls, kept.calls) == (0, [])


def test_a_lost_lease_records_nothing():
    kept = Kept()
    with pytest.raises(LeaseLost):
        asked(ScriptedModel([LeaseLost("other")]), kept)
    assert kept.calls == []


def test_a_price_is_known_or_none():
    priced, unknown = Kept(), Kept()
    for name, kept in (("gpt-4o-mini", priced), ("mystery", unknown)):
        model = ScriptedModel([{"ok": True}], strong=name)
        model.local = False
        asked(model, kept)
    assert priced.calls[0].cost_usd is not None
    assert priced.calls[0].cost_usd > 0
    assert unknown.calls[0].cost_usd is None


FAULTS: dict[str, tuple[Reply, type[Exception], int]] = {
    "429": (web.status(429), ModelUnavailable, 3),
    "429, come back in an hour": (web.status(429, retry_after=3600), ModelUnavailable, 1),
    "401": (web.status(401), ModelUnavailable, 1),
    "null": (web.says(None), ModelReplyError, 2),
    "empty": (web.says(""), ModelReplyError, 2),
    "tool call": (web.says(None, finish="tool_calls", tool_calls=[]), ModelReplyError, 2),
    "truncated": (web.says('{"ok": tr'), ModelReplyError, 2),
    "length": (web.says('{"ok": tr', finish="length"), ModelReplyError, 2),
    "wrong schema": (web.says('{"yes": 1}'), ModelReplyError, 2),
    "prose": (web.says("It is."), ModelReplyError, 2),
    "endless thoughts": (web.says('<think>{"ok": true}'), ModelReplyError, 2),
    "refusal": (web.says(None, refusal="No."), ModelReplyError, 1),
    "content filter": (web.says(None, finish="content_filter"), ModelReplyError, 1),
}
