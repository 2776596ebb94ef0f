"""The log: what it is about, in both forms, and no secret in either."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from agent import logs
from agent.errors import StoreError
from tests.tables import by_table


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    root = logging.getLogger()
    former, level = root.handlers[:], root.level
    monkeypatch.setattr(logs, "_secrets", set())
    yield logging.getLogger("agent.test")
    root.handlers[:] = former
    root.setLevel(level)


def test_a_json_line_names_run_step_and_person(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up("json", "INFO")
    with logs.bind(run="r1", person=logs.hash_person("anna")), logs.bind(step=3):
        log.info("read %d pages", 2)
    log.info("line\nbreak")
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["run"], first["step"], first["level"], first["message"]) == (
        "r1",
        "3",
        "INFO",
        "read 2 pages",
    )
    assert first["person"] == logs.hash_person("anna") and "anna" not in first["person"]
    assert second["message"] == "line\\nbreak" and "run" not in second and first["at"].endswith("Z")


def test_a_readable_line_names_them_too(log: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("readable", "DEBUG")
    with logs.bind(run="r1", step=3):
        log.debug("went on")
    assert capsys.readouterr().err.rstrip().endswith("DEBUG agent.test went on [run=r1 step=3]")


@pytest.mark.parametrize("form", ["json", "readable"])
def test_a_secret_is_replaced_in_messages_addresses_and_tracebacks(
    form: str, log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up(form, "DEBUG")
    logs.remember_secrets(['cana"ry/ä-1', "ollama"])
    try:
        raise StoreError('with cana"ry/ä-1')
    except StoreError:
        log.exception("ollama: %s", "cana%22ry%2F%C3%A4-1")
    written = capsys.readouterr().err
    assert "cana" not in written and written.count(logs.REDACTED) == 3
    assert "Traceback" in written and "ollama" in written


@by_table
def test_an_address_is_told_without_its_query(address: str, told: str) -> None:
    assert logs.redact(address) == told


def test_a_library_is_heard_from_warnings_on(log: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up("readable", "DEBUG")
    for name in ("urllib3.connectionpool", "agent.test", "pages.chat"):
        logging.getLogger(name).debug("asked for all")
        logging.getLogger(name).warning("is slow")
    told = [line.split()[2:4] for line in capsys.readouterr().err.splitlines()]
    assert told.count(["DEBUG", "urllib3.connectionpool"]) == 0
    assert len(told) == 5 and ["WARNING", "urllib3.connectionpool"] in told


def tell(error: BaseException) -> str:
    return logs.ReadableFormatter().formatException((type(error), error, None))


def test_exceptions_that_caused_each_other_are_told_once() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert tell(first).splitlines()[1:] == ["ValueError: …", "KeyError: …"]
    first.__cause__ = first
    assert tell(first).count("ValueError") == 1


def test_what_was_hidden_on_purpose_stays_hidden_and_its_cause_is_told() -> None:
    told, hidden, cause = ValueError("a"), KeyError("b"), TypeError("c")
    told.__context__ = hidden
    assert "KeyError" in tell(told)
    told.__suppress_context__ = True
    assert "KeyError" not in tell(told)
    told.__cause__ = cause
    assert "TypeError" in tell(told) and "KeyError" not in tell(told)


@pytest.mark.parametrize("form", ["json", "readable"])
def test_a_message_is_one_short_line_without_signs_for_the_terminal(
    form: str, log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.set_up(form, "DEBUG")
    log.error("Error: %s", "\x1b[31m\x9b2J\u202e\r\n2026 INFO agent forged" + "x" * 60_000)
    [line] = capsys.readouterr().err.splitlines()
    assert len(line) < 4_200 and line.isprintable() and "forged" in line
