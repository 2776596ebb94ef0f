"""Links to a run: what opens, and what is over once a link is taken back."""

from __future__ import annotations

import pytest

from agent.errors import NotFound


def test_a_link_opens_its_run_until_it_is_taken_back(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    share, key = accounts.shares.create(ann, "r1")
    assert accounts.shares.find(key).run_id == "r1"
    with pytest.raises(NotFound):
        accounts.shares.take_back(bo, share.id)
    accounts.shares.take_back(ann, share.id)
    with pytest.raises(NotFound) as taken_back:
        accounts.shares.find(key)
    with pytest.raises(NotFound) as unknown:
        accounts.shares.find("shr_nothing")
    assert str(taken_back.value) == str(unknown.value)


def test_only_links_that_hold_are_listed_and_only_to_their_owner(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    share, _ = accounts.shares.create(ann, "r1")
    kept, _ = accounts.shares.create(ann, "r1")
    accounts.shares.take_back(ann, share.id)
    assert accounts.shares.list_for_run(ann, "r1") == [kept] and accounts.shares.list_for_run(bo, "r1") == []
