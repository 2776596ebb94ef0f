"""What `reply` does with the sentences of its drafts: honest, sloppy and hostile models, and what a reply costs."""

from __future__ import annotations

import pytest

from agent.errors import ModelUnavailable
from agent.types.reply import Message
from tests.web.claim_judge import NEVER
from tests.web.reply_runs import ASKED, NIGHT, PICTURE, RENEWED, Run, replied, silent
from tests.web.replying_model import WEB, Script

PARAPHRASE = ("A backup is made each night.", "Backups run at night, at half past two.")
SHORTER = ("Backups run at night.", NIGHT[1])
FALSE = ("Backups are made by hand.", NIGHT[1])
WRITTEN = ("gate", "select", "load", "write")


def honest(statement: str, quotes: list[str]) -> bool:
    """A judge that accepts the true paraphrases of these tests."""
    return statement in (PARAPHRASE[0], SHORTER[0], "They are kept for some time.")


@pytest.mark.parametrize("contact", ["help@evil.example", "www.Evil.example/x", "+49 30 1234567", "@anna"])
def test_a_repair_sends_nobody_to_a_contact_that_no_source_gives(run: Run, contact: str) -> None:
    repaired = f"Backups run at night, ask {contact}."
    script = Script(write=[NIGHT, FALSE], repair=[(2, repaired)], judge=lambda said, _: said != FALSE[0])
    assert replied(run(script=script), *WRITTEN) == NIGHT[0]


def test_when_all_is_dropped_it_is_said_that_it_was_and_not_that_the_sources_are_silent(run: Run) -> None:
    why = silent(run(script=Script(write=[FALSE], judge=NEVER)), *WRITTEN)
    assert "1 sentence was drafted, and their quotes do not support" in why and "do not answer" not in why


@pytest.mark.parametrize("failing", ["check_claims", "repair"])
def test_a_check_that_fails_is_silence_like_any_other_failed_call(run: Run, failing: str) -> None:
    down = {failing: ModelUnavailable("the judge is down")}
    ran = run(script=Script(write=[NIGHT, FALSE], judge=NEVER, **down))
    assert "A step failed: the judge is down" in silent(ran, *WRITTEN) and ran.state.own.trouble


def test_the_check_of_claims_comes_before_the_verification_of_the_seed(run: Run) -> None:
    script = Script(write=[NIGHT, FALSE], judge=honest)
    ran = run(script=script, enable_verification=True)
    assert replied(ran, *WRITTEN, "verify") == NIGHT[0]
    [prompt] = script.of("verification")
    assert NIGHT[0] in prompt and FALSE[0] not in prompt


def test_a_sentence_on_a_picture_keeps_its_place_and_is_not_repaired(run: Run) -> None:
    talk = [Message(role="user", text=ASKED, images=[PICTURE.url])]
    script = Script(write=[("The lamp is red.", 1), NIGHT], judge=NEVER)
    ran = run(talk, script, [PICTURE], llm_enable_image=True)
    assert replied(ran, *WRITTEN) == f"The lamp is red. {NIGHT[0]}" and script.of("repair") == []


@pytest.mark.parametrize(
    ("script", "roles"),
    [
        (Script(gate=False), "gate"),
        (Script(select=[]), "gate selection"),
        (Script(write=[NIGHT]), "gate selection writing"),
        (Script(write=[SHORTER, PARAPHRASE]), "gate selection writing check_claims"),
        (Script(write=[NIGHT, FALSE], judge=NEVER), "gate selection writing check_claims repair"),
        (
            Script(write=[NIGHT, FALSE], judge=honest, repair=[(2, PARAPHRASE[0])]),
            "gate selection writing check_claims repair check_claims",
        ),
    ],
    ids=["not a question", "no source", "quoted", "paraphrased", "one false", "one repaired"],
)
def test_what_a_reply_costs(run: Run, script: Script, roles: str) -> None:
    ran = run(script=script)
    assert " ".join(script.roles) == roles and ran.view.usage.llm_calls == len(script.roles)


def test_an_address_is_posted_as_its_source_spells_it(run: Run) -> None:
    typed = f"It is renewed 30 days before it ends, see {WEB}?utm_content=the-secret for more."
    script = Script(select=[f"kb:{WEB}"], write=[(typed, RENEWED[1])])
    text = replied(run("When are certificates renewed?", script), *WRITTEN)
    assert "the-secret" not in text and f"see {WEB} for more" in text
