"""May a run be started so? Each thing that cannot be is refused in words that say what to do."""

from __future__ import annotations

import pytest

from agent.actions.validation import MAX_QUESTION_CHARS, check_engines, check_new_run
from agent.engine.run_settings import normalize_settings
from agent.errors import UsageError
from agent.settings import config
from agent.types import Settings
from agent.web.world import open_world
from tests.tables import by_table


@by_table
def test_what_cannot_be_is_refused(settings, question, told):
    with pytest.raises(UsageError, match=told):
        check_new_run(question, Settings(**settings))


@pytest.mark.parametrize(
    ("question", "update", "told"),
    [
        ("x" * (MAX_QUESTION_CHARS + 1), {}, "4,001 characters; 4,000 are the most"),
        ("Why?", {"max_seconds": float("inf")}, "needs a number"),
        ("Why?", {"max_cost_usd": float("nan")}, "needs a number"),
    ],
)
def test_what_is_too_much_is_refused(question, update, told):
    with pytest.raises(UsageError, match=told):
        check_new_run(question, Settings().model_copy(update=update))


@by_table
def test_what_can_be_is_let_through(settings):
    check_new_run("x" * MAX_QUESTION_CHARS, Settings(**settings))


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
        Settings(flow="site", start_urls=["kallsteg.example", " a.example/faq "], allowed_domains=allowed)
    )
    assert meant.start_urls == ["https://kallsteg.example/", "https://a.example/faq"]
    assert meant.allowed_domains == ["kallsteg.example", "a.example", "*.b.example"]
    check_new_run("Why?", meant)
