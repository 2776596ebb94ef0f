"""Encryption with a key of the environment or the keyring, and with neither."""

from __future__ import annotations

from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring

from agent.errors import UsageError
from agent.settings import saved
from agent.settings.saved import PREFIX, SecretBox, WrongKey, make_key


class MemoryKeyring(KeyringBackend):
    """A keyring in memory; `forgets`: one that keeps nothing."""

    priority = 1  # type: ignore[assignment]

    def __init__(self, forgets: bool = False) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.forgets = forgets

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if not self.forgets:
            self.kept[service, username] = password


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    monkeypatch.setattr(saved, "_keyring_key", [])
    made = MemoryKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(NoKeyring())


def test_a_text_comes_back_and_its_encryption_does_not_show_it() -> None:
    box = SecretBox(make_key())
    sealed = box.encrypt("näckros-canary")
    assert sealed.startswith(PREFIX) and "canary" not in sealed
    assert box.decrypt(sealed) == "näckros-canary" and box.encrypt("näckros-canary") != sealed


def test_the_first_key_encrypts_and_all_decrypt() -> None:
    old, new = make_key(), make_key()
    sealed = SecretBox(old).encrypt("text")
    both = SecretBox(f"{new}, {old}")
    assert both.decrypt(sealed) == "text" and not both.is_current(sealed)
    assert both.is_current(both.encrypt("text")) and SecretBox(new).decrypt(both.encrypt("text")) == "text"


@pytest.mark.parametrize("keys", [make_key(), ""], ids=["another", "none"])
def test_another_key_or_none_is_told(keys: str) -> None:
    sealed = SecretBox(make_key()).encrypt("text")
    with pytest.raises(WrongKey, match="another key"):
        SecretBox(keys).decrypt(sealed)


def test_a_changed_text_is_refused() -> None:
    box = SecretBox(make_key())
    sealed = box.encrypt("text")
    middle = len(sealed) // 2
    changed = sealed[:middle] + ("A" if sealed[middle] != "A" else "B") + sealed[middle + 1 :]
    with pytest.raises(WrongKey):
        box.decrypt(changed)


def test_a_text_that_is_no_key_is_refused_without_being_shown() -> None:
    with pytest.raises(UsageError, match="secrets --new-key") as refused:
        SecretBox("canary-password").encrypt("text")
    assert "canary" not in str(refused.value) + repr(SecretBox("canary-password"))


def test_the_keyring_keeps_a_key_of_its_own_when_the_environment_has_none(ring: MemoryKeyring) -> None:
    assert SecretBox().source == "the system's keyring"
    sealed = SecretBox().encrypt("text")
    assert len(ring.kept) == 1 and SecretBox().decrypt(sealed) == "text" and SecretBox().is_current(sealed)
    moved = SecretBox(make_key())
    assert moved.decrypt(sealed) == "text" and not moved.is_current(sealed), (
        "moving to a key of the environment"
    )


def test_without_a_keyring_nothing_can_be_kept() -> None:
    assert SecretBox().source == ""
    with pytest.raises(UsageError, match="TOUCHSTONE_SECRET_KEY"):
        SecretBox().encrypt("text")


def test_a_keyring_that_forgets_is_told(ring: MemoryKeyring) -> None:
    ring.forgets = True
    with pytest.raises(UsageError, match="no keyring that keeps one"):
        SecretBox().encrypt("text")
