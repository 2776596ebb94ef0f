"""`./touchstone site`: its options, what it prints, its exit codes, follow-ups."""

from __future__ import annotations

import json

import pytest

from agent.cli.main import main
from agent.types import Settings, SiteLimits
from agent.workbench import Workbench

START, QUESTION = "https://kallsteg.example/", "How do I return a Kallsteg C2 logger?"
DEMO = ["site", "--world", "demo", "--model", "keyless", "--start", START]


def settings(*arguments: str) -> Settings:
    """The settings that the command starts its run with."""
    with pytest.MonkeyPatch.context() as patch:
        started: list[Settings] = []
        patch.setattr(Workbench, "start", lambda self, question, given: started.append(given) or "none")
        assert main(["site", "--world", "demo", *arguments, "Why?"]) == 2, "there is no such run to drive"
    return started[0]


def test_the_default_fence_are_the_start_hosts():
    both = settings("--start", "https://a.example/x", "--start", "https://b.example/")
    assert both.start_urls == ["https://a.example/x", "https://b.example/"] and both.allowed_domains == [
        "a.example",
        "b.example",
    ]


def test_allow_names_hosts_and_an_empty_one_takes_the_fence_down():
    assert settings(
        "--allow", "*.a.example, b.example", "--start", "https://x.a.example/"
    ).allowed_domains == ["*.a.example", "b.example"]
    assert settings("--allow", "", "--start", START).allowed_domains == []
    assert settings("--instruction", "Prefer the FAQ", "--start", START).instruction == "Prefer the FAQ"


def test_a_bare_host_name_is_a_start_page_and_its_own_fence():
    bare = settings("--start", "kallsteg.example", "--start", "b.example/faq")
    assert bare.start_urls == [
        "https://kallsteg.example",
        "https://b.example/faq",
    ] and bare.allowed_domains == ["kallsteg.example", "b.example"]


def test_the_limits_of_the_seed_are_its_defaults_and_can_be_set():
    assert settings("--start", START).site == SiteLimits()
    typed = "--max-pages 12 --iterations 2 --batch 3 --page-chars 400 --page-links 6 --url-chars 60"
    typed += " --url-buffer 7 --ahead 0 --fresh-days 3"
    assert settings(*typed.split(), "--start", START).site.model_dump() == {
        "max_iterations": 2,
        "max_pages": 12,
        "content_max_chars": 400,
        "links_max_chars": 60,
        "url_truncation_buffer": 7,
        "max_links_per_page": 6,
        "max_urls_per_iteration": 3,
        "crawl_ahead": 0,
        "fresh_days": 3,
    }


def test_a_limit_holds_in_the_run_and_in_its_follow_up(capsys):
    main([*DEMO, "--max-pages", "2", QUESTION])
    run_id = capsys.readouterr().err.split()[1]
    main([*DEMO, "--iterations", "1", "--follow", run_id, "And who pays for the postage?"])
    bench = Workbench()
    views = [bench.snapshot(name) for name in bench.thread(run_id)]
    assert [(v.run.settings.site.max_pages, v.run.settings.site.max_iterations) for v in views] == [
        (2, 5),
        (2, 1),
    ]
    assert all(view.state.pages_read_count <= 2 for view in views[:1])
    bench.shutdown()


def test_a_limit_below_one_is_refused(capsys):
    assert main([*DEMO, "--batch", "0", QUESTION]) == 2
    assert "--batch" in capsys.readouterr().err


def test_the_answer_is_printed_and_written(tmp_path, capsys):
    record, report = tmp_path / "run.json", tmp_path / "run.md"
    assert main([*DEMO, QUESTION, "--json", str(record), "--markdown", str(report)]) == 0
    out, err = capsys.readouterr()
    assert "Read as" not in err
    assert "within 30 days" in out and "addresses in the site's maps" in err and "explore —" in err
    told = json.loads(record.read_text())
    assert (
        told["site"]["user_question"] == QUESTION
        and told["site"]["allowed_domains"] == ["kallsteg.example"]
        and told["site"]["url_graph"]
    )
    assert "within 30 days" in report.read_text()


def test_a_refusal_is_a_success_told_politely(capsys):
    assert main([*DEMO, "Who won the football world cup in 1998?"]) == 0
    assert "I would rather not guess" in capsys.readouterr().out


def test_a_follow_up_goes_on_with_the_conversation(capsys):
    main([*DEMO, QUESTION])
    run_id = capsys.readouterr().err.split()[1]
    assert main([*DEMO, "--follow", run_id, "And who pays for the postage?"]) == 0
    out, err = capsys.readouterr()
    assert "We pay the return postage" in out and "pages known from the conversation" in err
    assert "Read as" not in err, "without a model a question is read as it was typed"


@pytest.mark.parametrize(
    ("start", "hint"), [("kallsteg", "is not a web address"), ("ftp://a.example/", "is not a web address")]
)
def test_wrong_usage_is_told(start, hint, capsys):
    assert main(["site", "--world", "demo", "--start", start, "Why?"]) == 2
    assert hint in capsys.readouterr().err
