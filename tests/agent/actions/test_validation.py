"""May a run be started so? Each thing that cannot be is refused in words that say what to do."""

from __future__ import annotations

import pytest

from agent.actions.validation import MAX_QUESTION_CHARS, check_engines, check_new_run
from agent.engine.run_settings import normalize_settings
from agent.errors import UsageError
from agent.settings import config
from agent.types import Settings, SiteLimits
from agent.web.world import open_world

START = "https://a.example/"


def site(**more) -> Settings:
    return Settings(**{"flow": "site", "start_urls": [START], **more})


@pytest.mark.parametrize(
    ("question", "settings", "told"),
    [
        ("", Settings(), "no question yet"),
        ("Why caf\udce9?", Settings(), "not UTF-8 text"),
        ("x" * (MAX_QUESTION_CHARS + 1), Settings(), "4,001 characters; 4,000 are the most"),
        ("Why?", Settings(flow="nowhere"), "no flow nowhere"),
        ("Why?", Settings(max_steps=0), "at least one step"),
        ("Why?", Settings().model_copy(update={"max_seconds": float("inf")}), "needs a number"),
        ("Why?", Settings().model_copy(update={"max_cost_usd": float("nan")}), "needs a number"),
        ("Why?", Settings(max_seconds=0), "some working time"),
        ("Why?", Settings(max_pages=0), "at least one step and one page"),
        ("Why?", site(site=SiteLimits(max_pages=0)), "one page"),
        ("Why?", site(start_urls=[]), "at least one page to start from"),
        ("Why?", site(start_urls=[START, "a page"]), "“a page” is not a web address"),
        ("Why?", site(start_urls=["javascript:alert(1)"]), "name one like example.org"),
        (
            "Why?",
            site(flow="collect", allowed_domains=["b.example", "*.c.example"]),
            r"outside the allowed domains \(b.example, \*.c.example\)",
        ),
        ("Why?", Settings(allowed_domains=["two words"]), "“two words” is not a domain"),
        (
            "Why?",
            Settings(allowed_domains=["a.b.example"], blocked_domains=["b.example"]),
            "a.b.example is both allowed and blocked",
        ),
        (
            "Why?",
            Settings(since="spring 2020"),
            r"“spring 2020” is not a day \(since\): write it like 2024-03-31",
        ),
        ("Why?", Settings(before="2020-02-30"), r"not a day \(before\)"),
        ("Why?", Settings(since="2020-02-01", before="2020-02-01"), "exchange the two days"),
        ("Why?", Settings(language="Elvish"), "“Elvish” is not a supported language; there are ar, bg"),
        (
            "Why?",
            Settings(engines=["altavista"]),
            "no search engine altavista; there are duckduckgo, google, searxng",
        ),
        ("Why?", site(blocked_domains=["example"]), r"is on a blocked domain \(example\)"),
    ],
)
def test_what_cannot_be_is_refused(question, settings, told):
    with pytest.raises(UsageError, match=told):
        check_new_run(question, settings)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        site(),
        site(allowed_domains=["*.example"]),
        site(allowed_domains=["A.example"]),
        Settings(start_urls=["x"]),
        site(flow="collect"),
    ],
)
def test_what_can_be_is_let_through(settings):
    check_new_run("x" * MAX_QUESTION_CHARS, settings)


def test_engines_that_a_world_lacks_are_refused_with_the_reason(tmp_path):
    world = open_world("demo", config.read_config({"TOUCHSTONE_DATA": str(tmp_path)}))
    check_engines(["google", "duckduckgo"], world)
    check_engines([], world)
    with pytest.raises(UsageError, match="google: a world in a folder has only its own index"):
        check_engines(["google"], world)


def test_domains_and_languages_are_spelled_as_they_are_meant():
    meant = normalize_settings(
        Settings(blocked_domains=["https://B.example/x", "c.example:8080", "b.example"], language="SV-se")
    )
    assert (meant.blocked_domains, meant.language) == (["b.example", "c.example"], "sv")


def test_a_bare_host_is_a_page_and_a_page_names_its_host():
    allowed = ["https://Kallsteg.example/faq", "a.example/", "*.b.example"]
    meant = normalize_settings(
        site(start_urls=["kallsteg.example", " a.example/faq "], allowed_domains=allowed)
    )
    assert meant.start_urls == ["https://kallsteg.example", "https://a.example/faq"]
    assert meant.allowed_domains == ["kallsteg.example", "a.example", "*.b.example"]
    check_new_run("Why?", meant)
