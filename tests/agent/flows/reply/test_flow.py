"""The reply flow, edge by edge: what leads to a reply and what to silence, with and without a model."""

from __future__ import annotations

from typing import Any

import pytest

from agent.errors import ModelUnavailable
from agent.flows.reply.flow import REPLY
from agent.flows.reply.state import ReplyRun
from agent.types import Settings, Status, Turn
from agent.types.reply import Message
from agent.workbench import Workbench
from tests.records import fill
from tests.web.reply_runs import NIGHT, PICTURE, Run, replied, silent
from tests.web.replying_model import Script, stocked


def test_the_edges_are_the_seeds_and_every_step_may_fail_into_silence() -> None:
    seed = {
        ("gate", "silent", "not answerable"),
        ("gate", "select", "answerable"),
        ("select", "silent", "no sources and no images"),
        ("select", "write", "no sources and images"),
        ("select", "load", ""),
        ("load", "write", ""),
        ("write", "verify", "if enabled"),
        ("write", "replied", "if disabled"),
        ("verify", "replied", "approved"),
        ("verify", "silent", "rejected"),
    }
    assert {
        (edge.start, edge.end, edge.label) for edge in REPLY.edges
    } == seed and REPLY.fail_safe == "silent"
    assert REPLY.first_step == "gate" and REPLY.is_one_shot
    assert dict(REPLY.rest_statuses) == {"replied": Status.DONE, "silent": Status.DONE}


def test_verification_only_when_enabled_and_approved_is_a_reply(run: Run) -> None:
    ran = run(script=(script := Script(write=[NIGHT])), enable_verification=True)
    assert replied(ran, "gate", "select", "load", "write", "verify") == NIGHT[0]
    assert ran.state.own.verification.verification and ran.state.own.verification.reasoning == "it is fine"  # type: ignore[union-attr]
    [prompt] = script.of("verification")
    assert NIGHT[0] in prompt and "They are kept for 90 days." in prompt, "draft and sources"


def test_rejected_is_silent(run: Run) -> None:
    ran = run(script=Script(write=[NIGHT], verify=False), enable_verification=True)
    assert silent(ran, "gate", "select", "load", "write", "verify") == "The draft was rejected: it is rude"
    assert ran.state.own.draft == NIGHT[0] and ran.state.own.reply_text == "", (
        "the draft is kept for whoever looks, and is not posted"
    )


def test_no_sources_but_images_leads_to_writing(run: Run) -> None:
    talk = [Message(role="user", text="What does this mean?", images=[PICTURE.url])]
    ran = run(talk, Script(select=[], write=[("The disk is full.", 1)]), [PICTURE], llm_enable_image=True)
    assert replied(ran, "gate", "select", "write") == "The disk is full."
    [fact] = ran.state.facts.values()
    assert (fact.origin, fact.verified, fact.url) == ("image", False, PICTURE.url)
    answer = ran.state.answer
    assert answer and (answer.verdict, answer.statements.backed, answer.statements.unsupported) == (
        "partial",
        0,
        1,
    )
    assert "rest on a picture alone" in answer.certainty


def test_a_picture_alone_can_be_asked_about_when_enabled(run: Run) -> None:
    talk = [Message(role="user", images=[PICTURE.url], text="")]
    assert replied(
        run(talk, Script(select=[], write=[("A green lamp.", 1)]), [PICTURE], llm_enable_image=True),
        "gate",
        "select",
        "write",
    )
    assert (
        silent(run(talk, Script(select=[], write=[("A green lamp.", 1)]), [PICTURE]), "gate")
        == "Nothing was asked."
    )


def test_when_nothing_can_be_loaded_the_flow_stops(run: Run, bench: Workbench) -> None:
    def gone(_prompt: str) -> list[str]:
        bench.library.delete("kb:backups.md")
        return ["kb:backups.md"]

    ran = run(script=Script(select=gone, write=[NIGHT]))
    assert silent(ran, "gate", "select", "load") == "None of the chosen sources could be loaded."
    assert [(source.source_id, source.page_id) for source in ran.state.own.loaded] == [
        ("kb:backups.md", "")
    ] and ran.state.own.loaded[0].detail


DOWN = ModelUnavailable("the model is down")


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ({"gate": DOWN}, ["gate"]),
        ({"select": DOWN}, ["gate", "select"]),
        ({"write": DOWN}, ["gate", "select", "load", "write"]),
        ({"verify": DOWN}, ["gate", "select", "load", "write", "verify"]),
        ({"gate": "no JSON"}, ["gate"]),
        ({"write": {"answer": 3}}, ["gate", "select", "load", "write"]),
    ],
    ids=["gate", "select", "write", "verify", "no json", "wrong shape"],
)
def test_a_model_that_fails_is_silence_never_a_rule(run: Run, parts: dict[str, Any], path: list[str]) -> None:
    ran = run(script=Script(**{"write": [NIGHT], **parts}), enable_verification=True)
    assert "A step failed" in silent(ran, *path) and ran.state.own.trouble


def test_a_run_that_is_started_with_a_question_and_turns_has_a_conversation(bench: Workbench) -> None:
    stocked(bench)
    run_id = bench.start(
        "When do they run?",
        Settings(flow="reply", model="keyless"),
        history=[fill(Turn, user="Are there backups?", bot="Yes.")],
    )
    assert bench.drive(run_id) is Status.DONE
    state: ReplyRun = bench.snapshot(run_id).state  # type: ignore[assignment]
    assert state.own.transcript(state) == "User: Are there backups?\nYou: Yes.\nUser: When do they run?"
    assert state.own.open_question(state) == "When do they run?"


def test_without_a_model_it_is_silent_and_says_why(run: Run) -> None:
    assert silent(run(), "gate") == "A reply needs a model, and none is connected."
