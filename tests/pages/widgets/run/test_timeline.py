"""The ledger told as cards."""

from __future__ import annotations

from agent.engine.run_state import RunState
from agent.types import Run, Settings, Step, Usage
from agent.workbench import RunSnapshot
from pages.widgets.run import timeline
from tests.pages.conftest import QUESTION
from tests.records import fill


def _step(n, name, **change):
    return fill(Step, n=n, name=name, change=change)


def test_refusals_rungs_and_people_are_cards_of_their_own():
    steps = [
        _step(
            1,
            "decide",
            refusals=[
                {"what": "x", "why": "visited before"},
                {"what": "send_to_hitl", "why": "put off: the conflict is checked first"},
            ],
            blockages=[{"rung": "narrow", "reason": "4 actions"}],
        ),
        _step(2, "skip", refusals=[{"what": "y", "why": "skipped by a person"}]),
        _step(3, "edit", pending={"next_action": "search_duckduckgo", "query_or_url": "other"}),
        _step(4, "steer", notes=[{"step": 4, "text": "hurry", "kind": "steer"}]),
        _step(5, "budget", why_stopped="time is up"),
        _step(6, "report", answers=[{"n": 1, "verdict": "partial", "by": "keyless"}]),
        _step(7, "send_back", notes=[{"step": 7, "text": "more", "kind": "send_back", "private": True}]),
    ]
    view = RunSnapshot(fill(Run, settings=Settings()), RunState(), steps, Usage(), 7, "")
    told = [(card.title, card.what or card.why) for card in timeline.build_cards(view)]
    assert told == [
        ("Changed tack: one part alone", "4 actions."),
        ("Finishing was postponed", "The conflict is checked first."),
        ("Proposed, but not followed", ""),
        ("You skipped the decision", ""),
        ("You changed the decision", "Search with DuckDuckGo: other"),
        ("You added guidance", "hurry"),
        ("A limit was reached", "Time is up."),
        ("Answer 1 written", "Partly answered"),
        ("You sent the answer back (private)", "more"),
    ]


def test_a_real_run_is_told_without_gaps(demo, bench):
    view = bench.snapshot(demo())
    cards = timeline.build_cards(view)
    assert QUESTION in cards[0].what and cards[-1].mark == "="
    assert cards[-2].end < cards[-1].n, "what the answer's claims made of the confidence is on its own card"
    assert [card.number for card in cards if card.number] == list(range(1, len(view.state.actions) + 1))


def test_a_card_knows_the_step_that_ended_it_and_a_fork_its_note(demo, bench):
    run_id = demo(at_cap="ask", max_steps=2)
    bench.act(run_id, "raise", caps={"steps": 3})
    bench.act(run_id, "until", until="conflict")
    view = bench.snapshot(
        bench.act(run_id, "fork", step=bench.snapshot(run_id).head, note="Hurry.", settings={"max_calls": 7})
    )
    cards = timeline.build_cards(view)
    first = next(card for card in cards if card.number)
    assert view.steps[first.end].n == first.end and view.steps[first.end].next in ("analyze", "decide")
    told = [(card.title, card.what, card.why) for card in cards if card.mark in "!•" and card.mark]
    assert told == [
        ("Paused for your input", "", "The limit of 2 steps is reached."),
        ("You changed its budget", "searches and pages 2 → 3", ""),
        ("You changed how far it runs", "run until the next conflict", ""),
        ("You started this variant", "model calls 60 → 7", "Hurry."),
    ]
    assert [card.end for card in cards] == sorted(card.end for card in cards)
