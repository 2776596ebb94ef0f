"""What is saved on the Settings screen: encrypted, or held in memory, and never lost under a wrong key."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.settings.config import is_secret, read_config
from agent.settings.saved import PREFIX, SAVED_FILE, SavedSettings, WrongKey, make_key
from agent.workbench import Workbench


def opened(folder: Path, keys: str = "") -> SavedSettings:
    return SavedSettings(folder, keys, is_secret)


def on_disk(folder: Path) -> dict[str, str]:
    return json.loads((folder / SAVED_FILE).read_text())


def test_secrets_are_encrypted_and_the_rest_is_not(tmp_path: Path) -> None:
    saved = opened(tmp_path, make_key())
    saved.save("BRAVE_API_KEY", "canary-1")
    saved.save("ENGINES_OFF", "arxiv")
    saved.save("SEARXNG_URL", "https://me:canary-2@search.example.org")
    text = (tmp_path / SAVED_FILE).read_text()
    assert "canary" not in text and on_disk(tmp_path)["ENGINES_OFF"] == "arxiv"
    assert saved.read()["BRAVE_API_KEY"] == "canary-1" and "canary-2" in saved.read()["SEARXNG_URL"]


def test_on_a_full_disk_a_sentence_says_so_and_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, write = opened(tmp_path), Path.write_text
    saved.save("ENGINES_OFF", "arxiv")
    saved.save("BRAVE_API_KEY", "held")

    def fill(path: Path, text: str, **more: str) -> int:
        write(path, text[:5], **more)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill)
    for name in ("ENGINES_OFF", "BRAVE_API_KEY"):
        with pytest.raises(
            StoreError, match=r"settings.json could not be written \(No space left .* make room"
        ):
            saved.save(name, "other" if name == "ENGINES_OFF" else "")
    assert saved.read() == {"ENGINES_OFF": "arxiv", "BRAVE_API_KEY": "held"}
    assert [path.name for path in tmp_path.iterdir()] == [SAVED_FILE]


def test_without_a_key_a_secret_is_held_until_the_process_ends(tmp_path: Path) -> None:
    opened(tmp_path).save("BRAVE_API_KEY", "canary")
    opened(tmp_path).save("ENGINES_OFF", "arxiv")
    assert opened(tmp_path).read() == {"BRAVE_API_KEY": "canary", "ENGINES_OFF": "arxiv"}
    assert opened(tmp_path).is_held("BRAVE_API_KEY") and on_disk(tmp_path) == {"ENGINES_OFF": "arxiv"}
    assert "forgotten when the server stops" in opened(tmp_path).describe_keeping()
    opened(tmp_path).save("BRAVE_API_KEY", "")
    assert "BRAVE_API_KEY" not in opened(tmp_path).read()
    opened(tmp_path).save("BRAVE_API_KEY", "canary")
    opened(tmp_path).forget_held()  # as another process would
    assert opened(tmp_path).read() == {"ENGINES_OFF": "arxiv"}


def test_a_former_plain_file_is_encrypted_at_the_next_start(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = read_config().data_folder
    folder.mkdir(parents=True)
    (folder / SAVED_FILE).write_text('{"BRAVE_API_KEY": "canary", "ENGINES_OFF": "arxiv"}')
    Workbench().shutdown()
    assert on_disk(folder)["BRAVE_API_KEY"] == "canary", "without a key it stays: nothing is lost"
    assert "stands unencrypted" in read_config().saved.describe_keeping()
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    Workbench().shutdown()
    assert on_disk(folder)["BRAVE_API_KEY"].startswith(PREFIX) and on_disk(folder)["ENGINES_OFF"] == "arxiv"
    assert read_config().BRAVE_API_KEY == "canary"
    assert "encrypted with the key from TOUCHSTONE_SECRET_KEY" in read_config().saved.describe_keeping()


def test_a_wrong_key_says_so_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    right = make_key()
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", right)
    folder = read_config().data_folder
    read_config().saved.save("BRAVE_API_KEY", "canary")
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", make_key())
    with pytest.raises(WrongKey, match=r"BRAVE_API_KEY in .*TOUCHSTONE_SECRET_KEY.*--forget"):
        Workbench()
    wrong = read_config().saved
    wrong.save("ENGINES_OFF", "arxiv")
    wrong.seal()
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", right)
    assert read_config().saved.read() == {"BRAVE_API_KEY": "canary", "ENGINES_OFF": "arxiv"}
    assert opened(folder, make_key()).forget_unreadable() == ["BRAVE_API_KEY"]
    assert on_disk(folder) == {"ENGINES_OFF": "arxiv"}


def test_a_saved_file_sets_neither_its_folder_nor_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = read_config().data_folder
    folder.mkdir(parents=True)
    planted = {"TOUCHSTONE_SECRET_KEY": "x", "TOUCHSTONE_DATA": "/elsewhere", "MODEL": "m"}
    (folder / SAVED_FILE).write_text(json.dumps(planted))
    read = read_config()
    assert (read.TOUCHSTONE_SECRET_KEY, read.data_folder, read.MODEL) == ("", folder, "m")
