"""The chosen sources hold in every flow that fetches: domains before and after, time and language once a page
is read."""

from __future__ import annotations

import pytest

from agent.types import Outcome, Settings
from tests.web.folders import page, write_world

SWEDISH = "Bron i dalen öppnar klockan nio varje morgon, och porten till trädgården stängs klockan sex på kvällen hela sommaren."
OPENS = "The gate of the garden opens at 9 in the morning and closes at 6 in the evening, every day of the summer."


def doc(
    url: str, title: str, body: str, *, language: str = "", when: str = "", links: str = ""
) -> dict[str, object]:
    meta = (
        f'<meta property="article:published_time" content="{when}"><meta property="og:type" content="article">'
        if when
        else ""
    )
    lang = f' lang="{language}"' if language else ""
    anchors = "".join(
        f'<li><a href="{link}">{name}</a></li>'
        for link, _, name in (part.partition("|") for part in links.split())
    )
    whole = f"<article><h1>{title}</h1><p>{body}</p></article><ul>{anchors}</ul>"
    return page(url, title, body) | {
        "html": f"<html{lang}><head><title>{title}</title>{meta}</head><body>{whole}</body></html>"
    }


@pytest.mark.slow
def test_site_follows_a_start_page_in_another_language_and_takes_nothing_from_it(ask, tmp_path):
    docs = [
        doc(
            "https://garden.example/",
            "Trädgården",
            SWEDISH,
            language="sv",
            links="/en/gate|Gate /sv/grind|Grind",
        ),
        doc("https://garden.example/en/gate", "The gate of the garden", OPENS, language="en"),
        doc("https://garden.example/sv/grind", "Grind", SWEDISH),
    ]
    world = write_world(tmp_path / "garden", docs)
    state = ask(
        "When does the gate of the garden open?",
        flow="site",
        world=world,
        start_urls=["https://garden.example/"],
        language="en",
    ).state
    assert "9 in the morning" in state.answer.text
    assert {fact.url for fact in state.facts.values()} == {"https://garden.example/en/gate"}
    assert state.pages["https://garden.example/"].outcome is Outcome.REFUSED
    assert "Swedish" in state.pages["https://garden.example/"].detail


def test_collect_keeps_only_articles_of_the_time_and_language(bench, tmp_path):
    long = " ".join(f"{OPENS} It was so in year {n}." for n in range(6))
    docs = [
        doc(
            "https://news.example/",
            "Nyheter",
            SWEDISH,
            language="sv",
            links="/old|The_gate_of_old /new|The_gate_of_today /sv|Porten_i_dag",
        ),
        doc("https://news.example/old", "The old gate", long, when="2015-05-01"),
        doc("https://news.example/new", "The new gate", long + " New.", when="2024-05-01"),
        doc("https://news.example/sv", "Porten", " ".join([SWEDISH] * 6), when="2024-06-01"),
    ]
    world = write_world(tmp_path / "news", docs)
    chosen = Settings(
        flow="collect",
        world=world,
        model="keyless",
        start_urls=["https://news.example/"],
        since="2020-01-01",
        language="en",
    )
    run_id = bench.start("Collect all articles on the gate", chosen)
    bench.drive(run_id)
    items = {item.url: item for item in bench.snapshot(run_id).state.own.items.values()}
    assert "published 2015-05-01" in items["https://news.example/old"].reason
    assert "Swedish" in items["https://news.example/sv"].reason
    assert items["https://news.example/new"].status == "kept"
