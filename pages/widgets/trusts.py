"""How far sources are trusted: the sources of a run as a table, a person's word on one of them, and the words that hold for every run."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent import trusting
from agent.correcting import EDITABLE
from agent.evidence.trust import PLAIN, in_words
from agent.flows.trusting import BACK, Domain, by_domain
from agent.types import Trusted
from agent.workbench import View
from pages.widgets import door, empty, memo, paging, safe, words

STEPS = [n / 20 for n in range(21)]
SHOWN = 25
"""Domains on a page."""


def sources(view: View) -> None:
    """The Sources tab of a run: its domains, and a person's word on one of them."""
    found = memo.of(view, "domains", lambda: by_domain(view.state))
    if not found:
        empty.draw("No sources yet", "Each page that is read appears here under its domain, with how far it is trusted and why.")
        return
    turned = f"research-domains-{view.run.id}"
    st.html(f'<div class="ts">{table(paging.part(found, SHOWN, turned))}</div>')
    paging.turn(len(found), SHOWN, turned, "domains")
    if view.run.settings.flow in EDITABLE:
        with st.container(border=True, key="research-trust"):
            _word(view, found)


def table(found: Sequence[Domain]) -> str:
    """The domains as an HTML table."""
    head = "<tr><th>Domain</th><th>Pages</th><th>Facts</th><th>Trust, and why</th></tr>"
    return f'<div class="scroll"><table class="domains">{head}{"".join(map(_row, found))}</table></div>'


def _row(domain: Domain) -> str:
    one = f'<br><span class="small soft">one voice with {safe.html(", ".join(domain.copies))}</span>' if domain.copies else ""
    why = safe.html("; ".join(domain.reasons) or "nothing speaks for or against it")
    tone = "bad" if domain.trust <= 0 else "warn" if domain.trust < PLAIN else "good" if in_words(domain.trust) in ("high", "fully") else ""
    chip = f'<span class="chip {tone}">{in_words(domain.trust)} {domain.trust:.2f}</span>'
    counted, disputed = sum(fact.counts for fact in domain.facts), sum(fact.counts and not fact.usable for fact in domain.facts)
    notes = [f"{counted} may count"] if counted != len(domain.facts) else []
    notes += [f"{disputed} disputed"] if disputed else []
    facts = f"{len(domain.facts)}" + (f' <span class="small soft">({", ".join(notes)})</span>' if notes else "")
    return (
        f"<tr><td><b>{safe.html(domain.name)}</b>{one}</td><td>{len(domain.pages)}</td><td>{facts}</td>"
        f'<td>{chip}<br><span class="small soft">{why}</span></td></tr>'
    )


def _word(view: View, found: Sequence[Domain]) -> None:
    run_id, by_name = view.run.id, {domain.name: domain for domain in found}
    keys = {name: f"trust-{name}-{run_id}" for name in ("domain", "value", "why", "always")}
    st.html('<div class="ts"><b>How far do you trust a source?</b></div>')
    name = st.selectbox("Domain", list(by_name), key=keys["domain"])
    domain = by_name[name]
    value = st.select_slider(
        "Trust", STEPS, min(STEPS, key=lambda step: abs(step - domain.trust)), key=f"{keys['value']}-{name}-{domain.trust}", format_func=_shown,
        help="At “not at all” its facts support nothing and dispute nothing. Fully trusted, it can be enough alone.",
    )  # fmt: skip
    said = domain.said.reason if domain.said else ""
    why = st.text_input("Because", said, key=f"{keys['why']}-{name}", max_chars=300, placeholder="shown beside it")
    always = st.checkbox("For every run from now on, too", key=keys["always"])
    with st.container(horizontal=True):
        arguments = (door.workbench(), run_id, name, value, why)
        st.button("Set trust", type="primary", key="trust-set", on_click=_tell, args=arguments, kwargs={"always": always})
        if domain.said:
            again = (door.workbench(), run_id, name, BACK, "")
            st.button("Take my word back", key="trust-back", on_click=_tell, args=again, kwargs={"always": always})


def _shown(value: float) -> str:
    return f"{in_words(value)} ({value:.2f})"


def _tell(*arguments: object, always: bool) -> None:
    door.tell(lambda: trusting.trust_in_run(*arguments, always=always), done="Noted: the confidence is counted anew.")  # type: ignore[arg-type]


def everywhere() -> None:
    """The words that hold for every run, on the Settings screen: the list, another word, and taking one back."""
    said = trusting.trusts(door.workbench())
    st.html('<div class="ts"><h2 class="ts-section">Trust in domains</h2></div>')
    door.show_notice("trust")
    if said:
        st.html(f'<div class="ts">{listed(said)}</div>')
    else:
        st.html('<div class="ts"><p class="soft">You said nothing of any domain: each page is trusted by its signs.</p></div>')
    with st.container(border=True, key="settings-trust"):
        name = st.text_input("Domain", key="settings-trust-domain", placeholder="example.org")
        value = st.select_slider("Trust", STEPS, PLAIN, key="settings-trust-value", format_func=_shown)
        why = st.text_input("Because", key="settings-trust-why", max_chars=300, placeholder="shown wherever it counts")
        with st.container(horizontal=True):
            st.button("Set trust", key="settings-trust-set", on_click=_keep, args=(name, value, why))
            if said:
                st.button("Take back the word on this domain", key="settings-trust-back", on_click=_forget, args=(name,))


def listed(said: Sequence[Trusted]) -> str:
    """The words as an HTML table."""
    rows = "".join(
        f"<tr><td><b>{safe.html(one.domain)}</b></td><td>{in_words(one.value)} {one.value:.2f}</td><td>{safe.html(one.reason)}</td>"
        f"<td>{words.when(one.at)}</td></tr>"
        for one in said
    )
    return f'<div class="scroll"><table><tr><th>Domain</th><th>Trust</th><th>Because</th><th>Since</th></tr>{rows}</table></div>'


def _keep(name: str, value: float, why: str) -> None:
    door.tell(trusting.trust, door.workbench(), name, value, why, then=lambda _: _cleared())


def _forget(name: str) -> None:
    door.tell(trusting.forget, door.workbench(), name, then=lambda _: _cleared())


def _cleared() -> None:
    st.session_state["settings-trust-domain"] = st.session_state["settings-trust-why"] = ""
