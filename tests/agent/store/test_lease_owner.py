"""Whose lease it is, and whether its holder is surely dead: a process that ended, a zombie, an id that was
given away again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.store import ledger
from agent.store.ledger import is_owner_gone, new_owner_id

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")


def named(pid: int) -> str:
    return f"{new_owner_id().split('|')[0]}|{pid}|{ledger._process_start_time(pid)}|x"


@pytest.fixture
def process():
    started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield started
    started.kill()
    started.wait()
    started.stdin.close()


def test_this_process_is_there_and_each_name_is_another():
    assert not is_owner_gone(new_owner_id()) and new_owner_id() != new_owner_id()


def test_a_process_is_gone_when_it_ended_even_before_anybody_took_note(process):
    name = named(process.pid)
    assert not is_owner_gone(name)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, and still a zombie
    assert is_owner_gone(name)
    process.wait()
    assert is_owner_gone(name)


def test_another_process_with_the_same_id_is_not_the_holder():
    host, pid, started, tail = new_owner_id().split("|")
    assert is_owner_gone(f"{host}|{pid}|{int(started) - 1}|{tail}")
    assert not is_owner_gone(f"{host}|{pid}||{tail}"), "without a start nothing can be said"


@pytest.mark.parametrize("name", ["", "me", "elsewhere|1|2|x", "|||", "elsewhere|no number|2|x"])
def test_of_another_machine_or_an_odd_name_nothing_is_known(name):
    assert not is_owner_gone(name)
