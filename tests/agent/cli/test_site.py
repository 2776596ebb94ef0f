"""`./touchstone site`: its options, what it prints, its exit codes, follow-ups."""

from __future__ import annotations

import json

import pytest

from agent.cli.main import main
from agent.types import Settings, SiteLimits
from agent.workbench import Workbench

pytestmark = pytest.mark.slow

START, QUESTION = "https://kallsteg.example/", "How do I return a Kallsteg C2 logger?"
DEMO = ["site", "--world", "demo", "--model", "keyless", "--start", START]


def settings(*arguments: str) -> Settings:
    """The settings that the command starts its run with."""
    with pytest.MonkeyPatch.context() as patch:
        started: list[Settings] = []
        patch.setattr(Workbench, "start", lambda self, question, given: started.append(given) or "none")
        assert main(["site", "--world", "demo", *arguments, "Why?"]) == 2, "there is no such run to drive"
    return started[0]


@pytest.mark.parametrize(
    ("starts", "allow", "fence"),
    [
        (["https://a.example/x", "https://b.example/"], None, ["a.example", "b.example"]),
        (["https://x.a.example/"], "*.a.example, b.example", ["*.a.example", "b.example"]),
        ([START], "", []),
        (["kallsteg.example", "b.example/faq"], None, ["kallsteg.example", "b.example"]),
    ],
)
def test_the_hosts_of_the_start_pages_are_the_fence_unless_others_are_named(starts, allow, fence):
    words = [word for start in starts for word in ("--start", start)]
    made = settings(*words, *([] if allow is None else ["--allow", allow]))
    assert made.allowed_domains == fence
    assert made.start_urls == [one if "://" in one else f"https://{one}" for one in starts]


def test_the_limits_of_the_seed_are_its_defaults_and_can_be_set():
    assert settings("--start", START).site == SiteLimits()
    typed = "--max-pages 12 --iterations 2 --batch 3 --page-chars 400 --page-links 6 --url-chars 60"
    made = settings(*typed.split(), *"--url-buffer 7 --ahead 0 --fresh-days 3".split(), "--start", START)
    limits = SiteLimits(max_pages=12, max_iterations=2, max_urls_per_iteration=3, content_max_chars=400)
    more = {"max_links_per_page": 6, "links_max_chars": 60, "url_truncation_buffer": 7}
    assert made.site == limits.replace(**more, crawl_ahead=0, fresh_days=3)


def test_a_limit_holds_in_the_run_and_in_its_follow_up(capsys):
    main([*DEMO, "--max-pages", "2", QUESTION])
    run_id = capsys.readouterr().err.split()[1]
    main([*DEMO, "--iterations", "1", "--follow", run_id, "And who pays for the postage?"])
    bench = Workbench()
    views = [bench.snapshot(name) for name in bench.thread(run_id)]
    limits = [view.run.settings.site for view in views]
    assert [(one.max_pages, one.max_iterations) for one in limits] == [(2, 5), (2, 1)]
    assert views[0].state.pages_read_count <= 2
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
    told = json.loads(record.read_text())["site"]
    assert (told["user_question"], told["allowed_domains"]) == (QUESTION, ["kallsteg.example"])
    assert told["url_graph"] and "within 30 days" in report.read_text()


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


@pytest.mark.parametrize("start", ["kallsteg", "ftp://a.example/"])
def test_what_is_no_address_is_told(start, capsys):
    assert main(["site", "--world", "demo", "--start", start, "Why?"]) == 2
    assert "is not a web address" in capsys.readouterr().err
