"""What a provider may state of a sign-in: which addresses are proven, which times hold, and whom that makes
a sign-in. The tables are those of the scorecard, too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.accounts.accounts import Accounts
from agent.accounts.sign_in import CLAIMS, MAX_ADDRESS_CHARS, SignInRules, normalize_address, pick_claims
from agent.errors import SignInRefused, UsageError
from agent.settings.config import read_config
from tests.agent.accounts.conftest import BEGAN, make_claims

ISSUER = "https://login.example"
NO_CLAIM: Any = object()
"""The claim is left out."""
PROOFS: list[tuple[Any, bool]] = [
    (True, True),
    ("true", True),
    *(
        (value, False)
        for value in (NO_CLAIM, None, False, 0, 1, "", "no", "yes", "True ", "false", [True], {})
    ),
]
"""Values of email_verified, and whether each proves an address."""
LONG = "a" * (330 - len("@example.org.evil.test")) + "@example.org.evil.test"
ADDRESSES: list[tuple[Any, str]] = [
    ("sara@example.org", "sara@example.org"),
    ("SARA@Example.ORG", "sara@example.org"),
    ("sara@bücher.example", "sara@xn--bcher-kva.example"),
    ("sara@xn--bcher-kva.example", "sara@xn--bcher-kva.example"),
    ("eve@straße.example", "eve@xn--strae-oqa.example"),
    ("\u017fara@example.org", "\u017fara@example.org"),  # a long s, which case folding makes an s
    ("\u212aarl@example.org", "\u212aarl@example.org"),  # the sign of Kelvin
    ("sara@ex\uff41mple.org", ""),
    ("sara@example\u3002org", ""),
    (LONG, ""),
    ("a" * MAX_ADDRESS_CHARS + "@example.org", ""),
    ("example.org", ""),
    ("@example.org", ""),
    ("sara@", ""),
    ("sara@evil.test@example.org", ""),
    ('"sara@example.org"@evil.test', ""),
    ("sara@example.org\n", ""),
    ("sa ra@example.org", ""),
    ("sara@exam\u200bple.org", ""),
    ("sa\x00ra@example.org", ""),
    ("", ""),
    (None, ""),
    (7, ""),
    (["sara@example.org"], ""),
    ({"sara@example.org": 1}, ""),
]
"""Claims of an address, and the address that each is; "" for none."""
ALLOWED = "@example.org, @strasse.example, karl@example.org"
TIMES: list[Any] = ["100", "now", 10**30, -1, float("nan"), float("inf"), True, [BEGAN], {}]
"""Values of iat, exp and auth_time that are no time."""


@pytest.fixture
def rules() -> SignInRules:
    """Those of a server that admits everybody."""
    return SignInRules(read_config())


def state(address: Any, proof: Any = True, **more: Any) -> dict[str, Any]:
    """The claims of somebody with this address and this value of email_verified."""
    claims = make_claims("someone") | {"email": address, "email_verified": proof} | more
    return {name: value for name, value in claims.items() if value is not NO_CLAIM}


@pytest.mark.parametrize(("given", "address"), ADDRESSES)
def test_an_address_has_one_form_and_nothing_but_ascii_is_folded(given: Any, address: str) -> None:
    assert normalize_address(given) == address


@pytest.mark.parametrize(("proof", "is_proven"), PROOFS)
def test_only_a_proven_address_lets_in_and_makes_admin(proof: Any, is_proven: bool) -> None:
    rules = SignInRules(read_config({"ADMIN_EMAILS": "sara@example.org", "ALLOWED_EMAILS": ALLOWED}))
    for given, address in ADDRESSES:
        is_admitted = is_proven and address.endswith("@example.org")
        try:
            email = rules.read(state(given, proof)).email
        except SignInRefused as refused:
            assert not is_admitted and "certain addresses" in str(refused)
        else:
            assert is_admitted and email == address
            assert (email in rules.admins) == (address == "sara@example.org")


def test_who_is_refused_is_not_added_and_who_only_looks_like_an_admin_is_none(monkeypatch) -> None:
    monkeypatch.setenv("ADMIN_EMAILS", "sara@example.org")
    monkeypatch.setenv("ALLOWED_EMAILS", ALLOWED)
    opened = Accounts(read_config())
    for refused in (state("sara@example.org", NO_CLAIM), state("eve@straße.example"), state(LONG)):
        with pytest.raises(SignInRefused, match="certain addresses"):
            opened.people.recognize(refused)
    assert opened.people.list() == []
    assert not opened.people.recognize(state("ſara@example.org", sub="eve")).is_admin
    assert opened.people.recognize(state("SARA@example.org", sub="sara")).is_admin
    opened.close()


@pytest.mark.parametrize("value", TIMES)
@pytest.mark.parametrize("name", ["iat", "exp", "auth_time"])
def test_what_is_no_time_is_refused_with_a_sentence(name: str, value: Any, rules: SignInRules) -> None:
    with pytest.raises(SignInRefused, match=f"no time that can be used \\({name}\\)"):
        rules.read(state("sara@example.org", **{name: value}))


@pytest.mark.parametrize("issued", [NO_CLAIM, 0, 2**39])
def test_a_sign_in_says_when_it_was_made_and_that_is_not_to_come(issued: Any, rules: SignInRules) -> None:
    with pytest.raises(SignInRefused, match="no time that can be used"):
        rules.read(state("sara@example.org", iat=issued))


@pytest.mark.parametrize("names", [{"iss": ""}, {"sub": ""}, {"iss": None}, {"sub": 7}, {"sub": ["a"]}])
def test_a_person_is_an_issuer_and_a_subject(names: dict[str, Any], rules: SignInRules) -> None:
    with pytest.raises(SignInRefused, match="sign in first"):
        rules.read(state("sara@example.org", **names))


@pytest.mark.parametrize(
    ("proof", "is_let_in"), [(NO_CLAIM, True), (False, False), (None, False), ("no", False)]
)
def test_a_trusted_provider_need_not_say_it_but_may_deny_it(proof: Any, is_let_in: bool, monkeypatch) -> None:
    monkeypatch.setenv("ALLOWED_EMAILS", "@example.org")
    monkeypatch.setenv("SIGN_IN_TRUSTED_ISSUERS", ISSUER)
    opened = Accounts(read_config())
    if is_let_in:
        assert opened.people.recognize(state("sara@example.org", proof)).email == "sara@example.org"
    else:
        with pytest.raises(SignInRefused, match="does not say that yours"):
            opened.people.recognize(state("sara@example.org", proof))
    with pytest.raises(SignInRefused):
        opened.people.recognize(state("eve@example.org", NO_CLAIM, iss=f"{ISSUER}.evil.test"))
    opened.close()


@pytest.mark.parametrize("entry", ["example.org", "@", "ann@@example.org", "@exa mple.org"])
def test_an_entry_that_is_no_address_stops_the_start(entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_EMAILS", f"bo@example.org, {entry}")
    with pytest.raises(UsageError, match="ALLOWED_EMAILS has"):
        Accounts(read_config())


@pytest.mark.parametrize(("age_days", "is_held"), [(0.1, True), (6.9, True), (7.1, False), (29, False)])
def test_a_sign_in_ends_after_the_days_of_the_setting(
    age_days: float, is_held: bool, rules: SignInRules
) -> None:
    claims = state("sara@example.org", iat=BEGAN + 10_000 - int(age_days * 86_400), exp=BEGAN)
    if is_held:
        assert rules.read(claims)
    else:
        with pytest.raises(SignInRefused, match="has ended"):
            rules.read(claims)


def test_without_days_a_sign_in_ends_when_its_provider_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGN_IN_DAYS", "0")
    opened = Accounts(read_config())
    assert opened.people.recognize(state("sara@example.org", exp=BEGAN + 100_000))
    for ended in (BEGAN, NO_CLAIM):
        with pytest.raises(SignInRefused, match="has ended"):
            opened.people.recognize(state("sara@example.org", exp=ended))
    opened.close()


@pytest.mark.parametrize(
    "value", ["x" * 10**6, "\U0001d504" * 9_000, ["g"] * 9_000, {"a": "b" * 9_000}, 10**2_000]
)
def test_what_is_kept_of_a_sign_in_fits_one_cookie_and_changes_nobody(value: Any) -> None:
    claims: dict[str, Any] = {**make_claims("ann"), "groups": ["g"] * 9_000}
    assert pick_claims(claims) == {name: claims[name] for name in claims if name in CLAIMS}
    kept = pick_claims({**dict.fromkeys(CLAIMS, value), "more": 1})
    assert len(json.dumps(kept)) < 2_600 and kept.keys() == CLAIMS
    assert not any(kept.values())
    rules = SignInRules(read_config({"SIGN_IN_TRUSTED_ISSUERS": ISSUER}))
    assert rules.read(pick_claims(claims | {"email_verified": value})).email == ""
