"""Mail archives, changelogs and release notes, without a model: what is an item, and what its digest quotes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.flows.collect.state import CollectRun, CollectState
from agent.types import CollectLimits, Settings, Status
from agent.types.collection import CollectedItem
from agent.workbench import Workbench
from tests.web.folders import page, write_world

SITE = "https://lists.example"
PATCH = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-the old line of the file = 1\n+the new line of the file = 2"


@pytest.fixture
def gather(bench: Workbench, tmp_path: Path):
    def gathered(prompt: str, start: str, docs: list[dict[str, Any]], **limits: Any) -> CollectRun:
        settings = Settings(
            flow="collect",
            world=write_world(tmp_path / "world", docs),
            model="keyless",
            start_urls=[SITE + start],
            collect=CollectLimits(**limits),
        )
        run_id = bench.start(prompt, settings)
        assert bench.drive(run_id) is Status.REVIEW, bench.snapshot(run_id).run.error
        return bench.snapshot(run_id).state

    return gathered


def doc(path: str, title: str, body: str) -> dict[str, Any]:
    html = f"<html lang='en'><head><title>{title}</title></head><body>{body}</body></html>"
    return page(SITE + path, title, "", html=html)


def message(n: int, sender: str, words: str) -> dict[str, Any]:
    near = f"[<a href='m{n - 1:03}.html'>Date Prev</a>][<a href='m{n + 1:03}.html'>Date Next</a>][<a href='/'>Date Index</a>]"
    head = f"<ul><li><em>Subject</em>: Ropes</li><li><em>From</em>: {sender}</li><li><em>Date</em>: Tue, {n:02} Nov 2009 10:00:00 +0100</li></ul>"
    text = f"Bo Ek wrote:\n&gt; The harbour has no rope of this length left at all.\n\n{words}\n\n{PATCH}\n\n-- \n{sender}"
    return doc(f"/m{n:03}.html", "Ropes", f"{near}<h1>Ropes</h1><hr>{head}<hr><pre>{text}</pre><hr>{near}")


SENDERS = ["Ada Quill", "Bo Ek", "Ada Quill", "Cem Ito", "Ada Quill", "Bo Ek"]
NUMBERS = "one two three four five six".split()
MESSAGES = [
    message(
        n,
        sender,
        f"{sender} tells number {NUMBERS[n - 1]} of the ropes, and {NUMBERS[-n]} boats wait for them.",
    )
    for n, sender in enumerate(SENDERS, start=1)
]
ENTRIES = "".join(
    f"<li><a href='/m{n:03}.html'>Ropes</a> <em>{who}</em></li>" for n, who in enumerate(SENDERS, start=1)
)
INDEX = doc(
    "/", "Mail index", f"<h1>Mail index</h1><p><a href='/threads.html'>Thread Index</a></p><ul>{ENTRIES}</ul>"
)
THREADS = doc(
    "/threads.html", "Threads", f"<h1>Threads</h1><p><a href='/'>Date Index</a></p><ul>{ENTRIES}</ul>"
)


def test_the_last_messages_of_a_writer(gather) -> None:
    state = gather("last 2 messages by Ada Quill", "/", [INDEX, THREADS, *MESSAGES])
    kept = [(item.url, item.author, item.publish_date[:10]) for item in state.own.kept_items]
    assert kept == [
        (f"{SITE}/m005.html", "Ada Quill", "2009-11-05"),
        (f"{SITE}/m003.html", "Ada Quill", "2009-11-03"),
    ]
    assert len(state.actions) == 3, "the list names writers and is in order: no other message is read"


def test_posts_outside_the_time_asked_for_are_no_part_of_the_collection(gather) -> None:
    days = {"sven": "2023-12-30", "olle": "2024-02-01", "frida": "2025-01-03"}
    posts = "".join(
        f'<article class="post"><span class="username">{user}</span> <time datetime="{day}">{day}</time>'
        f'<div class="post-body">{user.title()} tells what the old pump of the harbour did that day.</div></article>'
        for user, day in days.items()
    )
    state = gather(
        "what people wrote about the pump in 2024", "/", [doc("/", "The pump", f"<h1>The pump</h1>{posts}")]
    )
    [item] = state.own.timely_items
    assert [post.user for post in item.posts] == ["olle"] and item.trouble.endswith("asked for: 2 posts.")
    assert [post.user for post in state.own.kept_items[0].posts] == list(days), "the record keeps them"
    assert state.answer and [s.text[:4] for s in state.answer.sentences] == ["olle"]
    assert {fact.quote[:4] for fact in state.facts.values()} == {"Olle"}


def test_a_digest_quotes_what_the_writer_wrote_and_no_patch_or_navigation(gather) -> None:
    text = gather("last 2 messages by Ada Quill", "/", [INDEX, *MESSAGES]).answer.text
    assert "Ada Quill tells number five of the ropes" in text
    for foreign in ("no rope of this length", "wrote", "+++", "old line", "Date Prev"):
        assert foreign not in text


def test_no_page_is_visited_twice(gather) -> None:
    state = gather("what people say about ropes", "/", [INDEX, THREADS, *MESSAGES])
    fetched = [action.query_or_url for action in state.actions]
    assert len(fetched) == len(set(fetched))
    assert {item.url for item in state.own.kept_items} == {f"{SITE}/m{n:03}.html" for n in range(1, 7)}


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


def test_the_entries_of_a_changelog_in_a_time(gather) -> None:
    state = gather("changes in 2024", "/changes", [CHANGES])
    kept = state.own.kept_items
    assert [(item.title, item.publish_date) for item in kept] == [
        ("Version 3.0", "2024-11-21"),
        ("Version 2.9", "2024-05-09"),
    ]
    assert kept[0].url == f"{SITE}/changes#:~:text=Version%203.0" and not kept[0].given
    assert "counted twice" not in state.answer.text
    assert state.answer.certainty.startswith("Not judged (26%)"), "nobody judged what was kept"


@pytest.mark.parametrize(
    ("judges", "given", "intent_by", "judgement"),
    [
        (["model", "model"], False, "model", 0.9),
        (["model", "keyless"], False, "model", 0.45),
        (["keyless", "keyless"], True, "keyless", 0.0),
        (["code", "code"], True, "model", 0.9),
        ([], False, "model", 0.0),
    ],
)
def test_only_what_a_model_judged_counts_for_the_confidence(judges, given, intent_by, judgement) -> None:
    items = {
        str(n): CollectedItem(id=str(n), url="", kind="article", status="kept", judged_by=judge, given=given)
        for n, judge in enumerate(judges)
    }
    own = CollectState(items=items, intent_by=intent_by)
    assert own.judge_items(CollectRun(own=own)) == pytest.approx(judgement)


def test_the_entries_of_a_changelog_about_something(gather) -> None:
    assert [i.title for i in gather("security fixes", "/changes", [CHANGES]).own.kept_items] == [
        "Version 3.0"
    ]


def test_only_as_many_entries_are_kept_as_are_wanted(gather) -> None:
    state = gather("the newest 2 changes", "/changes", [CHANGES])
    assert [item.title for item in state.own.kept_items] == ["Version 3.1", "Version 3.0"]
    assert "2 were asked for" in next(i.reason for i in state.own.items.values() if i.status == "dropped")


def test_a_time_without_entries_is_told(gather) -> None:
    state = gather("changes in 2021", "/changes", [CHANGES])
    assert state.own.kept_items == [] and "the newest of 2025-02-03" in state.answer.certainty


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
    state = gather("releases of 2024", "/r", [start, *notes])
    assert [item.title for item in state.own.kept_items] == ["Release 1.1", "Release 1.2"]
    assert state.own.tree[f"{SITE}/r"].action == "EXTRACT_LINKS"
