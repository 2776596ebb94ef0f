"""Encrypts what the program keeps in files: the keys and tokens that are saved in Settings.

The key is that of TOUCHSTONE_SECRET_KEY (several, separated by commas: the first encrypts, all decrypt,
which is how a key is changed), else one of this program's own in the keyring of the system. Fernet of
`cryptography`: AES-128-CBC with HMAC-SHA256, so a changed text is refused."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

from agent.errors import UsageError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

PREFIX = "encrypted:"
"""Marks an encrypted text in a file."""
SETTING = "TOUCHSTONE_SECRET_KEY"
KEYRING_SERVICE, KEYRING_ENTRY = "touchstone", "secret-key"
HOW_TO_KEEP = (
    f"set {SETTING} in the environment (`./touchstone secrets --new-key` prints one), or use a system "
    "with a keyring, and start again"
)
_keyring_key: list[str] = []
_lock = threading.Lock()


class WrongKey(UsageError):
    """A text was encrypted with a key that is not given here, or was changed."""


def make_key() -> str:
    """A new random key, for TOUCHSTONE_SECRET_KEY."""
    from cryptography.fernet import Fernet  # 20 ms that most starts save

    return Fernet.generate_key().decode()


class SecretBox:
    """Encrypts and decrypts with these keys (comma-separated; "": the keyring's). Raises UsageError for a
    text that is no key. Never shows a key."""

    def __init__(self, keys: str = "") -> None:
        self._keys = [key.strip() for key in keys.split(",") if key.strip()]

    def __repr__(self) -> str:
        return "SecretBox()"

    @property
    def source(self) -> str:
        """Where the key comes from, in words; "" without a key and without a keyring that could keep one."""
        if self._fernets:
            return SETTING
        return "the system's keyring" if _read_keyring() is not None else ""

    def encrypt(self, text: str) -> str:
        """The text, encrypted and marked. Raises UsageError when there is no key and no keyring."""
        own = self._fernets or _build_fernets([_read_keyring() or _make_keyring_key()])
        return PREFIX + own[0].encrypt(text.encode()).decode()

    def decrypt(self, sealed: str) -> str:
        """The text again; one without the mark as it is. Raises WrongKey."""
        if not sealed.startswith(PREFIX):
            return sealed
        text = _decrypt(sealed, self._fernets)
        return (
            text
            if text is not None
            else _decrypt(sealed, _build_fernets([_read_keyring() or ""])) or _refuse()
        )

    def is_current(self, sealed: str) -> bool:
        """Was it encrypted with the key that encrypts now?"""
        first = self._fernets[:1] or _build_fernets([_read_keyring() or ""])
        return sealed.startswith(PREFIX) and _decrypt(sealed, first) is not None

    @cached_property
    def _fernets(self) -> list[Fernet]:
        return _build_fernets(self._keys)


def _build_fernets(keys: list[str]) -> list[Fernet]:
    from cryptography.fernet import Fernet

    try:
        return [Fernet(key) for key in keys if key]
    except ValueError:
        raise UsageError(f"{SETTING} holds no key: `./touchstone secrets --new-key` prints one") from None


def _decrypt(sealed: str, keys: list[Fernet]) -> str | None:
    """The text; None when none of the keys fits."""
    from cryptography.fernet import InvalidToken, MultiFernet

    try:
        return MultiFernet(keys).decrypt(sealed.removeprefix(PREFIX)).decode() if keys else None
    except InvalidToken:
        return None


def _refuse() -> str:
    raise WrongKey(
        f"it was encrypted with another key: put that key behind the present one in {SETTING}, "
        "separated by a comma"
    )


def _read_keyring() -> str | None:
    """The key in the keyring, "" when there is none yet; None without a keyring."""
    import keyring
    from keyring.errors import KeyringError

    with _lock:
        if not _keyring_key:
            try:
                found = keyring.get_password(KEYRING_SERVICE, KEYRING_ENTRY)
            except (KeyringError, OSError, RuntimeError):
                return None
            if not found:
                return ""
            _keyring_key.append(found)
        return _keyring_key[0]


def _make_keyring_key() -> str:
    """Put a new key into the keyring. Raises UsageError when it does not keep it."""
    import keyring
    from keyring.errors import KeyringError

    made = make_key()
    try:
        keyring.set_password(KEYRING_SERVICE, KEYRING_ENTRY, made)
    except (KeyringError, OSError, RuntimeError):
        raise UsageError(f"there is no key to keep a secret with: {HOW_TO_KEEP}") from None
    if _read_keyring() != made:
        raise UsageError(f"the system's keyring did not keep the key: {HOW_TO_KEEP}")
    return made
