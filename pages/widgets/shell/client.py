"""The way from the screens to the workbench, and one manner of telling it something.

Where nobody signs in there is one workbench for this process; with a login, `workbench()` is that of who is
signed in in this session, and there is no way from here to another's. A screen asks `workbench()` directly.
What a person tells it goes through `submit`, so that a refusal becomes a notice on the screen that asked, and
nothing typed is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from agent.accounts.accounts import Accounts
from agent.accounts.people import Person
from agent.errors import ConcurrentChange, SignInRefused, StoreError, UsageError
from agent.library.collection import Library
from agent.llm import detect
from agent.llm.recorded import RECORDED
from agent.settings.config import is_personal, read_config
from agent.text.sentences import format_sentence
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from pages.widgets.shell import escape

_lock = threading.Lock()
_benches: list[Workbenches] = []

NOTICE_KEY = "door-notice"
"""The session key of what is shown in the corner: (kind, text, until when on the monotonic clock, screen)."""
WHOSE_KEY = "whose-settings"
"""The session key of what an admin sets: "own" or "server"."""
NOTICE_S = 12.0
"""Seconds a notice stays: it must outlive the polls of a run that goes on."""


def benches() -> Workbenches:
    """The workbenches of this process, opened at the first call."""
    with _lock:
        if not _benches:
            opened = Workbenches(read_config())
            opened.start()
            _benches.append(opened)
        return _benches[0]


def workbench() -> Workbench:
    """The workbench of this session, opened with its workers at the first call. Raises SignInRefused."""
    owner = person()
    return benches().open(owner) if owner else benches().local()


def settings_bench() -> Workbench:
    """That whose settings are on the screen. Raises UsageError for the server's and who is no admin now."""
    owner = person()
    is_servers = owner and owner.folder and st.session_state.get(WHOSE_KEY) == "server"
    return benches().open_server(owner) if owner and is_servers else workbench()


def change_setting(told: str, change: Callable[..., None], *args: Any, **more: Any) -> None:
    """Change a setting on the screen; the audit log says who changed one of the server's."""
    bench, owner = settings_bench(), person()
    change(bench, *args, **more)
    if owner and not is_personal(bench.config):
        accounts().audit.add(owner.id, "change setting", told)


def read_claims() -> Mapping[str, Any]:
    """What the sign-in of this session states; nothing outside a session, or when nobody signed in."""
    return st.user.to_dict() if get_script_run_ctx() and st.user.get("is_logged_in") else {}


def person() -> Person | None:
    """Who is signed in in this session, looked up anew each time; None where nobody signs in. Raises
    SignInRefused; a part of a screen that draws itself again has the whole screen drawn again then."""
    accounts = benches().accounts
    if accounts is None:
        return None
    try:
        return accounts.people.recognize(read_claims())
    except SignInRefused:
        context = get_script_run_ctx()
        if context and context.fragment_ids_this_run:
            st.rerun()
        raise


def owner_key() -> str:
    """What values that are kept for a person begin with: their id; "" where nobody signs in."""
    owner = person()
    return owner.id if owner else ""


def require_person() -> Person:
    """Who is signed in in this session. Raises SignInRefused where nobody can be."""
    owner = person()
    if owner is None:
        raise SignInRefused("this server has no login")
    return owner


def accounts() -> Accounts:
    """The people of this server and what belongs to them. Raises SignInRefused where nobody signs in."""
    if found := benches().accounts:
        return found
    raise SignInRefused("this server has no login")


def library() -> Library:
    """The library behind it."""
    return workbench().library


def has_model(chosen: str) -> bool:
    """Whether a model works for a run with this setting of its model."""
    return chosen == RECORDED or (chosen != "keyless" and bool(workbench().active_configuration().model))


_network: tuple[float, bool] = (0.0, True)
"""When the network was last asked for (monotonic clock), and whether it was there."""
NETWORK_S = 20.0
"""Seconds after which it is asked for again."""


def is_online() -> bool:
    """Whether there was a network when it was last asked for: a screen does not wait for it."""
    if time.monotonic() - _network[0] > NETWORK_S:
        threading.Thread(target=check_network, args=(workbench(),), daemon=True).start()
    return _network[1]


def check_network(bench: Workbench) -> None:
    """Ask for the network."""
    global _network
    _network = time.monotonic(), bench.worker.world("live").is_reachable()


def explain_missing_model() -> str:
    """Why there is no model although one is set up; "" when there is one, or none was wanted."""
    active = workbench().active_configuration()
    return "" if active.model or active.model_detail == detect.NO_MODEL else active.model_detail


def close() -> None:
    """Let every run rest and close the stores; the next `workbench()` opens anew."""
    with _lock:
        while _benches:
            _benches.pop().close()


def submit(
    what: Callable[..., Any], *args: Any, done: str = "", then: Callable[[Any], None] | None = None
) -> None:
    """Do what a person asked for, as a button's callback; `then` gets what it returned, `done` is shown when
    it went well.

    A refusal is shown in its own words and changes nothing."""
    st.session_state.pop(NOTICE_KEY, None)
    try:
        person()
        result = what(*args)
    except ConcurrentChange as overtaken:
        set_notice("info", f"{format_sentence(str(overtaken))} This is how it stands now.")
    except (UsageError, StoreError) as refused:
        set_notice("warning", format_sentence(str(refused)))
    else:
        if then:
            then(result)
        if done:
            set_notice("success", done)


def act(
    run_id: str,
    name: str,
    head: int | None = None,
    /,
    *,
    done: str = "",
    then: Callable[[Any], None] | None = None,
    **given: Any,
) -> None:
    """Do an act of `agent.actions.acts` with a run, as a button's callback."""
    submit(lambda: workbench().act(run_id, name, head, **given), done=done, then=then)


def set_notice(kind: str, text: str) -> None:
    """Show this for a while. `kind` is info, warning or success."""
    st.session_state[NOTICE_KEY] = (kind, text, time.monotonic() + NOTICE_S, "")


def show_notice(screen: str) -> None:
    """Draw what is to be told, as long as it is fresh, on the screen that draws it first: in the corner, so
    that nothing moves."""
    kind, text, until, drawn_on = st.session_state.get(NOTICE_KEY, ("", "", 0.0, ""))
    with st.container(key="notice"):
        if time.monotonic() > until or drawn_on not in ("", screen):
            st.session_state.pop(NOTICE_KEY, None)
            return
        st.session_state[NOTICE_KEY] = (kind, text, until, screen)
        {"info": st.info, "warning": st.warning, "success": st.success}[kind](escape.md(text))
