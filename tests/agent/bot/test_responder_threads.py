"""Many replies at once do not mix, and leave nothing behind."""

from __future__ import annotations

import gc
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from agent.bot.metrics import ReplyOutcome
from agent.bot.responder import FLOW, ReplyService
from agent.engine.context import RunContext
from agent.flows import FLOWS
from agent.flows.reply.flow import REPLY
from agent.llm.model import CompletionRequest
from agent.store import tables
from agent.types.reply import AIResult, Conversation, RequestContext
from tests.agent.bot.replies import Open, counted, rise, says
from tests.web.replying_model import place
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


class Echo:
    """A model that answers each conversation with the sentence its marker stands for, and keeps nothing."""

    strong = fast = "echo"
    local = True

    def __init__(self) -> None:
        self.calls = 0
        self._lock = threading.Lock()

    def context_length(self, _tier: str) -> int:
        return 32_768

    def complete(self, request: CompletionRequest) -> Any:
        with self._lock:
            self.calls += 1
        prompt = "\n".join(message["content"] for message in request.messages)
        n = int(re.search(r"marker (\d+)", prompt)[1])  # type: ignore[index]
        quote = f"Locker {n % 40} is opened with code {1000 + n % 40}."
        said: dict[str, Any] = {
            "GateReply": {"should_reply": n % 10 != 9, "reasoning": f"marker {n}"},
            "SelectionReply": {"selected_source_ids": ["kb:lockers.md"], "reasoning": f"marker {n}"},
            "WritingReply": {
                "answer": [
                    {
                        "text": quote,
                        "quotes": [{"passage_id": place(prompt, quote), "quote": quote}],
                        "pictures": [],
                    }
                ],
                "missing": "",
                "confidence": 0.9,
            },
        }[request.schema.__name__]
        if n % 10 == 8 and request.schema.__name__ == "WritingReply":
            said = {"answer": "broken"}
        return ScriptedModel([said]).complete(request)


def alive(*kinds: type) -> int:
    gc.collect()
    return sum(issubclass(type(thing), kinds) for thing in gc.get_objects())


def storm(replying: ReplyService, numbers: range) -> list[ReplyOutcome]:
    with ThreadPoolExecutor(16) as pool:
        return list(
            pool.map(
                lambda n: replying.reply(
                    says(f"marker {n}: what is the code of the locker?"), RequestContext(channel=str(n))
                ),
                numbers,
            )
        )


def held() -> tuple[int, int]:
    """Open files (sockets and databases too) and megabytes of memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files in /proc")


def check_storm(opened: Open, many: int, *, stored: bool) -> None:
    model = Echo()
    replying = opened({"ai_response": {"graph_timeout_seconds": 600}}, client=model, stored=stored)
    lockers = "# Lockers\n\n" + "\n\n".join(f"Locker {n} is opened with code {1000 + n}." for n in range(40))
    replying.bench.library.add_file("lockers.md", lockers.encode())
    storm(replying, range(16))  # connections and caches are made
    replying.bench.store.engine.dispose()  # what the pool of connections holds is not counted
    files, _ = held()
    before, threads, things, calls = (
        counted(),
        threading.active_count(),
        alive(RunContext, Conversation, FLOW.own_state, ReplyOutcome),
        model.calls,
    )
    with replying.bench.store.engine.connect() as connection:
        rows = connection.scalar(select(func.count()).select_from(tables.steps))
    told = storm(replying, range(many // 2))
    halfway = held()[1]
    told += storm(replying, range(many // 2, many))
    for n, replied in enumerate(told):
        if n % 10 == 9:
            assert (replied.path, replied.result, replied.reason) == (
                ("gate", "silent"),
                AIResult(),
                f"marker {n}",
            )
        elif n % 10 == 8:
            assert (replied.path[-2:], replied.result, replied.failed) == (
                ("write", "silent"),
                AIResult(),
                True,
            )
        else:
            assert replied.result.reply_text.startswith(
                f"Locker {n % 40} is opened with code {1000 + n % 40}."
            )
    assert len({replied.run_id for replied in told}) == many
    skip, error = many // 10, many // 10
    success = many - skip - error
    expected = {
        'ai_requests_total{result="success"}': success,
        'ai_requests_total{result="skip"}': skip,
        'ai_requests_total{result="error"}': error,
        'ai_gate_total{decision="answerable"}': success + error,
        'ai_gate_total{decision="not_answerable"}': skip,
        "ai_request_seconds_count": many,
    }
    found = rise(before)
    assert {name: found[name] for name in expected} == expected
    made = skip + 3 * success + 4 * error  # a broken reply is asked for once more
    assert model.calls - calls == made and sum(replied.usage.llm_calls for replied in told) == made
    tokens = sum(replied.usage.prompt_tokens for replied in told)
    assert found['ai_tokens_total{kind="prompt"}'] == tokens
    with replying.bench.store.engine.connect() as connection:
        new = connection.scalar(select(func.count()).select_from(tables.steps)) - rows
        states = list(connection.scalars(select(tables.runs.c.status).distinct()))
    rows_of_steps = 2 * skip + 5 * (success + error)  # the question, and one row a step
    assert (new, states) == ((rows_of_steps, ["done"]) if stored else (0, []))
    assert replying.bench.unstored.stores() == []
    del told, replied
    assert threading.active_count() <= threads + 1, "no thread is left behind"
    assert alive(RunContext, Conversation, FLOW.own_state, ReplyOutcome) <= things + 8, (
        "nothing of a request is kept"
    )
    replying.bench.store.engine.dispose()
    assert held()[0] <= files + 2, "no file is left open"
    assert held()[1] <= halfway + 40, "memory does not grow with the number of replies"


@needs_proc
@pytest.mark.parametrize("stored", [True, False])
def test_replies_from_16_threads_do_not_mix_and_leave_nothing_behind(opened: Open, stored: bool) -> None:
    check_storm(opened, 40, stored=stored)


@needs_proc
@pytest.mark.slow
def test_hundreds_of_replies_from_16_threads(opened: Open) -> None:
    check_storm(opened, 240, stored=True)


def test_there_is_one_flow_and_it_cannot_be_changed() -> None:
    assert FLOW is REPLY is FLOWS["reply"]
    with pytest.raises(AttributeError):
        FLOW.first_step = "write"  # type: ignore[misc]
