"""What was saved on the Settings screen: `settings.json` in a data folder, its secrets encrypted.

Without a key to encrypt with, a secret is held in the memory of this process and forgotten at its end. A
secret that cannot be decrypted stays in the file, untouched, until its key is back."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

from agent.errors import StoreError, UsageError
from agent.secrets_at_rest import HOW_TO_KEEP, PREFIX, SETTING, SecretBox, WrongKey

SAVED_FILE = "settings.json"
_held: dict[Path, dict[str, str]] = {}
"""Secrets that could not be encrypted, by data folder."""
_lock = threading.RLock()


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
        plain = [name for name, value in self._read_file().items() if self._is_open(name, value)]
        if plain:
            return f"{', '.join(plain)} stands unencrypted in {SAVED_FILE}: {HOW_TO_KEEP}."
        if source := self.box.source:
            return f"Keys saved here are encrypted with the key from {source}."
        return f"Keys saved here are forgotten when the server stops. To keep them, {HOW_TO_KEEP}."

    def _is_open(self, name: str, value: str) -> bool:
        return not value.startswith(PREFIX) and self._is_secret(name, value)

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
