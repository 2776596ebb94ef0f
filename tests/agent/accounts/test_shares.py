"""Links to a run: what opens, what a guest may say, and what is over once a link is taken back."""

from __future__ import annotations

import pytest

from agent.accounts.shares import MAX_COMMENTS
from agent.errors import NotFound, UsageError


def test_a_link_opens_its_run_until_it_is_taken_back(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    share, key = accounts.shares.create(ann, "r1", may_comment=False)
    assert accounts.shares.find(key).run_id == "r1"
    with pytest.raises(NotFound):
        accounts.shares.take_back(bo, share.id)
    accounts.shares.take_back(ann, share.id)
    with pytest.raises(NotFound) as taken_back:
        accounts.shares.find(key)
    with pytest.raises(NotFound) as unknown:
        accounts.shares.find("shr_nothing")
    assert str(taken_back.value) == str(unknown.value)


def test_a_comment_reaches_the_owner_with_the_name_and_nobody_else(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    _, key = accounts.shares.create(ann, "r1", may_comment=True)
    accounts.shares.comment(key, bo, "  Is the second source right?  ")
    (comment,) = accounts.shares.list_comments(ann, "r1")
    assert (comment.author, comment.text) == ("Bo", "Is the second source right?")
    assert accounts.shares.list_comments(bo, "r1") == []


def test_comments_are_refused_where_none_are_wanted(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    _, to_read = accounts.shares.create(ann, "r1", may_comment=False)
    share, key = accounts.shares.create(ann, "r1", may_comment=True)
    with pytest.raises(UsageError, match="reading only"):
        accounts.shares.comment(to_read, bo, "x")
    for text in ("", " ", "x" * 2001):
        with pytest.raises(UsageError, match="at most"):
            accounts.shares.comment(key, bo, text)
    for n in range(MAX_COMMENTS):
        accounts.shares.comment(key, bo, f"{n}")
    with pytest.raises(UsageError, match="write to its owner"):
        accounts.shares.comment(key, bo, "one more")
    accounts.shares.take_back(ann, share.id)
    with pytest.raises(NotFound):
        accounts.shares.comment(key, bo, "late")
    assert len(accounts.shares.list_comments(ann, "r1")) == MAX_COMMENTS


def test_only_links_that_hold_are_listed_and_only_to_their_owner(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    share, _ = accounts.shares.create(ann, "r1", may_comment=True)
    kept, _ = accounts.shares.create(ann, "r1", may_comment=False)
    accounts.shares.take_back(ann, share.id)
    assert accounts.shares.list_for_run(ann, "r1") == [kept] and accounts.shares.list_for_run(bo, "r1") == []
