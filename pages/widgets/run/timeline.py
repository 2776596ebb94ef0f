"""The steps of a run of every flow as cards, newest first: what was done, why, and what came of it; under ⋯
what can be done with it.

A card gathers what belongs together: a round of searches and pages, what was found in it, and how the
confidence moved. Each search and each page has a number; the curve, exports and variants count alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from agent.actions import acts
from agent.actions.budget import list_caps
from agent.answering.revision import state_understood
from agent.export.hiding import is_withheld
from agent.flows import FLOWS
from agent.text.plurals import format_count
from agent.text.sentences import format_sentence
from agent.types import CAP_SETTINGS, NoteReading, Outcome, PlanPart, Settings, Step
from agent.workbench import RunSnapshot
from pages.widgets.run import fork_dialog
from pages.widgets.shell import badges, escape, labels, pagination, ui, view_cache

PAGE_SIZE = 8
"""Cards on a page: the cost of a poll must not grow with the run."""
MENU_KEY = "research-card-open"
"""The session key of what was chosen under ⋯: (run, last step of the card, what)."""
VARIANT, ERASE = "Start a variant from here", "Erase this note"
NOTE_TITLES = {
    "steer": "You added guidance",
    "send_back": "You sent the answer back",
    "look": "You asked for more evidence on a conflict",
    "comment": "You commented on the answer",
}
PERSON_TITLES = {
    "approve": "You approved the decision",
    "edit": "You changed the decision",
    "skip": "You skipped the decision",
    "pause": "You paused the run",
    "resume": "You resumed the run",
    "stop": "You stopped the run",
    "finish": "You asked for the answer now",
    "accept": "You accepted the answer",
    "reopen": "You opened the answer again for review",
    "retry": "You asked to try again",
    "import": "You opened it from an evidence bundle",
    "fork": "You started this variant",
    "until": "You changed how far it runs",
    "raise": "You changed its budget",
    "drop_model": "You went on without the model",
    "keep_model": "You went on with another model or server",
    "use_outline": "You approved the outline",
    "erase": "You erased a private note",
}
FIRST_SEARCH = "This was not searched for yet."
"""The stored reason of a search for what a person asked."""
TACKS = {
    "reframe": "other words",
    "narrow": "one part alone",
    "lead": "a lead not tried before",
    "hand_over": "over to you",
}
TONES = {Outcome.OK: "good", Outcome.EMPTY: ""} | dict.fromkeys(
    (Outcome.RATE_LIMITED, Outcome.REFUSED, Outcome.TIMEOUT), "warn"
)


@dataclass
class Card:
    """One thing that happened. All texts are raw: whoever draws them escapes them."""

    n: int
    """The ledger's step it began with."""
    title: str
    what: str = ""
    why: str = ""
    mark: str = ""
    """The sign in its dot, where it has no number."""
    tone: str = ""
    number: int = 0
    """Which search or page it was, from 1, the first of a round; 0 for what is none."""
    url: str = ""
    chips: list[tuple[str, str]] = field(default_factory=list)
    items: list[tuple[str, str]] = field(default_factory=list)
    """What came of it, each with how it is drawn."""
    level: float | None = None
    """The confidence after this."""
    private_note: int = -1
    """The step of the private note it shows; -1 for none."""
    beside: list[Card] = field(default_factory=list)
    """Each search and page of a round of several."""
    last: int = -1
    """The ledger's step that ended it, where that is another than the one it began with."""

    @property
    def end(self) -> int:
        """The last step that belongs to it: what a variant from here would keep."""
        return max(self.n, self.last)

    @property
    def numbers(self) -> str:
        """The numbers of its searches and pages: "3", "4–6"."""
        return (
            f"{self.number}–{self.number + len(self.beside) - 1}" if self.beside else str(self.number or "")
        )


def draw_run(view: RunSnapshot) -> None:
    """The newest cards of a run; the older ones on further pages."""
    run_id, key = view.run.id, f"research-journey-{view.run.id}"
    newest = view_cache.get_or_compute(view, "cards", lambda: build_cards(view))[::-1]
    for i, card in enumerate(pagination.take_page(newest, PAGE_SIZE, key)):
        with st.container(key=f"research-step-{card.n}-{i}", gap=None):
            st.html(render_card(card, last=card is newest[-1]))
            _draw_menu(view, card, f"{card.n}-{i}")
            if st.session_state.get(MENU_KEY) == (run_id, card.end, VARIANT):
                fork_dialog.draw_form(view, card.end, _close)
            if st.session_state.get(MENU_KEY) == (run_id, card.end, ERASE) and card.private_note >= 0:
                _draw_erase(view, card.private_note)
    pagination.draw(len(newest), PAGE_SIZE, key, "cards")


def _draw_menu(view: RunSnapshot, card: Card, key: str) -> None:
    options = [VARIANT] * acts.is_possible("fork", view) + [ERASE] * (card.private_note >= 0)
    if not options:
        return
    with st.container(key=f"research-card-menu-{key}"):
        name = f"step {card.numbers}" if card.number else f"“{escape.md(card.title, 40)}”"
        more: Any = {"icon": ":material/more_horiz:", "type": "tertiary"}
        chosen = st.menu_button(f"More about {name}", options, key=f"research-card-{key}", **more)
    if chosen:
        st.session_state[MENU_KEY] = (view.run.id, card.end, chosen)


def _close(_: Any = None) -> None:
    st.session_state.pop(MENU_KEY, None)


def _draw_erase(view: RunSnapshot, step: int) -> None:
    """The way to erase a private note for good, with a confirmation."""
    with st.container(border=True, key=f"research-erase-{step}"):
        st.markdown(
            "Removes the note for good, with every text that was made from it: here, in variants and in "
            "further questions. Backups that were made before still hold it."
        )
        with st.container(horizontal=True):
            more: Any = {"given": {"step": step}, "done": "Erased. No text of the note is left here."}
            key, look = f"research-erase-do-{step}", {"icon": "delete_forever", "type": "primary"}
            ui.act(view, "erase_note", key, "Erase for good", **look, **more)
            ui.button("Cancel", f"research-erase-cancel-{step}", _close)


def render_card(card: Card, *, last: bool) -> str:
    """A card as HTML."""
    dot = f'<span class="dot {card.tone}" aria-hidden="true">{card.numbers or card.mark}</span>'
    rounds = "".join(f'<div class="beside">{_render_body(one)}</div>' for one in card.beside)
    return f'<div class="ts step{" last" * last}">{dot}{_render_body(card, rounds)}</div>'


def _render_body(card: Card, rounds: str = "") -> str:
    subject = escape.render_link(card.url, card.what) if card.url else escape.html(card.what)
    why = f'<div class="why">{escape.html(card.why)}</div>' if card.why else ""
    chips = f'<div class="chips">{badges.render_row(card.chips)}</div>' if card.chips else ""
    items = "".join(
        f'<li class="{css}">{escape.html(escape.shorten(text, 220))}</li>' for text, css in card.items
    )
    listed = f"<ul>{items}</ul>" if items else ""
    head = f'<div class="head">{escape.html(card.title)} <span class="what">{subject}</span></div>'
    return f"{head}{why}{rounds}{chips}{listed}"


def build_cards(view: RunSnapshot) -> list[Card]:
    """The cards of a run, oldest first."""
    cards, looks = list[Card](), 0
    for step in view.steps:
        told = _tell_notes(step) if step.name != "fork" else []
        told += _tell_events(step) + _tell_person(step, view)
        for card in told if (program := step.change.get("program")) else ():
            card.title = card.title.replace("You ", f"The program “{program}” ", 1)
        new = [a for a in step.change.get("actions") or [] if a["step"] == step.n]  # others: facts counted
        if new:
            told.append(_tell_round(step.n, looks + 1, new, view))
            looks += len(new)
        answers = step.change.get("answers") if view.run.settings.flow != "reply" else ()  # its steps tell it
        told += [_tell_answer(step.n, answer) for answer in answers or []]
        if all(card.mark == "×" for card in told) and view.run.settings.flow != "research":
            words = FLOWS[view.run.settings.flow].describe_step(step.name, step.change).partition("\n")[0]
            title, _, why = words.partition(" — ")
            told += [Card(step.n, title[:1].upper() + title[1:], why=why)] if words else []
        cards += told
        _add_findings(cards, told, step, view)
    return cards


def _tell_notes(step: Step) -> list[Card]:
    told = list[Card]()
    for note in step.change.get("notes") or []:
        hidden, quoted = bool(note.get("private")), note.get("quoted")
        card = Card(
            step.n, NOTE_TITLES[note.get("kind", "steer")] + " (private)" * hidden, note["text"], mark="•"
        )
        card.why = f"on “{quoted}”" if quoted else "it starts no search" * hidden
        card.private_note = note["step"] if hidden and not is_withheld(note["text"]) else -1
        told.append(card)
    return told


def _tell_events(step: Step) -> list[Card]:
    """What the run met by itself: a change of tack, a limit, a note as it was read, what was not followed."""
    n, change, told = step.n, step.change, list[Card]()

    def _say(title: str, why: str = "", mark: str = "!", tone: str = "warn", what: str = "") -> None:
        told.append(Card(n, title, what, format_sentence(why), mark, tone))

    for block in change.get("blockages") or []:
        tack = TACKS.get(block["rung"], block["rung"])
        _say(f"Changed tack: {tack}", block.get("reason", ""), "↻")
    plan = [PlanPart.model_validate(part) for part in change.get("plan_parts") or []]
    for read in change.get("readings") or [] if step.name == "revise" else []:
        _say("Note read", state_understood(NoteReading.model_validate(read), plan), tone="")
    if step.name == "outline":
        headings = " · ".join(section["heading"] for section in change["outline"]["sections"])
        _say("Report planned", tone="", what=headings)
    if step.name == "budget":
        _say("A limit was reached", str(change.get("why_stopped", "")))
    if step.name == "halt":
        _say("Paused for your input", str(change["halt"]["why"]))
    if skipped := change.get("plan_trouble"):
        _say("The question was not planned", str(skipped))
    for choice in change.get("choices") or []:
        count = format_count(len(choice["selected"]), "address", "addresses")
        title = "Enough is read" if choice["decision"] == "answer" else f"Chose {count} to read"
        _say(title, choice["reasoning"], "→", "warn" if choice.get("forced") or choice.get("trouble") else "")
    others = list[tuple[str, str]]()
    for one in change.get("refusals") or [] if step.name != "skip" else []:
        if one["what"] == "send_to_hitl":
            _say("Finishing was postponed", one["why"].partition(": ")[2] or one["why"], "×")
        else:
            others.append((f"{one['what']}: {one['why']}", ""))
    if others:
        _say("Proposed, but not followed", mark="×")
        told[-1].items = others
    return told


def _tell_person(step: Step, view: RunSnapshot) -> list[Card]:
    """What a person did."""
    n, change = step.n, step.change
    if step.name == "ask":
        return [Card(n, "You asked", f"“{change.get('question', '')}”", mark="?")]
    if step.name == "supply":
        titles = {"pasted": "You pasted the text of", "uploaded": "You uploaded a file for"}
        given = [(titles.get(ref.get("origin", ""), "You gave"), ref) for ref in change.get("pages") or []]
        return [Card(n, title, mark="+", tone="good", url=ref["url"]) for title, ref in given]
    if edits := change.get("edits"):
        struck = change.get("strikes", ())  # of a source that was struck, those that still are
        facts = [f.model_dump() for f in view.state.facts.values() if f.struck_with in struck]
        card = Card(n, "You " + "; ".join(edit["text"] for edit in edits), mark="•")
        for fact in (facts := [*(change.get("facts") or []), *facts])[:3]:
            card.items += [(fact["former"], "struck")] if fact.get("former") else []
            card.items.append((fact["statement"], "struck" * (fact["decision"] == "struck")))
        card.items += [(f"and {len(facts) - 3} more", "soft")] if len(facts) > 3 else []
        return [card]
    if step.name not in PERSON_TITLES:
        return []
    why = "; ".join(note["text"] for note in change.get("notes") or [])
    return [Card(n, PERSON_TITLES[step.name], _describe_change(step, view), why, "•")]


def _describe_change(step: Step, view: RunSnapshot) -> str:
    """What a person's step was about, where its name does not say it all."""
    if step.name == "edit":
        pending = step.change.get("pending") or {}
        action = labels.name_action(pending.get("next_action", ""), view.run.settings.world)
        return f"{action}: {pending.get('query_or_url', '')}".strip(": ")
    if step.name == "retry":
        return str((step.change.get("again") or [{}])[-1].get("query_or_url", ""))
    if step.name not in ("until", "raise", "fork") or "settings" not in step.change:
        return ""
    given = [s.change["settings"] for s in view.steps[: step.n + 1] if "settings" in s.change]
    was, now = (Settings.model_validate(each) for each in (given[-2:] * 2)[:2])
    caps = [
        {name: value / 60 if name == "seconds" else value for name, value in list_caps(each).items()}
        for each in (was, now)
    ]
    told = [labels.UNTIL[now.stop_point].lower()] if now.stop_point != was.stop_point else []
    told += [
        f"{labels.BUDGET[name].lower()} {old:,.10g} → {new:,.10g}"
        for name in CAP_SETTINGS
        if (old := caps[0].get(name, 0.0)) != (new := caps[1].get(name, 0.0))
    ]
    return "; ".join(told)


def _tell_round(n: int, number: int, actions: Sequence[dict[str, Any]], view: RunSnapshot) -> Card:
    """What was done side by side; each of several has a card in it."""
    cards = [_tell_action(n, i, action, view) for i, action in enumerate(actions, number)]
    if len(cards) == 1:
        return cards[0]
    kinds = [action["action"].partition("_")[0] for action in actions]
    searches, questions = kinds.count("search"), kinds.count("ask")
    pages = len(kinds) - searches - questions
    nouns = (searches, "search", "searches"), (pages, "page"), (questions, "question")
    counts = [format_count(*noun) for noun in nouns if noun[0]]
    title = " and ".join(filter(None, [", ".join(counts[:-1]), counts[-1]]))
    return Card(n, title, number=number, beside=cards)


def _tell_action(n: int, number: int, action: dict[str, Any], view: RunSnapshot) -> Card:
    outcome, kind, what = Outcome(action.get("outcome", "ok")), action["action"], action["query_or_url"]
    is_page, why = kind in ("crawl_url", "more"), action.get("reasoning", "")
    name = "Read" if kind == "crawl_url" else labels.name_action(kind, view.run.settings.world)
    card = Card(n, name, f"“{what}”", number=number)
    if is_page:
        page = view.state.pages.get(what)
        card.what, card.url = page.title if page else "", what
    card.why = "First search: your question." if (why, number) == (FIRST_SEARCH, 1) else why
    card.tone = TONES.get(outcome, "bad")
    if kind != "ask" and (outcome is not Outcome.OK or not is_page):
        found = format_count(action.get("hits", 0), "result")
        card.chips = [(found if outcome is Outcome.OK else labels.OUTCOME[outcome], card.tone)]
    if detail := action.get("detail") if outcome is not Outcome.OK or not is_page else "":
        card.items = [(detail, "soft")]
    return card


def _tell_answer(n: int, answer: dict[str, Any]) -> Card:
    verdict, because = answer["verdict"], str(answer.get("because") or answer.get("why_stopped") or "")
    told, tone = labels.mark_verdict(verdict)
    return Card(n, f"Answer {answer.get('n', 1)} written", told, format_sentence(because), "=", tone)


def _add_findings(cards: Sequence[Card], told: Sequence[Card], step: Step, view: RunSnapshot) -> None:
    """Add what a step found to the card of what was read before it, or to its own: an edit or an answer."""
    change, own = step.change, bool(step.change.get("edits") or step.change.get("answers"))
    found = (card for card in reversed(told if own else cards) if own or card.number or card.mark == "+")
    if (card := next(found, None)) is None:
        return
    points = [point for point in view.state.confidence if point.step == step.n]
    if points and view.state.shown_confidence is not None:
        levels = (c.level for c in reversed(cards) if c is not card and c.level is not None)
        before, now = labels.format_percent(next(levels, 0.0)), labels.format_percent(points[0].value)
        card.level = points[0].value
        card.chips += [(f"confidence {before} → {now}", "")] if before != now else []
    report = change.get("report")
    if not own or change.get("answers"):
        found = [f for f in change.get("facts") or [] if f.get("step", step.n) == step.n]
        facts = [fact for fact in found if fact.get("verified")]
        card.chips += [(format_count(len(facts), "new fact"), "good")] if facts else []
        card.items += [(fact["statement"], "") for fact in facts[:3]]
        card.items += [(f"and {len(facts) - 3} more, under Facts", "soft")] if len(facts) > 3 else []
        for conflict in view.state.conflicts.values():
            if conflict.step == step.n:
                sides = " or ".join(side.text for side in conflict.values)
                told_of = f"Sources disagree on {conflict.subject} ({conflict.attribute}): {sides}"
                card.items.append((told_of, "warned"))
    if isinstance(report, dict) and report.get("trouble"):
        card.items.append((f"Weighed without the model: {report['trouble']}", "soft"))
    if step.by != "person" and (points or change.get("facts") or isinstance(report, dict)):
        card.last = max(card.last, step.n)
