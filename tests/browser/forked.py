"""Servers that are forked from a process that has imported the program, so that many of them cost little. How a
server starts by itself is what other tests see to (`tests/pages/widgets/shell/test_start_checks.py`)."""

from __future__ import annotations

import signal

from bench.local_cluster import Member, preload
from tests.browser.served import Served


class ForkedServed(Served):
    """A server of the browser tests."""

    _member: Member

    def _launch(self, arguments: list[str], settings: dict[str, str]) -> None:
        preload(for_web=True)
        self._member = Member("server", arguments, settings, self.data / "server.log")
        self._member.start()

    def _has_ended(self) -> bool:
        return not self._member.pid

    def _end(self, how: signal.Signals) -> None:
        if how is signal.SIGKILL:
            self._member.kill()
        elif self._member.pid:
            assert self._member.stop(), "the server did not end within 30 seconds of being asked to"
