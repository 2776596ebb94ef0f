"""Documents that attack their reader end within the limits, a stop ends them at once, and no process stays."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import StopRequested
from agent.settings.config import ROOT
from agent.types import Outcome
from agent.web.extract import dispatch
from agent.web.parser_pool import ParserLimits, ParserPool
from tests.agent.web.extract.sample_documents import RTF, make_docx, make_pdf, make_xlsx
from tests.agent.web.hostile_pdfs import pdf_of_lines

pytestmark = pytest.mark.slow


def find_children() -> set[int]:
    """The processes that this one has started and that still live."""
    listed = Path("/proc/self/task").glob("*/children")
    return {int(pid) for path in listed for pid in path.read_text("utf-8").split()}


@pytest.fixture
def pool() -> Iterator[ParserPool]:
    made = ParserPool(ParserLimits(seconds=1, megabytes=300))
    yield made
    made.close()


def test_documents_are_read_and_the_process_is_kept_for_the_next(pool: ParserPool) -> None:
    others = find_children()
    assert "400 litres" in pool.read("pdf", make_pdf("The vat holds 400 litres.")).text
    [first] = find_children() - others
    assert pool.read("docx", make_docx()).title == "Vat & cellar"
    assert pool.read("xlsx", make_xlsx({"A": [["high", 3]]})).tables[0].rows == [["high", "3"]]
    assert pool.read("rtf", RTF).outcome is Outcome.OK
    assert find_children() - others == {first}


def test_a_large_page_is_read_as_here(pool: ParserPool) -> None:
    raw = b"<title>Vats</title><main>" + b"<h2>Vat</h2><p>It holds <a href='/v'>400 litres</a>.</p>" * 3000
    about = {"content_type": "text/html", "url": "https://dairy.example/vats"}
    assert pool.read("html", raw, **about) == dispatch.read_page("html", raw, *about.values())


def test_time_that_is_used_up_is_told(pool: ParserPool) -> None:
    pool.limits = ParserLimits(seconds=1, megabytes=2_000)
    reading = pool.read("pdf", pdf_of_lines(1_500_000))
    assert reading.outcome is Outcome.TOO_LARGE and "more than 1 seconds" in reading.detail


def test_a_stop_ends_the_process(pool: ParserPool) -> None:
    others = find_children()
    pool.limits = ParserLimits(seconds=30, megabytes=2_000)
    pool.read("rtf", RTF)
    hostile, looks = pdf_of_lines(1_500_000), iter(range(4))

    def stop_soon() -> None:
        if next(looks) == 3:
            raise StopRequested

    with pytest.raises(StopRequested):
        pool.read("pdf", hostile, stop_soon)
    assert find_children() <= others


def test_a_stop_ends_the_wait_for_a_free_process() -> None:
    crowded = ParserPool(size=1)
    calls = iter([None, None, StopRequested()])

    def stop_third() -> None:
        if isinstance(next(calls), StopRequested):
            raise StopRequested

    with crowded.hold_place(lambda: None), pytest.raises(StopRequested):
        crowded.read("rtf", RTF, stop_third)


def test_a_process_that_was_killed_from_outside_is_told_and_replaced(pool: ParserPool) -> None:
    others = find_children()
    pool.limits = ParserLimits(seconds=30, megabytes=2_000)
    pool.read("rtf", RTF)
    [process] = find_children() - others
    hostile = pdf_of_lines(1_500_000)
    killer = threading.Timer(0.3, os.kill, (process, signal.SIGKILL))
    killer.start()
    reading = pool.read("pdf", hostile)
    assert reading.outcome is Outcome.UNSUPPORTED and "could not be read" in reading.detail
    assert pool.read("rtf", RTF).outcome is Outcome.OK


def test_a_process_that_cannot_start_is_an_outcome(pool: ParserPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_more: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", refuse)
        reading = pool.read("rtf", RTF)
    assert reading.outcome is Outcome.ERROR and "Resource temporarily unavailable" in reading.detail
    assert pool.read("rtf", RTF).outcome is Outcome.OK


def test_a_process_that_died_while_idle_is_replaced(pool: ParserPool) -> None:
    others = find_children()
    pool.read("rtf", RTF)
    [process] = find_children() - others
    os.kill(process, signal.SIGKILL)
    assert has_ended(process, within=10)
    assert pool.read("rtf", RTF).outcome is Outcome.OK


def test_no_process_outlives_the_program() -> None:
    code = (
        "from agent.web.parser_pool import shared_pool\n"
        "from tests.agent.web.extract.sample_documents import RTF\n"
        "from tests.agent.web.test_parser_pool import find_children\n"
        "shared_pool.read('rtf', RTF)\n"
        "print(*find_children())\n"
    )
    for ending in ("", "import os; os._exit(1)"):
        done = subprocess.run(
            [sys.executable, "-u", "-c", code + ending], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert has_ended(int(done.stdout), within=10)


def has_ended(pid: int, within: float) -> bool:
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], within)[0])
    finally:
        os.close(watched)


def test_what_another_process_replies_is_cut_too() -> None:
    pool = ParserPool(ParserLimits(seconds=30))
    page = {"content_type": "text/html", "url": "https://a.test/"}
    found = pool.read("html", b"<h2>a</h2><p>b</p>" * 26_000, **page)
    assert len(found.headings) == 25_000 and "Only its first 150,000 characters" in found.detail
    pool.close()
