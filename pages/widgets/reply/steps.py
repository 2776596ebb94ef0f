"""The five steps of a reply as HTML: what each decided, why, and who spoke; or that it was not reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.flows.reply.state import ReplyRun
from agent.text.plurals import format_count
from agent.types import Status
from agent.types.reply import LoadedSource
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, escape, labels, markup

Told = tuple[str, str]
"""The tone of a step and what it decided, as HTML; ("", "") when it did not get to a decision."""


def render(view: RunSnapshot, state: ReplyRun) -> str:
    """The steps, in order."""
    taken = {step.name for step in view.steps}
    working = view.next if view.run.status is Status.RUNNING else ""
    rows = []
    for n, (name, (title, tell)) in enumerate(STEPS.items(), 1):
        off = ""
        if name == working:
            tone, inside = "live", _explain("working on it …")
        elif name in taken:
            tone, inside = tell(view, state)
            inside = inside or _explain(state.own.trouble or "It did not get to a decision.")
        else:
            tone, inside, off = " ", _explain(_explain_not_reached(name, state)), " off"
        last = " last" if n == len(STEPS) else ""
        dot = f'<span class="dot {tone or "bad"}" aria-hidden="true">{n}</span>'
        rows.append(f'<div class="ts step{last}{off}">{dot}<div class="head">{title}</div>{inside}</div>')
    return "".join(rows)


def _explain(text: str) -> str:
    return f'<div class="why">{escape.html(text)}</div>'


def _explain_not_reached(name: str, state: ReplyRun) -> str:
    own = state.own
    if name == "verify" and own.should_reply:
        return "off"
    if name == "load" and own.should_reply and own.selection and not own.selection.selected_source_ids:
        return "no source was chosen: the pictures were enough"
    return "not reached"


def _tell_gate(view: RunSnapshot, state: ReplyRun) -> Told:
    decided = state.own.gating
    if decided is None:
        return "", ""
    told = ("yes", "good") if decided.should_reply else ("no", "warn")
    is_other = state.asked not in ("", state.own.full_conversation(state).question)
    read_as = markup.paragraph(f"Read as: {escape.html(state.asked)}") if is_other else ""
    return told[1], _render_line(told, decided.reasoning, decided.by, state) + read_as


def _tell_select(view: RunSnapshot, state: ReplyRun) -> Told:
    chosen = state.own.selection
    if chosen is None:
        return "", ""
    names = chosen.selected_source_ids
    tone = "good" if names else "warn"
    chip = f"{len(names)} of {format_count(chosen.entries, 'entry', 'entries')}", tone
    shown = f"Of a large index, the {len(chosen.shown)} entries that hold the question’s words were shown."
    refused = "".join(
        f'<div class="small">Not followed: {escape.html(f"{one.what} {one.why}")}</div>'
        for one in state.refusals
    )
    line = _render_line(chip, chosen.reasoning, chosen.by, state)
    listed = _list(f"<code>{escape.html(name)}</code>" for name in names)
    return tone, f"{line}{markup.paragraph(shown) if chosen.shown else ''}{listed}{refused}"


def _tell_load(view: RunSnapshot, state: ReplyRun) -> Told:
    loaded = state.own.loaded
    tone = "good" if any(one.page_id for one in loaded) else "bad"
    return tone, _list(_render_source(one, view.run.id) for one in loaded) if loaded else ""


def _render_source(one: LoadedSource, run_id: str) -> str:
    if not one.page_id:
        name = f"<code>{escape.html(one.source_id)}</code>"
        return f"{name} {badges.render('not read', 'bad')} {escape.html(one.detail)}"
    title = escape.html(one.title.removeprefix("file:") or one.source_id)
    opens = f'<a href="{escape.stored_page_url(run_id, one.page_id)}" target="_blank">{title}</a>'
    return f'{opens} <span class="soft">{one.characters:,} characters</span>'


def _tell_write(view: RunSnapshot, state: ReplyRun) -> Told:
    own = state.own
    if not own.draft and not own.left_out:
        return ("", "") if own.trouble else ("warn", _explain(own.silence))
    draft = f'<div class="quote small">{escape.html(own.draft)}</div>' * (not own.should_reply)
    by = labels.name_actor(state.answers[-1].by, state.settings.model) if state.answers else ""
    left = f"{format_count(len(own.left_out), 'sentence')} left out: nothing supports them"
    out = f"<details><summary>{left}</summary>{_list(map(escape.html, own.left_out))}</details>"
    return ("good" if own.draft else "warn"), markup.paragraph(by) + draft + (out if own.left_out else "")


def _tell_verify(view: RunSnapshot, state: ReplyRun) -> Told:
    check = state.own.verification
    if check is None:
        return "", ""
    told = ("approved", "good") if check.verification else ("rejected", "bad")
    return told[1], _render_line(told, check.reasoning, check.by, state)


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _render_line(chip: tuple[str, str], reasoning: str, by: str, state: ReplyRun) -> str:
    spoke = labels.name_actor(by, state.settings.model)
    line = f'<div class="chips">{badges.render(*chip)}<span class="small soft">{spoke}</span></div>'
    return f"{line}{_explain(reasoning)}"


STEPS: dict[str, tuple[str, Callable[[RunSnapshot, ReplyRun], Told]]] = {
    "gate": ("Should it answer?", _tell_gate),
    "select": ("Choose sources", _tell_select),
    "load": ("Read sources", _tell_load),
    "write": ("Write", _tell_write),
    "verify": ("Second check", _tell_verify),
}
