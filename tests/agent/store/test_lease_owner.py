"""Whose lease it is, and whether its holder is surely dead: a process that ended, a zombie, an id that was
given away again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.store.ledger import is_owner_gone, new_owner_id
from agent.types import Settings, Step

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")


def test_a_dead_process_loses_its_lease_at_once_even_as_a_zombie(store):
    run_id = store.ledger.create(
        "who?", Settings(), Step(n=0, name="ask", change={}, next="decide", by="person")
    )
    reads, writes = os.pipe()
    if not (pid := os.fork()):
        os.write(writes, new_owner_id().encode())
        os._exit(0)
    gone = os.read(reads, 999).decode()
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # dead, and still a zombie
    assert is_owner_gone(gone) and not is_owner_gone(new_owner_id())
    os.waitpid(pid, 0)
    assert is_owner_gone(gone) and store.ledger.claim(run_id, gone)
    assert store.ledger.list_claimable() == [run_id] and store.ledger.claim(run_id, "successor")


def test_another_process_with_the_same_id_is_not_the_holder():
    host, pid, started, tail = new_owner_id().split("|")
    assert is_owner_gone(f"{host}|{pid}|{int(started) - 1}|{tail}")
    assert not is_owner_gone(f"{host}|{pid}||{tail}"), "without a start nothing can be said"


@pytest.mark.parametrize("name", ["", "me", "elsewhere|1|2|x", "|||", "elsewhere|no number|2|x"])
def test_of_another_machine_or_an_odd_name_nothing_is_known(name):
    assert not is_owner_gone(name)
