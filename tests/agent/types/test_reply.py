"""A conversation: what is open, what was said before, which pictures people sent."""

from __future__ import annotations

from agent.types.reply import Conversation, Message


def said(*messages: tuple[str, str]) -> Conversation:
    return Conversation(messages=[Message(role=role, text=text) for role, text in messages])  # type: ignore[arg-type]


def test_open_is_what_nobody_answered_yet() -> None:
    talk = said(
        ("user", "Hello"),
        ("user", "How do I install it?"),
        ("bot", "With apt."),
        ("user", "Thanks."),
        ("user", "And on FreeBSD? "),
    )
    assert talk.question == "Thanks.\nAnd on FreeBSD?"
    assert talk.answered_question == "Hello\nHow do I install it?"


def test_what_was_answered_is_what_stands_before_the_bots_last_messages() -> None:
    talk = said(("user", "a"), ("bot", "b"), ("user", "d"), ("bot", "e"), ("bot", "f"), ("user", "g"))
    assert (talk.answered_question, talk.question) == ("d", "g")
    assert said(("bot", "Welcome!"), ("user", "a")).answered_question == ""


def test_pictures_count_in_the_order_people_sent_them() -> None:
    talk = Conversation(
        messages=[
            Message(role="user", images=["https://a.example/1", "https://a.example/2"], text=""),
            Message(role="bot", images=["https://a.example/no"], text=""),
            Message(role="user", text="and?", images=["https://a.example/1"]),
        ]
    )
    assert talk.images == ["https://a.example/1", "https://a.example/2", "https://a.example/1"]
