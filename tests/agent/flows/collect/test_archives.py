"""Mail archives, changelogs and release notes: what is an item, and what its digest quotes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.flows.collect.state import CollectRun
from agent.types import CollectLimits, Settings, Status
from agent.workbench import Workbench
from tests.web.collecting_model import install_walker
from tests.web.folders import page, write_world

SITE = "https://lists.example"


@pytest.fixture
def gather(bench: Workbench, tmp_path: Path):
    def gathered(
        wants: dict[str, Any] | None, start: str, docs: list[dict[str, Any]], **limits: Any
    ) -> CollectRun:
        taken = {f"{SITE}/changes": {"action": "EXTRACT_CONTENT", "page_type": "article"}}
        if wants is not None:
            install_walker(bench, **{"decisions": taken, **wants})
        settings = Settings(
            flow="collect",
            model="keyless" if wants is None else "auto",
            world=write_world(tmp_path / "world", docs),
            start_urls=[SITE + start],
            collect=CollectLimits(**limits),
        )
        run_id = bench.start("Collect what is wanted", settings)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id).state

    return gathered


def doc(path: str, title: str, body: str) -> dict[str, Any]:
    html = f"<html lang='en'><head><title>{title}</title></head><body>{body}</body></html>"
    return page(SITE + path, title, "", html=html)


def test_posts_outside_the_time_asked_for_are_no_part_of_the_collection(gather) -> None:
    days = {"sven": "2023-12-30", "olle": "2024-02-01", "frida": "2025-01-03"}
    posts = "".join(
        f'<article class="post"><span class="username">{user}</span> <time datetime="{day}">{day}</time>'
        f'<div class="post-body">{user.title()} tells what the old pump of the harbour did that day.</div></article>'
        for user, day in days.items()
    )
    wanted = {"since": "2024-01-01", "until": "2024-12-31"}
    state = gather(wanted, "/", [doc("/", "The pump", f"<h1>The pump</h1>{posts}")])
    [item] = state.own.timely_items
    assert [post.user for post in item.posts] == ["olle"] and item.trouble.endswith("asked for: 2 posts.")
    assert [post.user for post in state.own.kept_items[0].posts] == list(days), "the record keeps them"
    assert {fact.quote[:4] for fact in state.facts.values()} == {"Olle"}


def note(version: str, day: str, *changes: str) -> str:
    return f"<h2>Version {version}</h2><p>Release date: {day}</p><ul>{''.join(f'<li>{c}</li>' for c in changes)}</ul>"


CHANGES = doc(
    "/changes",
    "Changelog",
    "<h1>Changelog</h1>"
    + note("3.1", "2025-02-03", "Ropes are counted twice.", "The lamp is lit at dusk.")
    + note("3.0", "2024-11-21", "A security fix for the harbour gate.", "The tide is known.")
    + note("2.9", "2024-05-09", "Nets dry faster in the wind.", "Knots hold."),
)


def test_only_as_many_entries_are_kept_as_are_wanted(gather) -> None:
    state = gather({"newest": True, "max_articles": 2}, "/changes", [CHANGES])
    assert [item.title for item in state.own.kept_items] == ["Version 3.1", "Version 3.0"]
    assert "2 were asked for" in next(i.reason for i in state.own.items.values() if i.status == "dropped")


def test_short_release_notes_are_content_and_their_contents_a_list(gather) -> None:
    versions = {"1.0": "2023-03-01", "1.1": "2024-03-01", "1.2": "2024-09-01"}
    notes = [
        doc(
            f"/r/{version}",
            f"Release {version}",
            f"<p><a href='/r'>Up</a></p><h1>Release {version}</h1><p>Released {day}</p><ul><li>The {version} lamps are"
            f" lit from the shore.</li><li>Nets of {version} dry faster in the wind than before.</li></ul>",
        )
        for version, day in versions.items()
    ]
    rows = "".join(
        f"<li><a href='/r/{v}'>Release {v}</a><ul><li><a href='/r/{v}#up'>How to upgrade to {v}</a></li></ul></li>"
        for v in versions
    )
    start = doc(
        "/r", "Release notes", f"<p><a href='/r/1.0'>Next</a></p><h1>Release notes</h1><ul>{rows}</ul>"
    )
    state = gather(None, "/r", [start, *notes])
    assert [item.title for item in state.own.kept_items] == ["Release 1.0", "Release 1.1", "Release 1.2"]
    assert state.own.tree[f"{SITE}/r"].action == "EXTRACT_LINKS"
