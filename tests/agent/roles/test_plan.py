"""The plan: how a reply becomes the parts of a run."""

from __future__ import annotations

from agent.roles.research import MAX_PARTS, PlanReply

QUESTION = "Who built the ferry Blue Heron, and who owns that yard today?"


def read(*parts: dict[str, object], **more: object) -> PlanReply:
    return PlanReply.model_validate({"parts": list(parts), **more})


def test_parts_are_numbered_in_order_and_keep_what_was_said_of_them():
    first, second = read(
        {"question": "Which yard built  the ferry?", "answered_by": "a name"},
        {"question": "Who owns the yard?", "after": [1], "where": "registers"},
    ).to_parts(QUESTION, "model")
    assert (first.id, first.question, first.answered_by, first.by) == (
        "1",
        "Which yard built the ferry?",
        "a name",
        "model",
    )
    assert (second.id, second.after, second.where, second.status) == ("2", ["1"], "registers", "open")


def test_a_part_waits_only_for_parts_before_it():
    parts = read({"question": "A?", "after": [2, 1, 0, 9]}, {"question": "B?", "after": [1, 1, -3]}).to_parts(
        QUESTION, "model"
    )
    assert [part.after for part in parts] == [[], ["1"]]


def test_without_any_usable_part_the_question_is_the_plan():
    for reply in (read(), read({"question": "  "})):
        (part,) = reply.to_parts(QUESTION, "model")
        assert part.question == QUESTION


def test_more_parts_than_eight_are_cut():
    parts = read(*({"question": f"Part {n}?"} for n in range(20))).to_parts(QUESTION, "model")
    assert len(parts) == MAX_PARTS == 8


def test_readings_are_choices_only_with_a_question_and_at_least_two():
    two = ["Varn in Norway", "Varn in Denmark"]
    assert read(ask="Which Varn?", readings=two).choices == two
    assert read(ask="", readings=two).choices == []
    assert read(ask="Which Varn?", readings=["Varn", "Varn "]).choices == []
    assert len(read(ask="Which?", readings=[f"number {n}" for n in range(9)]).choices) == 4
