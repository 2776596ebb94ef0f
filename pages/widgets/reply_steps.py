"""The five steps of a reply as HTML: what each decided, why, and who spoke; those that were not reached say so."""

from __future__ import annotations

from agent.flows.reply_state import Reply
from agent.types import Status
from agent.types.reply import Loaded
from agent.wording import counted
from agent.workbench import View
from pages.widgets import chips, safe, words

NAMES = {"gate": "Gate", "select": "Choose sources", "load": "Load them", "write": "Write", "verify": "Verify"}


def html(view: View, state: Reply) -> str:
    """The steps, in order."""
    taken = {step.name for step in view.steps}
    working = view.next if view.run.status is Status.RUNNING else ""
    told = {"gate": _gate(state), "select": _select(state), "load": _load(view, state), "write": _write(state), "verify": _verify(state)}
    rows = []
    for n, (name, title) in enumerate(NAMES.items(), 1):
        tone, inside = told[name]
        if name == working:
            tone, inside = "live", '<div class="why">working on it …</div>'
        elif name not in taken:
            tone, inside = "", f'<div class="why">{_not_reached(name, state)}</div>'
        last = " last" if name == "verify" else ""
        off = "" if name in taken or name == working else " off"
        rows.append(
            f'<div class="ts step{last}{off}"><span class="dot {tone}" aria-hidden="true">{n}</span><div class="head">{title}</div>{inside}</div>'
        )
    return "".join(rows)


def _not_reached(name: str, state: Reply) -> str:
    if name == "verify" and state.should_reply:
        return "switched off: ai_response.enable_verification in config.yaml"
    if name == "load" and state.selection and not state.selection.selected_source_ids and state.should_reply:
        return "no source was chosen: the pictures were enough"
    return "not reached"


def _gate(state: Reply) -> tuple[str, str]:
    decided = state.gating
    if decided is None:
        return _failed(state)
    chip = chips.one("answerable", "good") if decided.should_reply else chips.one("not answerable", "warn")
    read_as = f'<div class="small soft">Read as: {safe.html(state.asked)}</div>' if state.asked not in ("", state.talk.question) else ""
    return ("good" if decided.should_reply else "warn"), f"{_line(chip, decided.reasoning, decided.by)}{read_as}"


def _select(state: Reply) -> tuple[str, str]:
    chosen = state.selection
    if chosen is None:
        return _failed(state)
    names = chosen.selected_source_ids
    chip = chips.one(f"{len(names)} of {counted(chosen.entries, 'entry', 'entries')}", "good" if names else "warn")
    before = f'<div class="small soft">Of a large index, the {len(chosen.shown)} entries that hold the question’s words were shown.</div>'
    listed = "".join(f"<li><code>{safe.html(name)}</code></li>" for name in names)
    refused = "".join(
        f'<div class="small">Not followed: {safe.html(one.what)} <span class="soft">{safe.html(one.why)}</span></div>' for one in state.refusals
    )
    inside = f"{_line(chip, chosen.reasoning, chosen.by)}{before if chosen.prefiltered else ''}<ul>{listed}</ul>{refused}"
    return ("good" if names else "warn"), inside


def _load(view: View, state: Reply) -> tuple[str, str]:
    if not state.loaded:
        return _failed(state)
    return ("good" if any(one.page_id for one in state.loaded) else "bad"), f"<ul>{''.join(_loaded(one, view.run.id) for one in state.loaded)}</ul>"


def _loaded(one: Loaded, run_id: str) -> str:
    if not one.page_id:
        return f"<li><code>{safe.html(one.source_id)}</code> {chips.one('not loaded', 'bad')} {safe.html(one.detail)}</li>"
    opens = f'<a href="{safe.stored(run_id, one.page_id)}" target="_blank">{safe.html(one.title.removeprefix("file:") or one.source_id)}</a>'
    return f'<li>{opens} <span class="soft">{one.characters:,} characters</span></li>'


def _write(state: Reply) -> tuple[str, str]:
    if not state.draft and not state.left_out:
        return _failed(state) if state.trouble else ("warn", f'<div class="why">{safe.html(state.silence)}</div>')
    draft = f'<div class="quote small">{safe.html(state.draft)}</div>' if state.draft else ""
    by = words.SPEAKER.get(state.answers[-1].by, "") if state.answers else ""
    left = "".join(f"<li>{safe.html(text)}</li>" for text in state.left_out)
    out = (
        f"<details><summary>{counted(len(state.left_out), 'sentence')} left out: nothing supports them</summary><ul>{left}</ul></details>"
        if left
        else ""
    )
    return ("good" if state.draft else "warn"), f'<div class="small soft">{by}</div>{draft}{out}'


def _verify(state: Reply) -> tuple[str, str]:
    check = state.verification
    if check is None:
        return _failed(state)
    chip = chips.one("approved", "good") if check.verification else chips.one("rejected", "bad")
    return ("good" if check.verification else "bad"), _line(chip, check.reasoning, check.by)


def _failed(state: Reply) -> tuple[str, str]:
    return "bad", f'<div class="why">{safe.html(state.trouble or "It did not get to a decision.")}</div>'


def _line(chip: str, reasoning: str, by: str) -> str:
    spoke = words.SPEAKER.get(by, "")
    return f'<div class="chips">{chip}<span class="small soft">{spoke}</span></div><div class="why">{safe.html(reasoning)}</div>'
