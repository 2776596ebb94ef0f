"""What a person says in a chat: which way of chatting holds, and what answers a question that was asked
back."""

from __future__ import annotations

import pytest

from agent.engine.run_state import RunState
from agent.errors import ConcurrentChange, UsageError
from agent.flows.chat import dialogue
from agent.flows.chat.state import ChatRun, ChatState
from agent.settings import config
from agent.types import Settings, Turn
from tests.records import fill

ASKED_BACK = "Which of the two do you mean?"
CHOICES = ["The lamp of the C2", "The lamp of the C3"]


def chat(question: str = "How do I change the lamp?", back: str | None = ASKED_BACK) -> ChatRun:
    own = ChatState(needs_clarification=back, choices=CHOICES if back else [])
    return RunState(own=own, question=question, settings=Settings(flow="chat"))


@pytest.mark.parametrize(
    ("state", "said", "trouble", "told"),
    [
        (chat(back=None), "2", ConcurrentChange, "nothing is asked of you"),
        (chat(), "  ", UsageError, "empty"),
        (chat(), "x" * (dialogue.MAX_ANSWER_CHARS + 1), UsageError, "4,001 characters"),
    ],
)
def test_what_is_no_answer_is_refused_in_words(state, said, trouble, told):
    with pytest.raises(trouble, match=told):
        dialogue.build_clarification_change(state, said)


def test_without_conversational_mode_a_chat_forgets():
    history = [fill(Turn, user="a?", bot="b")]
    on, off = (
        config.read_config({"CONVERSATIONAL_MODE": "true"}),
        config.read_config({"CONVERSATIONAL_MODE": "false"}),
    )
    assert dialogue.apply_chat_settings(Settings(flow="chat"), history, on) == (
        Settings(flow="chat"),
        history,
    )
    alone = Settings(flow="chat", conversational=False)
    assert dialogue.apply_chat_settings(Settings(flow="chat"), history, off) == (alone, [])
    assert dialogue.apply_chat_settings(Settings(flow="site"), history, off) == (
        Settings(flow="site"),
        history,
    )
