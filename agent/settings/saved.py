"""What was saved on the Settings screen: `settings.json` in a data folder, its secrets encrypted.

The key is that of TOUCHSTONE_SECRET_KEY (several, separated by commas: the first encrypts, all decrypt,
which is how a key is changed), else one of this program's own in the keyring of the system. Fernet of
`cryptography`: AES-128-CBC with HMAC-SHA256, so a changed text is refused. Without a key a secret is held in
the memory of this process and forgotten at its end. A secret that cannot be decrypted stays in the file,
untouched, until its key is back."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import StoreError, UsageError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

SAVED_FILE = "settings.json"
PREFIX = "encrypted:"
"""Marks an encrypted text in a file."""
SETTING = "TOUCHSTONE_SECRET_KEY"
KEYRING_SERVICE, KEYRING_ENTRY = "touchstone", "secret-key"
HOW_TO_KEEP = (
    f"set {SETTING} in the environment (`./touchstone secrets --new-key` prints one), or use a system "
    "with a keyring, and start again"
)
_keyring_key: list[str] = []
_held: dict[Path, dict[str, str]] = {}
"""Secrets that could not be encrypted, by data folder."""
_lock = threading.RLock()


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
        if self._keys:
            return SETTING
        return "the system's keyring" if _read_keyring() is not None else ""

    def encrypt(self, text: str) -> str:
        """The text, encrypted and marked. Raises UsageError when there is no key and no keyring."""
        if key := self._keys[0] if self._keys else _read_keyring(make=True):
            return PREFIX + _build_fernet([key]).encrypt(text.encode()).decode()
        raise UsageError(f"there is no key, and no keyring that keeps one: {HOW_TO_KEEP}")

    def decrypt(self, sealed: str) -> str:
        """The text again; one without the mark as it is. Raises WrongKey."""
        if not sealed.startswith(PREFIX):
            return sealed
        if text := _decrypt(sealed, self._keys) or _decrypt(sealed, [_read_keyring() or ""]):
            return text
        raise WrongKey(
            f"it was encrypted with another key: put that key behind the present one in {SETTING}, separated "
            "by a comma"
        )

    def is_current(self, sealed: str) -> bool:
        """Was it encrypted with the key that encrypts now?"""
        first = self._keys[:1] or [_read_keyring() or ""]
        return sealed.startswith(PREFIX) and _decrypt(sealed, first) is not None


def _build_fernet(keys: list[str]) -> MultiFernet:
    from cryptography.fernet import Fernet, MultiFernet

    try:
        return MultiFernet(list(map(Fernet, keys)))
    except ValueError:
        raise UsageError(f"{SETTING} holds no key: `./touchstone secrets --new-key` prints one") from None


def _decrypt(sealed: str, keys: list[str]) -> str | None:
    """The text; None when none of the keys fits."""
    from cryptography.fernet import InvalidToken

    try:
        return _build_fernet(keys).decrypt(sealed.removeprefix(PREFIX)).decode() if any(keys) else None
    except InvalidToken:
        return None


def _read_keyring(*, make: bool = False) -> str | None:
    """The key in the keyring, "" when there is none yet, or with `make` a new one; None without a keyring."""
    import keyring
    from keyring.errors import KeyringError

    with _lock:
        if not _keyring_key:
            try:
                if make and not keyring.get_password(KEYRING_SERVICE, KEYRING_ENTRY):
                    keyring.set_password(KEYRING_SERVICE, KEYRING_ENTRY, make_key())
                found = keyring.get_password(KEYRING_SERVICE, KEYRING_ENTRY)
            except (KeyringError, OSError, RuntimeError):
                return None
            if not found:
                return ""
            _keyring_key.append(found)
        return _keyring_key[0]


class SavedSettings:
    """The saved settings of a data folder. `is_secret` says of a name and its value whether it is encrypted;
    `keys` as in TOUCHSTONE_SECRET_KEY. Thread-safe."""

    def __init__(self, folder: Path, keys: str, is_secret: Callable[[str, str], bool]) -> None:
        self.path, self.box, self._is_secret = folder / SAVED_FILE, SecretBox(keys), is_secret

    def read(self) -> dict[str, str]:
        """The settings by name, without those that cannot be decrypted. Raises UsageError (damaged file)."""
        found = {}
        for name, value in self._read_file().items():
            try:
                found[name] = self.box.decrypt(value)
            except WrongKey:
                continue
        return found | _held.get(self.path, {})

    def unreadable(self) -> list[str]:
        """The names of those that cannot be decrypted with the keys there are."""
        return sorted(set(self._read_file()) - set(self.read()))

    def check_readable(self) -> None:
        """Raises WrongKey when a secret cannot be decrypted."""
        if names := self.unreadable():
            raise WrongKey(
                f"{', '.join(names)} in {self.path} cannot be decrypted: put the key they were saved with "
                f"into {SETTING} (several are separated by commas), or remove them with "
                "`./touchstone secrets --forget` and enter them again. Nothing was changed"
            )

    def is_held(self, name: str) -> bool:
        """Is it kept in memory only?"""
        return name in _held.get(self.path, {})

    def save(self, name: str, value: str) -> None:
        """Save a setting in a file that only its owner may read, or hold it in memory when it is a secret and
        there is no key; an empty value removes it. Raises StoreError when it cannot be written."""
        with _lock:
            kept, held = self._read_file(), _held.setdefault(self.path, {})
            kept.pop(name, None)
            is_held = bool(value) and self._is_secret(name, value) and not self.box.source
            if value and not is_held:
                kept[name] = self.box.encrypt(value) if self._is_secret(name, value) else value
            self._write(self._seal(kept))
            held.pop(name, None)
            held.update({name: value} if is_held else {})

    def seal(self) -> None:
        """Encrypt what stands in the file in plain text or under a former key, when there is a key."""
        with _lock:
            kept = self._read_file()
            if (sealed := self._seal(kept)) != kept:
                self._write(sealed)

    def forget_held(self) -> None:
        """Forget what is kept in memory only."""
        with _lock:
            _held.pop(self.path, None)

    def forget_unreadable(self) -> list[str]:
        """Remove what cannot be decrypted; returns the names."""
        with _lock:
            names = self.unreadable()
            self._write({name: value for name, value in self._read_file().items() if name not in names})
            return names

    def describe_keeping(self) -> str:
        """How secrets are kept here, as a sentence for a person."""
        kept = self._read_file().items()
        if plain := [n for n, value in kept if not value.startswith(PREFIX) and self._is_secret(n, value)]:
            return f"{', '.join(plain)} stands unencrypted in {SAVED_FILE}: {HOW_TO_KEEP}."
        if source := self.box.source:
            return f"Keys saved here are encrypted with the key from {source}."
        return f"Keys saved here are forgotten when the server stops. To keep them, {HOW_TO_KEEP}."

    def _seal(self, kept: dict[str, str]) -> dict[str, str]:
        sealed = dict(kept)
        for name, value in kept.items():
            if value.startswith(PREFIX) and self.box.is_current(value):
                continue
            try:
                text = self.box.decrypt(value)
            except WrongKey:
                continue
            if self._is_secret(name, text) and self.box.source:
                sealed[name] = self.box.encrypt(text)
        return sealed

    def _read_file(self) -> dict[str, str]:
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(name): str(value) for name, value in saved.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError) as error:
            raise UsageError(
                f"{self.path} cannot be read: repair or delete it; it holds what was saved in Settings"
            ) from error

    def _write(self, settings: dict[str, str]) -> None:
        if not settings and not self.path.exists():
            return
        part = self.path.with_name(f"{SAVED_FILE}.part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.touch(mode=0o600)
            part.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
            part.replace(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink()
            raise StoreError(
                f"{self.path} could not be written ({error.strerror}): make room on its disk and save again"
            ) from error
