"""API tokens: shown once, stored as a hash, scoped, revocable."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from agent.accounts import tables
from agent.accounts.accounts import Accounts
from agent.accounts.tokens import MAX_TOKENS
from agent.errors import NotFound, UsageError
from agent.settings.config import read_config
from tests.agent.accounts.conftest import find_caller
from tests.tables import by_table


def test_a_token_holds_for_its_scopes_and_its_text_is_stored_nowhere(sign_in, accounts) -> None:
    ann = sign_in("ann")
    token, text = accounts.tokens.create(ann, "help bot", ["reply"])
    assert len(text) >= 43 and find_caller(accounts, text, "reply").id == ann.id
    assert find_caller(accounts, text, "messages") is None
    assert find_caller(accounts, f"{text}x", "reply") is None
    assert accounts.tokens.list(ann)[0].used_at and token.used_at == ""
    with accounts.engine.connect() as connection:
        stored = repr([connection.execute(select(table)).all() for table in tables.metadata.sorted_tables])
    assert text not in stored and "help bot" in stored


def test_a_revoked_token_and_one_of_a_blocked_person_hold_no_longer(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    first, text = accounts.tokens.create(bo, "one", ["reply"])
    _, other = accounts.tokens.create(bo, "two", ["reply", "messages"])
    with pytest.raises(NotFound):
        accounts.tokens.revoke(ann, first.id)
    accounts.tokens.revoke(bo, first.id)
    assert find_caller(accounts, text, "reply") is None and find_caller(accounts, other, "messages")
    with pytest.raises(NotFound):
        accounts.tokens.revoke(bo, first.id)
    accounts.people.set_blocked(ann, bo.id, blocked=True)
    assert find_caller(accounts, other, "messages") is None


@by_table
def test_a_token_needs_a_name_and_a_scope(name, scopes, told, sign_in, accounts) -> None:
    with pytest.raises(UsageError, match=told):
        accounts.tokens.create(sign_in("ann"), name, scopes)


def test_tokens_are_limited_and_listed_to_their_owner_alone(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    for n in range(MAX_TOKENS):
        accounts.tokens.create(ann, f"bot {n}", ["reply"])
    with pytest.raises(UsageError, match="revoke one"):
        accounts.tokens.create(ann, "one more", ["reply"])
    assert len(accounts.tokens.list(ann)) == MAX_TOKENS and accounts.tokens.list(bo) == []


def test_a_token_of_who_may_not_sign_in_any_more_holds_no_longer(sign_in, accounts, monkeypatch) -> None:
    _, text = accounts.tokens.create(sign_in("ann"), "bot", ["reply"])
    monkeypatch.setenv("ALLOWED_EMAILS", "@partner.example")
    later = Accounts(read_config())
    assert find_caller(later, text, "reply") is None
    later.close()


def test_tokens_made_at_once_do_not_pass_the_limit(sign_in, accounts: Accounts) -> None:
    ann = sign_in("ann")

    def make(n: int) -> bool:
        try:
            accounts.tokens.create(ann, f"bot {n}", ["reply"])
        except UsageError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(make, range(MAX_TOKENS + 20))) == MAX_TOKENS
