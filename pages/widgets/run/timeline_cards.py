"""A run's ledger told as cards: what was done, why, by whom, and what came of it. Pure: steps in, cards out,
nothing drawn.

A card gathers what belongs together: the action, what was found in it, how the confidence moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.actions.budget import list_caps
from agent.answering.revision import state_understood
from agent.engine.run_state import RunState
from agent.export.hiding import is_withheld
from agent.text.plurals import format_count
from agent.text.sentences import format_sentence
from agent.types import CAP_SETTINGS, Cap, NoteReading, Outcome, PlanPart, Settings, Step
from pages.widgets.shell import labels

SUPPLY_TITLES = {"pasted": "You pasted the text of", "uploaded": "You uploaded a file for"}
CardKind = Literal["ask", "action", "given", "stuck", "refused", "person", "answer", "event"]

PERSON_STEP_TITLES = {
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
    "fork": "You branched from here into a new run",
    "until": "You changed how far it runs",
    "raise": "You changed its budget",
    "drop_model": "You went on without the model",
    "keep_model": "You went on with another model or server",
    "use_outline": "You approved the outline",
    "erase": "You erased a private note",
}
NO_SEARCH = "it starts no search"
OUTCOME_TONES = {
    Outcome.OK: "good",
    Outcome.EMPTY: "",
    Outcome.RATE_LIMITED: "warn",
    Outcome.REFUSED: "warn",
    Outcome.TIMEOUT: "warn",
}


@dataclass
class Card:
    """One thing that happened. All texts are raw: whoever draws them escapes them."""

    n: int
    """The ledger's step it began with; what the screen uses as its key."""
    kind: CardKind
    title: str
    what: str = ""
    why: str = ""
    number: int = 0
    """Which look (search or page) this was, from 1; 0 for what is none."""
    tone: str = ""
    outcome: str = ""
    detail: str = ""
    by: str = ""
    model: str = ""
    """The setting of the run's model."""
    analysis_fallback: str = ""
    """Why the model did not weigh what was found although there is one."""
    rung: str = ""
    url: str = ""
    page_id: str = ""
    assessment: str = ""
    facts: list[dict[str, Any]] = field(default_factory=list)
    edited_facts: list[dict[str, Any]] = field(default_factory=list)
    """The facts a person's edit changed, as they stand since."""
    hits: int = 0
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    level: float | None = None
    before: float = 0.0
    """The confidence after this, and before it."""
    moves: list[dict[str, Any]] = field(default_factory=list)
    private_note: int = -1
    """The step of the private note it shows; -1 for none."""
    beside: list[Card] = field(default_factory=list)
    """Each search and page of a round of several; empty for one alone."""
    last: int = -1
    """The ledger's step that ended it, when that is another than the one it began with."""

    @property
    def end(self) -> int:
        """The last step that belongs to it: what a run that goes on from here would keep."""
        return max(self.n, self.last)


def build_cards(steps: Sequence[Step], state: RunState) -> list[Card]:
    """The cards of a run, oldest first."""
    told: list[Card] = []
    looks: set[int] = set()
    looked = None
    world = next((str(step.change["settings"]["world"]) for step in steps if "settings" in step.change), "")
    for step in steps:
        change = step.change
        told += (_build_note_cards(step) if step.name != "fork" else []) + _build_stall_cards(step)
        told += _build_reading_cards(step) + _build_outline_cards(step)
        if step.name == "ask":
            told.append(Card(step.n, "ask", "You asked", what=str(change.get("question", ""))))
        elif change.get("edits"):
            told += _build_edit_cards(step, told, state)
        elif step.name in PERSON_STEP_TITLES:
            why = "; ".join(note["text"] for note in change.get("notes") or [])
            told.append(
                Card(
                    step.n,
                    "person",
                    PERSON_STEP_TITLES[step.name],
                    what=_describe_person_step(step, steps, world),
                    why=why,
                    by="person",
                )
            )
        elif step.name == "supply":
            told += [_build_supply_card(step.n, ref) for ref in change.get("pages") or []]
        elif step.name == "budget":
            told.append(
                Card(
                    step.n,
                    "event",
                    "A limit was reached",
                    why=format_sentence(str(change.get("why_stopped", ""))),
                    tone="warn",
                )
            )
        elif skipped := change.get("plan_trouble"):
            told.append(Card(step.n, "event", "The question was not planned", why=str(skipped), tone="warn"))
        elif step.name == "halt":
            told.append(
                Card(step.n, "event", "Paused for your input", why=str(change["halt"]["why"]), tone="warn")
            )
        if (refused := change.get("refusals")) and step.name != "skip":
            told.append(
                Card(step.n, "refused", "Proposed, but not followed", refused=list(refused), tone="warn")
            )
        new = [action for action in change.get("actions") or [] if action["step"] not in looks]
        if new:  # an action comes again when its facts are counted
            looks.add(new[0]["step"])
            told.append(_build_round_card(len(looks), new, world))
            told[-1].last = step.n
        looked = _find_observed_card(told, step) or looked
        written = [_build_answer_card(step.n, answer) for answer in change.get("answers") or []]
        told += written
        if not change.get("edits"):
            _add_findings(told, step, written[-1] if written else looked, state)
    return told


def _build_outline_cards(step: Step) -> list[Card]:
    """The outline that a model or code made of a report."""
    if step.name != "outline":
        return []
    made = step.change["outline"]
    headings = " · ".join(section["heading"] for section in made["sections"])
    return [Card(step.n, "event", "Report planned", what=headings, by=made["by"])]


def _build_edit_cards(step: Step, told: Sequence[Card], state: RunState) -> list[Card]:
    """What a person did to the facts, the facts as they stand since, and how the confidence moved."""
    change = step.change
    struck = change.get("strikes", ())  # of a source that was struck, those that still are
    with_source = [fact.model_dump() for fact in state.facts.values() if fact.struck_with in struck]
    card = Card(
        step.n,
        "person",
        "You " + "; ".join(edit["text"] for edit in change["edits"]),
        by="person",
        edited_facts=[*(change.get("facts") or []), *with_source],
    )
    _add_confidence(card, step, told, state)
    return [card]


def _add_confidence(card: Card, step: Step, told: Sequence[Card], state: RunState) -> bool:
    """Add the confidence after a step, where it was assessed or changed; returns whether it was."""
    point = next((point for point in state.confidence if point.step == step.n), None)
    if point is not None:
        levels = (c.level for c in reversed(told) if c is not card and c.level is not None)
        card.before, card.level = next(levels, 0.0), point.value
        card.moves = [move.model_dump() for move in point.moves]
    return point is not None


def _build_round_card(number: int, actions: Sequence[dict[str, Any]], world: str) -> Card:
    """The card of what was done side by side: of several actions with a card for each in it."""
    n = actions[0]["step"]
    cards = [_build_action_card(n, number, action, world) for action in actions]
    if len(cards) == 1:
        return cards[0]
    kinds = [action["action"].partition("_")[0] for action in actions]
    searches, questions = kinds.count("search"), kinds.count("ask")
    pages = len(kinds) - searches - questions
    counts = [format_count(searches, "search", "searches")] if searches else []
    counts += [format_count(pages, "page")] if pages else []
    counts += [format_count(questions, "question")] if questions else []
    by, rung = cards[0].by, cards[0].rung
    title = " and ".join(filter(None, [", ".join(counts[:-1]), counts[-1]]))
    return Card(n, "action", title, number=number, by=by, rung=rung, beside=cards)


def _build_action_card(n: int, number: int, action: dict[str, Any], world: str) -> Card:
    outcome, crawl = Outcome(action.get("outcome", "ok")), action["action"] in ("crawl_url", "more")
    return Card(
        n,
        "action",
        "Read" if action["action"] == "crawl_url" else labels.name_action(action["action"], world),
        what=action["query_or_url"],
        why=action.get("reasoning", ""),
        number=number,
        tone=OUTCOME_TONES.get(outcome, "bad"),
        outcome="" if action["action"] == "ask" else outcome,
        detail=action.get("detail", ""),
        by=action.get("by", ""),
        rung=action.get("rung", ""),
        url=action["query_or_url"] if crawl else "",
        page_id=action.get("page_id", ""),
        hits=action.get("hits", 0),
    )


def _build_supply_card(n: int, ref: dict[str, Any]) -> Card:
    return Card(
        n,
        "given",
        SUPPLY_TITLES.get(ref.get("origin", ""), "You gave"),
        url=ref["url"],
        page_id=ref.get("page_id", ""),
        by="person",
        tone="good",
    )


def _find_observed_card(told: list[Card], step: Step) -> Card | None:
    """The card of what is analysed next, when this step says what that is."""
    observed = next(iter(step.change.get("brought") or []), None)
    if observed is None:
        return None
    if step.name != "decide":
        return told[-1]
    return next((c for c in reversed(told) if c.kind == "given" and c.url == observed["source"]), None)


def _add_findings(told: list[Card], step: Step, looked: Card | None, state: RunState) -> None:
    """Add what an analysis found to what it looked at: by its own account, else the last action."""
    change = step.change
    card = looked or next((card for card in reversed(told) if card.kind == "action"), None)
    if card is None:
        return
    found = [fact for fact in change.get("facts") or [] if fact.get("verified")]
    card.facts += [fact for fact in found if fact.get("step", step.n) == step.n]  # others got marks only
    card.conflicts += [known.model_dump() for known in state.conflicts.values() if known.step == step.n]
    is_assessed = _add_confidence(card, step, told, state)
    if isinstance(report := change.get("report"), dict):
        card.assessment = str(report.get("assessment", ""))
        card.analysis_fallback = str(report.get("trouble", ""))
    if step.by != "person" and (is_assessed or change.get("facts") or isinstance(report, dict)):
        card.last = step.n


def _build_answer_card(n: int, answer: dict[str, Any]) -> Card:
    number, because = answer.get("n", 1), str(answer.get("because", ""))
    return Card(
        n,
        "answer",
        f"Answer {number} written",
        what=labels.VERDICT.get(answer["verdict"], answer["verdict"]),
        why=because[:1].upper() + because[1:] or format_sentence(str(answer.get("why_stopped", ""))),
        tone=labels.VERDICT_TONE.get(answer["verdict"], ""),
        by=answer.get("by", ""),
    )


def _build_note_cards(step: Step) -> list[Card]:
    titles = {
        "steer": "You added guidance",
        "send_back": "You sent the answer back",
        "look": "You asked for more evidence on a conflict",
        "comment": "You commented on the answer",
    }
    notes = step.change.get("notes") or []
    return [
        Card(
            step.n,
            "person",
            f"{titles[note.get('kind', 'steer')]}{' (private)' if note.get('private') else ''}",
            what=note["text"],
            why=f"on “{note['quoted']}”" if note.get("quoted") else NO_SEARCH * bool(note.get("private")),
            by="person",
            private_note=note["step"] if note.get("private") and not is_withheld(note["text"]) else -1,
        )
        for note in notes
    ]


def _build_reading_cards(step: Step) -> list[Card]:
    """How notes were understood."""
    read = [NoteReading.model_validate(given) for given in step.change.get("readings") or []]
    plan = [PlanPart.model_validate(part) for part in step.change.get("plan_parts") or []]
    return [
        Card(step.n, "event", "Note read", why=state_understood(r, plan), by=r.by)
        for r in read
        if step.name == "revise"
    ]


def _build_stall_cards(step: Step) -> list[Card]:
    return [
        Card(
            step.n,
            "stuck",
            f"Changed tack: {labels.ESCALATION.get(block['rung'], block['rung'])}",
            why=block.get("reason", ""),
            rung=block["rung"],
            tone="warn",
        )
        for block in step.change.get("blockages") or []
    ]


def _describe_person_step(step: Step, steps: Sequence[Step], world: str) -> str:
    """What a person's step was about, where its name does not say it all."""
    if step.name == "edit":
        pending = step.change.get("pending") or {}
        action = labels.name_action(pending.get("next_action", ""), world)
        return f"{action}: {pending.get('query_or_url', '')}".strip(": ")
    if step.name == "retry":
        return str((step.change.get("again") or [{}])[-1].get("query_or_url", ""))
    now = step.change.get("settings")
    if step.name not in ("until", "raise", "fork") or not now:
        return ""
    was = next(
        (earlier.change["settings"] for earlier in reversed(steps[: step.n]) if "settings" in earlier.change),
        now,
    )
    changed = [
        f"{labels.BUDGET[name].lower()} {_format_cap(name, was)} → {_format_cap(name, now)}"
        for name in CAP_SETTINGS
        if _format_cap(name, was) != _format_cap(name, now)
    ]
    goes, went = (Settings.model_validate(given).stop_point for given in (now, was))
    return "; ".join([*([labels.UNTIL[goes].lower()] if goes != went else []), *changed])


def _format_cap(name: Cap, settings: dict[str, Any]) -> str:
    value = list_caps(Settings.model_validate(settings)).get(name, 0.0)
    return f"{value / 60 if name == 'seconds' else value:,.10g}"
