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
    assert [(turn.user, turn.bot) for turn in talk.turns] == [("Hello\nHow do I install it?", "With apt.")]


def test_neighbouring_messages_of_one_side_are_one_turn() -> None:
    talk = said(
        ("bot", "Welcome!"),
        ("user", "a"),
        ("bot", "b"),
        ("bot", "c"),
        ("user", "d"),
        ("bot", "e"),
        ("user", "f"),
    )
    assert [(turn.user, turn.bot) for turn in talk.turns] == [("a", "b\nc"), ("d", "e")]
    assert talk.question == "f"


def test_pictures_count_in_the_order_people_sent_them() -> None:
    talk = Conversation(
        messages=[
            Message(role="user", images=["https://a.example/1", "https://a.example/2"], text=""),
            Message(role="bot", images=["https://a.example/no"], text=""),
            Message(role="user", text="and?", images=["https://a.example/1"]),
        ]
    )
    assert talk.images == ["https://a.example/1", "https://a.example/2", "https://a.example/1"]
