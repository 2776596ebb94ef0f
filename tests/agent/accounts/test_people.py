"""Who a sign-in is, whether it holds, and what an admin changes."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.accounts.accounts import Accounts
from agent.errors import SignInRefused, UsageError
from agent.settings.config import read_config
from tests.agent.accounts.conftest import BEGAN, SignIn, find_caller, make_claims


def soon() -> int:
    """Seconds after BEGAN: a minute ahead of this machine, as the provider's clock may be."""
    return int(time.time()) - BEGAN + 60


def test_the_first_person_is_admin_and_owns_the_data_folder(sign_in: SignIn) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    assert ann.is_admin and ann.folder == ""
    assert not bo.is_admin and bo.folder == f"people/{bo.id}"
    assert sign_in("ann").id == ann.id, "the same person again"


def test_named_admins_are_admins_and_the_first_of_them_owns_the_data_folder(
    sign_in, accounts, monkeypatch
) -> None:
    monkeypatch.setenv("ADMIN_EMAILS", "bo@example.org,cy@example.org")
    opened = Accounts(read_config())
    ann, bo, cy = (opened.people.recognize(make_claims(name)) for name in ("ann", "bo", "cy"))
    assert [p.role for p in (ann, bo, cy)] == ["member", "admin", "admin"]
    assert [bool(p.folder) for p in (ann, bo, cy)] == [True, False, True]
    opened.close()


def test_signing_out_everywhere_ends_every_sign_in_there_was_and_no_later_one(sign_in, accounts) -> None:
    ann = sign_in("ann", at=100)
    sign_in("ann", at=200)
    accounts.people.sign_out_everywhere(ann, ann.id)
    for issued in (100, 150, 200):
        with pytest.raises(SignInRefused, match="sign in again"):
            sign_in("ann", at=issued)
    assert sign_in("ann", at=201).id == ann.id
    assert sign_in("bo", at=100), "nobody else was signed out"


def test_a_block_ends_the_sign_ins_before_it_for_good_those_unseen_too(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo", at=200)
    for blocked in (True, False):
        accounts.people.set_blocked(ann, bo.id, blocked=blocked)
    for issued in (100, 200, 300):
        with pytest.raises(SignInRefused, match="sign in again"):
            sign_in("bo", at=issued)
    assert sign_in("bo", at=soon()).id == bo.id


def test_signing_out_ends_that_sign_in_and_no_other(sign_in, accounts) -> None:
    for issued in (100, 200, 300):
        ann = sign_in("ann", at=issued)
    with ThreadPoolExecutor(2) as threads:  # two browsers at once
        list(threads.map(lambda at: accounts.people.sign_out(make_claims("ann", at)), (100, 300)))
    for issued in (100, 300):
        with pytest.raises(SignInRefused, match="sign in again"):
            sign_in("ann", at=issued)
        with pytest.raises(SignInRefused):
            accounts.people.sign_out(make_claims("ann", issued))
    assert sign_in("ann", at=200).id == ann.id == sign_in("ann", at=301).id
    assert [entry.action for entry in accounts.audit.list()].count("sign out") == 2


def test_the_first_admin_whose_settings_are_the_servers_stays_one(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    accounts.people.set_role(ann, bo.id, "admin")
    for actor in (ann, bo):
        with pytest.raises(UsageError, match="stays an admin"):
            accounts.people.set_role(actor, ann.id, "member")
        with pytest.raises(UsageError, match="cannot be blocked" if actor is bo else "block yourself"):
            accounts.people.set_blocked(actor, ann.id, blocked=True)
    accounts.people.set_role(bo, bo.id, "member")
    assert accounts.people.get(ann.id).is_admin and not accounts.people.get(bo.id).is_admin


def test_what_is_done_stands_in_the_audit_log(sign_in, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo", at=100)
    sign_in("bo", at=100)
    accounts.people.set_role(ann, bo.id, "admin")
    accounts.people.set_blocked(ann, bo.id, blocked=True)
    newest = [(entry.actor, entry.action) for entry in accounts.audit.list()]
    assert newest == [(ann.id, "block"), (ann.id, "change role"), (bo.id, "sign in"), (ann.id, "sign in")]
    assert [entry.action for entry in accounts.audit.list(actor=bo.id)] == ["sign in"]


def test_one_person_is_added_once_by_many_tabs_at_the_same_time(accounts) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: accounts.people.recognize(make_claims("ann", n)).id, range(1, 25)))
    assert len(set(found)) == 1 and len(accounts.people.list()) == 1


def test_an_address_never_leads_to_the_account_of_another_subject(sign_in: SignIn, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    for more in ({"email": "ann@example.org"}, {"email": "ANN@EXAMPLE.org"}):
        with pytest.raises(SignInRefused, match="belongs to another account"):
            sign_in("eve", **more)
        with pytest.raises(SignInRefused, match="belongs to another account"):
            sign_in("bo", at=200, **more)
    with pytest.raises(SignInRefused, match="belongs to another account"):
        sign_in("ann", iss="https://other.example")
    assert [person.id for person in accounts.people.list()] == [ann.id, bo.id], "nobody was added"
    assert accounts.people.get(bo.id).email == "bo@example.org" and sign_in("ann", at=300).id == ann.id


def test_the_address_of_somebody_blocked_is_blocked_under_every_subject_until_it_is_released(
    monkeypatch,
) -> None:
    monkeypatch.setenv("ADMIN_EMAILS", "ann@example.org,mia@example.org")
    opened = Accounts(read_config())
    people = opened.people
    ann, mia = (people.recognize(make_claims(name)) for name in ("ann", "mia"))
    bo = people.recognize(make_claims("bo"))
    people.set_blocked(ann, mia.id, blocked=True)
    for who in ("mia2", "bo"):
        for more in ({}, {"iss": "https://other.example"}, {"email": "MIA@Example.org"}):
            for proof in (True, "true", False, None):
                claims = make_claims(who, 200) | {"email": "mia@example.org", "email_verified": proof} | more
                with pytest.raises(SignInRefused, match="blocked your address"):
                    people.recognize(claims)
    assert len(people.list()) == 3, "nobody was added"
    with pytest.raises(UsageError, match="block them first"):
        people.release_address(ann, bo.id)
    people.release_address(ann, mia.id)
    assert people.get(mia.id).is_blocked and opened.audit.list(1)[0].target == f"{mia.id}: mia@example.org"
    heir = people.recognize(make_claims("mia2") | {"email": "mia@example.org"})
    assert heir.folder not in (mia.folder, "") and heir.email == "mia@example.org"
    with pytest.raises(SignInRefused, match="blocked your account"):
        people.recognize(make_claims("mia", 300))
    opened.close()


@pytest.mark.parametrize("admins", ["", "p3@example.org,p5@example.org"])
def test_many_first_sign_ins_at_once_make_one_owner_of_the_data_folder(admins: str, monkeypatch) -> None:
    monkeypatch.setenv("ADMIN_EMAILS", admins)
    opened = Accounts(read_config())
    with ThreadPoolExecutor(12) as threads:
        list(threads.map(lambda n: opened.people.recognize(make_claims(f"p{n}")), range(12)))
    people = opened.people.list()
    assert len(people) == 12 and sum(not person.folder for person in people) == 1
    assert sum(person.is_admin for person in people) == (2 if admins else 1)
    opened.close()


@pytest.mark.parametrize("act", ["sign_out_everywhere", "block"])
def test_tokens_end_with_the_sign_ins(act: str, sign_in: SignIn, accounts) -> None:
    ann, bo = sign_in("ann"), sign_in("bo")
    _, text = accounts.tokens.create(bo, "bot", ["reply"])
    _, kept = accounts.tokens.create(ann, "bot", ["reply"])
    if act == "block":
        accounts.people.set_blocked(ann, bo.id, blocked=True)
        accounts.people.set_blocked(ann, bo.id, blocked=False)
    else:
        accounts.people.sign_out_everywhere(bo, bo.id)
    sign_in("bo", at=soon())
    assert find_caller(accounts, text, "reply") is None and find_caller(accounts, kept, "reply") == ann
    assert all(token.revoked_at for token in accounts.tokens.list(bo))
