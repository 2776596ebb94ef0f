"""The accounts of a server with a login, and sign-ins as a provider states them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.accounts.accounts import Accounts
from agent.accounts.people import Person
from agent.accounts.quotas import DayUse, Quotas
from agent.settings.config import read_config

BEGAN = int(time.time()) - 10_000
SignIn = Callable[..., Person]


@pytest.fixture
def accounts(on_both_databases: str) -> Iterator[Accounts]:
    opened = Accounts(read_config())
    yield opened
    opened.close()


@pytest.fixture
def sign_in(accounts: Accounts) -> SignIn:
    """A person signs in: `sign_in("ann", at=100)`."""

    def signed_in(name: str, at: int = 100, **more: Any) -> Person:
        return accounts.people.recognize(make_claims(name, at) | more)

    return signed_in


def find_caller(accounts: Accounts, text: str, scope: str) -> Person | None:
    """The person for whom a program acts with this token; None when it does not hold for the scope."""
    token, person = accounts.find_program(text, scope)
    return person if token else None


def make_claims(name: str, at: int = 100) -> dict[str, Any]:
    """The claims of an ID token, issued `at` seconds after BEGAN."""
    return {
        "iss": "https://login.example",
        "sub": name,
        "iat": BEGAN + at,
        "email": f"{name}@example.org",
        "email_verified": True,
        "name": name.title(),
    }


def record_use(quotas: Quotas, person_id: str, use: DayUse) -> None:
    """Count use of today, as work of this person does."""
    for _ in range(use.pages):
        quotas.take_page(person_id)
    with quotas.reserve(person_id, 1e9, 0, 0.0) as settle:
        settle(use.tokens, use.dollars)
