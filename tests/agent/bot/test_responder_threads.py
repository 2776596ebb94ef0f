"""Many replies at once do not mix, and leave nothing behind."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select

from agent.bot.responder import ReplyOutcome
from agent.store import tables
from agent.types.reply import RequestContext
from tests.agent.bot.replies import Open, counted, rise, says
from tests.web.chatting_model import place
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


CODE = "Locker {0} is opened with code {0}."


def echo(messages: list[dict[str, Any]], shape: Any) -> Any:
    """Answers each conversation with the sentence its marker stands for, and keeps nothing."""
    prompt = "\n".join(message["content"] for message in messages)
    n = int(re.search(r"marker (\d+)", prompt)[1])  # type: ignore[index]
    if shape.__name__ == "GateReply":
        return {"should_reply": n % 10 != 9, "reasoning": f"marker {n}"}
    if shape.__name__ == "SelectionReply":
        return {"selected_source_ids": ["kb:lockers.md"], "reasoning": f"marker {n}"}
    quote = CODE.format(n)
    quotes = [{"passage_id": place(prompt, quote), "quote": quote}]
    said = {"answer": [{"text": quote, "quotes": quotes, "pictures": []}], "confidence": 0.9}
    return {"answer": "broken"} if n % 10 == 8 else said


@pytest.mark.parametrize("stored", [True, False])
def test_replies_from_16_threads_do_not_mix_and_leave_nothing_behind(opened: Open, stored: bool) -> None:
    model, many = ScriptedModel(echo), 40
    replying = opened({"ai_response": {"graph_timeout_seconds": 600}}, client=model, stored=stored)
    lockers = "# Lockers\n\n" + "\n\n".join(CODE.format(n) for n in range(many))
    replying.bench.library.add_file("lockers.md", lockers.encode())

    def ask(n: int) -> ReplyOutcome:
        asked = says(f"marker {n}: what is the code of the locker?")
        return replying.reply(asked, RequestContext(channel=str(n)))

    before = counted()
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(ask, range(many)))
    for n, replied in enumerate(told):
        if n % 10 == 9:
            assert (replied.path, replied.reason) == (("gate", "silent"), f"marker {n}")
        elif n % 10 == 8:
            assert (replied.path[-2:], replied.failed) == (("write", "silent"), True)
        else:
            assert replied.result.reply_text.startswith(CODE.format(n))
        assert bool(replied.result.reply_text) == (n % 10 < 8)
    assert len({replied.run_id for replied in told}) == many
    skip = error = many // 10
    success = many - skip - error
    expected = {
        'ai_requests_total{result="success"}': success,
        'ai_requests_total{result="skip"}': skip,
        'ai_requests_total{result="error"}': error,
        'ai_gate_total{decision="answerable"}': success + error,
        'ai_gate_total{decision="not_answerable"}': skip,
        'ai_tokens_total{kind="prompt"}': sum(replied.usage.prompt_tokens for replied in told),
        "ai_request_seconds_count": many,
    }
    found = rise(before)
    assert {name: found[name] for name in expected} == expected
    made = skip + 3 * success + 4 * error  # a broken reply is asked for once more
    assert model.calls == made == sum(replied.usage.llm_calls for replied in told)
    with replying.bench.store.engine.connect() as connection:
        rows = connection.scalar(select(func.count()).select_from(tables.steps))
    assert rows == (2 * skip + 5 * (success + error) if stored else 0), "the question, and one row a step"
    assert replying.bench.unstored.stores() == []
