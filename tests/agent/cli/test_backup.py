"""`backup`, `restore` and `secrets` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.cli.main import main
from agent.settings.config import read_config
from agent.settings.saved import make_key
from agent.store.database import Store


def test_a_backup_is_written_checked_and_restored_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(read_config().database_url)
    store.draft("key", "kept")
    store.close()
    assert main(["backup", str(tmp_path)]) == 0
    file = capsys.readouterr().out.strip()
    assert main(["restore", file, "--check"]) == 0
    assert "all as they were backed up" in capsys.readouterr().out
    assert main(["restore", file]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["restore", file, "--into", str(tmp_path / "new")]) == 0
    restored = Store(f"sqlite:///{tmp_path / 'new' / 'touchstone.db'}")
    assert restored.draft("key") == "kept"
    restored.close()


def test_a_database_that_is_no_postgresql_is_not_backed_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/t.db")
    assert main(["backup", str(tmp_path)]) == 2
    assert "neither a data folder nor" in capsys.readouterr().err


def test_keys_are_made_listed_changed_and_forgotten(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["secrets", "--new-key"]) == 0
    old, new = capsys.readouterr().out.strip(), make_key()
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", old)
    read_config().saved.save("BRAVE_API_KEY", "canary")
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", f"{new},{old}")
    assert main(["secrets", "--rotate"]) == 0
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", new)
    assert main(["secrets"]) == 0
    told = capsys.readouterr()
    assert "BRAVE_API_KEY" in told.out and "canary" not in told.out + told.err
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEY", old)
    assert main(["runs"]) == 2 and "--forget" in capsys.readouterr().err
    assert main(["secrets", "--forget"]) == 0 and "removed BRAVE_API_KEY" in capsys.readouterr().out
    assert main(["runs"]) == 0
    assert main(["secrets", "--forget", "--rotate"]) == 2
