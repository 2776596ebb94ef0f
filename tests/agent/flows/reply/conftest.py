"""The fixture `run`: the reply flow on a conversation, with a script or without a model."""

from __future__ import annotations

from typing import Any

import pytest

from agent.engine.loop import drive
from agent.engine.state import to_jsonable
from agent.flows import FLOWS
from agent.flows.reply.flow import REPLY
from agent.store.ledger import new_owner_id
from agent.types import ReplySettings, Settings, Step
from agent.types.reply import Conversation, Message, Picture
from agent.workbench import Workbench
from tests.records import fill
from tests.web.reply_runs import ASKED, Ran, Run
from tests.web.replying_model import Script, stocked
from tests.web.scripted import ScriptedModel


@pytest.fixture
def run(bench: Workbench) -> Run:
    """Run the flow on a conversation (a question, or messages) with a script, or keyless; `reply` are the
    seed's settings."""
    stocked(bench)

    def ran(
        talk: Any = ASKED,
        script: Script | None = None,
        pictures: list[Picture] | None = None,
        trouble: str = "",
        **reply: Any,
    ) -> Ran:
        messages = [Message(role="user", text=talk)] if isinstance(talk, str) else talk
        settings = Settings(flow="reply", model="auto" if script else "keyless", reply=ReplySettings(**reply))
        change = {
            "question": "q",
            "settings": settings,
            "conversation": Conversation(messages=messages),
            "pictures": pictures or [],
        }
        owner = new_owner_id()
        first = fill(Step, name="ask", change=to_jsonable(change), next=REPLY.first_step)
        run_id = bench.store.ledger.create("q", settings, first, owner=owner)

        def equip(*of: Any) -> Any:
            tools = bench.worker.build_context(*of)
            tools.client, tools.model_failure = ScriptedModel(script) if script else None, trouble
            return tools

        return Ran(bench, run_id, drive(run_id, flows=FLOWS, store=bench.store, owner=owner, equip=equip))

    return ran
