"""How far sources are trusted: the sources of a run as a table, a person's word on one of them, and the words
that hold for every run."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.actions import trust
from agent.actions.commit import EDITABLE_FLOWS
from agent.actions.trust import RESET_TRUST, DomainTrust, group_by_domain
from agent.evidence.source_trust import DEFAULT_TRUST, trust_label
from agent.types import TrustRating
from agent.workbench import RunSnapshot
from pages.widgets.shell import (
    badges,
    client,
    empty_state,
    escape,
    labels,
    markup,
    pagination,
    ui,
    view_cache,
)

TRUST_STEPS = [n / 20 for n in range(21)]
PAGE_SIZE = 25
"""Domains on a page."""


def draw_for_run(view: RunSnapshot) -> None:
    """The Sources tab of a run: its domains, and a person's word on one of them."""
    found = view_cache.get_or_compute(view, "domains", lambda: group_by_domain(view.state))
    if not found:
        empty_state.draw(
            "No sources yet",
            "Each page that is read appears here under its domain, with its trust and the reasons.",
        )
        return
    turned = f"research-domains-{view.run.id}"
    st.html(f'<div class="ts">{render_domains(pagination.take_page(found, PAGE_SIZE, turned))}</div>')
    pagination.draw(len(found), PAGE_SIZE, turned, "domains")
    if view.run.settings.flow in EDITABLE_FLOWS:
        with st.container(border=True, key="research-trust"):
            _draw_rating_form(view, found)


def render_domains(found: Sequence[DomainTrust]) -> str:
    """The domains as an HTML table."""
    return markup.table(["Domain", "Pages", "Facts", "Trust, and why"], map(_render_domain, found), "domains")


def _render_domain(domain: DomainTrust) -> list[str]:
    copies = escape.html(", ".join(domain.copies))
    same = f'<br><span class="small soft">same text as {copies}</span>' if copies else ""
    why = escape.html("; ".join(domain.reasons) or "no signal for or against it")
    trusted = "good" if trust_label(domain.trust) in ("high", "fully") else ""
    tone = "bad" if domain.trust <= 0 else "warn" if domain.trust < DEFAULT_TRUST else trusted
    chip = badges.render(f"{trust_label(domain.trust)} {domain.trust:.2f}", tone)
    counted = sum(fact.is_active for fact in domain.facts)
    disputed = sum(fact.is_active and not fact.can_support for fact in domain.facts)
    notes = [f"{counted} may count"] if counted != len(domain.facts) else []
    notes += [f"{disputed} disputed"] if disputed else []
    facts = f' <span class="small soft">({", ".join(notes)})</span>' if notes else ""
    return [
        f"<b>{escape.html(domain.name)}</b>{same}",
        str(len(domain.pages)),
        f"{len(domain.facts)}{facts}",
        f'{chip}<br><span class="small soft">{why}</span>',
    ]


def _draw_rating_form(view: RunSnapshot, found: Sequence[DomainTrust]) -> None:
    run_id, by_name = view.run.id, {domain.name: domain for domain in found}
    keys = {name: f"trust-{name}-{run_id}" for name in ("domain", "value", "why", "always")}
    st.html('<div class="ts"><b>How far do you trust a source?</b></div>')
    name = st.selectbox("Domain", list(by_name), key=keys["domain"])
    domain = by_name[name]
    value = st.select_slider(
        "Trust",
        TRUST_STEPS,
        min(TRUST_STEPS, key=lambda step: abs(step - domain.trust)),
        key=f"{keys['value']}-{name}-{domain.trust}",
        format_func=_format_trust,
        help=(
            "At “not at all” its facts support nothing and dispute nothing. Fully "
            "trusted, it can be enough alone."
        ),
    )
    said = domain.rating.reason if domain.rating else ""
    why = st.text_input(
        "Because", said, key=f"{keys['why']}-{name}", max_chars=300, placeholder="shown beside it"
    )
    always = st.checkbox("For every run from now on, too", key=keys["always"])
    with st.container(horizontal=True):
        arguments = (client.workbench(), run_id, name, value, why)
        ui.button(
            "Set trust", "trust-set", _rate_in_run, *arguments, kwargs={"always": always}, type="primary"
        )
        if domain.rating:
            again = (client.workbench(), run_id, name, RESET_TRUST, "")
            ui.button("Remove my rating", "trust-back", _rate_in_run, *again, kwargs={"always": always})


def _format_trust(value: float) -> str:
    return f"{trust_label(value)} ({value:.2f})"


def _rate_in_run(*arguments: object, always: bool) -> None:
    client.submit(
        lambda: trust.set_trust_in_run(*arguments, always=always),
        done="Saved. The confidence is recalculated.",
    )  # type: ignore[arg-type]


def draw_for_all_runs() -> None:
    """The words that hold for every run, on the Settings screen: the list, adding and removing."""
    said = trust.list_trust_ratings(client.workbench())
    ui.heading("Trust in domains")
    client.show_notice("trust")
    if said:
        st.html(f'<div class="ts">{render_ratings(said)}</div>')
    else:
        st.html(
            '<div class="ts"><p class="soft">No ratings yet: each page is '
            "trusted by its own signals.</p></div>"
        )
    with st.container(border=True, key="settings-trust"):
        name = st.text_input("Domain", key="settings-trust-domain", placeholder="example.org")
        value = st.select_slider(
            "Trust", TRUST_STEPS, DEFAULT_TRUST, key="settings-trust-value", format_func=_format_trust
        )
        why = st.text_input(
            "Because", key="settings-trust-why", max_chars=300, placeholder="shown wherever it counts"
        )
        with st.container(horizontal=True):
            ui.button("Set trust", "settings-trust-set", _rate_everywhere, name, value, why)
            if said:
                ui.button("Remove the rating of this domain", "settings-trust-back", _delete_rating, name)


def render_ratings(said: Sequence[TrustRating]) -> str:
    """The ratings as an HTML table."""
    rows = [
        [
            f"<b>{escape.html(one.domain)}</b>",
            f"{trust_label(one.value)} {one.value:.2f}",
            escape.html(one.reason),
            labels.format_time(one.at),
        ]
        for one in said
    ]
    return markup.table(["Domain", "Trust", "Because", "Since"], rows)


def _rate_everywhere(name: str, value: float, why: str) -> None:
    client.submit(
        trust.set_trust_rating, client.workbench(), name, value, why, then=lambda _: _clear_fields()
    )


def _delete_rating(name: str) -> None:
    client.submit(trust.delete_trust_rating, client.workbench(), name, then=lambda _: _clear_fields())


def _clear_fields() -> None:
    st.session_state["settings-trust-domain"] = st.session_state["settings-trust-why"] = ""
