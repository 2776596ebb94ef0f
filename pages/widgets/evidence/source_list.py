"""The sources of a run as a table: what each domain gave, and how far its signs are trusted."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from agent.actions.sources import SourceDomain, group_by_domain
from agent.evidence.sources import DEFAULT_TRUST, trust_label
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, empty_state, escape, markup, pagination, view_cache

PAGE_SIZE = 25
"""Domains on a page."""


def draw_for_run(view: RunSnapshot) -> None:
    """The Sources tab of a run: its domains."""
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


def render_domains(found: Sequence[SourceDomain]) -> str:
    """The domains as an HTML table."""
    return markup.table(["Domain", "Pages", "Facts", "Trust, and why"], map(_render_domain, found), "domains")


def _render_domain(domain: SourceDomain) -> list[str]:
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
