"""The five steps of a reply as HTML: what each decided, why, and who spoke; or that it was not reached."""

from __future__ import annotations

from agent.flows.reply.state import ReplyRun
from agent.text.plurals import format_count
from agent.types import Status
from agent.types.reply import LoadedSource
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, escape, labels

STEP_TITLES = {
    "gate": "Gate",
    "select": "Choose sources",
    "load": "Load them",
    "write": "Write",
    "verify": "Verify",
}


def render(view: RunSnapshot, state: ReplyRun) -> str:
    """The steps, in order."""
    taken = {step.name for step in view.steps}
    working = view.next if view.run.status is Status.RUNNING else ""
    told = {
        "gate": _render_gate(state),
        "select": _render_select(state),
        "load": _render_load(view, state),
        "write": _render_write(state),
        "verify": _render_verify(state),
    }
    rows = []
    for n, (name, title) in enumerate(STEP_TITLES.items(), 1):
        tone, inside = told[name]
        if name == working:
            tone, inside = "live", '<div class="why">working on it …</div>'
        elif name not in taken:
            tone, inside = "", f'<div class="why">{_explain_not_reached(name, state)}</div>'
        last = " last" if name == "verify" else ""
        off = "" if name in taken or name == working else " off"
        rows.append(
            f'<div class="ts step{last}{off}"><span class="dot {tone}" aria-hidden="true">{n}</span>'
            f'<div class="head">{title}</div>{inside}</div>'
        )
    return "".join(rows)


def _explain_not_reached(name: str, state: ReplyRun) -> str:
    if name == "verify" and state.own.should_reply:
        return "switched off: ai_response.enable_verification in config.yaml"
    if (
        name == "load"
        and state.own.selection
        and not state.own.selection.selected_source_ids
        and state.own.should_reply
    ):
        return "no source was chosen: the pictures were enough"
    return "not reached"


def _render_gate(state: ReplyRun) -> tuple[str, str]:
    decided = state.own.gating
    if decided is None:
        return _render_failure(state)
    tone, told = ("good", "answerable") if decided.should_reply else ("warn", "not answerable")
    is_other = state.asked not in ("", state.own.full_conversation(state).question)
    read_as = f'<div class="small soft">Read as: {escape.html(state.asked)}</div>' if is_other else ""
    return tone, _render_line(badges.render(told, tone), decided.reasoning, decided.by, state) + read_as


def _render_select(state: ReplyRun) -> tuple[str, str]:
    chosen = state.own.selection
    if chosen is None:
        return _render_failure(state)
    names = chosen.selected_source_ids
    chip = badges.render(
        f"{len(names)} of {format_count(chosen.entries, 'entry', 'entries')}", "good" if names else "warn"
    )
    before = (
        f'<div class="small soft">Of a large index, the {len(chosen.shown)} entries that hold '
        "the question’s words were shown.</div>"
    )
    listed = "".join(f"<li><code>{escape.html(name)}</code></li>" for name in names)
    refused = "".join(
        (
            f'<div class="small">Not followed: {escape.html(one.what)} <span class="soft">'
            f"{escape.html(one.why)}</span></div>"
        )
        for one in state.refusals
    )
    inside = (
        f"{_render_line(chip, chosen.reasoning, chosen.by, state)}"
        f"{before if chosen.shown else ''}<ul>{listed}</ul>{refused}"
    )
    return ("good" if names else "warn"), inside


def _render_load(view: RunSnapshot, state: ReplyRun) -> tuple[str, str]:
    if not state.own.loaded:
        return _render_failure(state)
    return (
        "good" if any(one.page_id for one in state.own.loaded) else "bad"
    ), f"<ul>{''.join(_render_loaded_source(one, view.run.id) for one in state.own.loaded)}</ul>"


def _render_loaded_source(one: LoadedSource, run_id: str) -> str:
    if not one.page_id:
        return (
            f"<li><code>{escape.html(one.source_id)}</code> "
            f"{badges.render('not loaded', 'bad')} {escape.html(one.detail)}</li>"
        )
    opens = (
        f'<a href="{escape.stored_page_url(run_id, one.page_id)}" target="_blank">'
        f"{escape.html(one.title.removeprefix('file:') or one.source_id)}</a>"
    )
    return f'<li>{opens} <span class="soft">{one.characters:,} characters</span></li>'


def _render_write(state: ReplyRun) -> tuple[str, str]:
    if not state.own.draft and not state.own.left_out:
        return (
            _render_failure(state)
            if state.own.trouble
            else ("warn", f'<div class="why">{escape.html(state.own.silence)}</div>')
        )
    draft = f'<div class="quote small">{escape.html(state.own.draft)}</div>' if state.own.draft else ""
    by = labels.name_actor(state.answers[-1].by, state.settings.model) if state.answers else ""
    left = "".join(f"<li>{escape.html(text)}</li>" for text in state.own.left_out)
    out = (
        (
            f"<details><summary>{format_count(len(state.own.left_out), 'sentence')} left out: nothing "
            f"supports them</summary><ul>{left}</ul></details>"
        )
        if left
        else ""
    )
    return ("good" if state.own.draft else "warn"), f'<div class="small soft">{by}</div>{draft}{out}'


def _render_verify(state: ReplyRun) -> tuple[str, str]:
    check = state.own.verification
    if check is None:
        return _render_failure(state)
    tone, told = ("good", "approved") if check.verification else ("bad", "rejected")
    return tone, _render_line(badges.render(told, tone), check.reasoning, check.by, state)


def _render_failure(state: ReplyRun) -> tuple[str, str]:
    why = state.own.trouble or "It did not get to a decision."
    return "bad", f'<div class="why">{escape.html(why)}</div>'


def _render_line(chip: str, reasoning: str, by: str, state: ReplyRun) -> str:
    spoke = labels.name_actor(by, state.settings.model)
    return (
        f'<div class="chips">{chip}<span class="small soft">{spoke}</span></div><div '
        f'class="why">{escape.html(reasoning)}</div>'
    )
