"""Folders that the library synchronises with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.web.extract import plain_text
from tests.agent.library.pages import HERONS, STORKS, ids


def has_changes(found):
    return bool(found.added or found.changed or found.removed)


@pytest.fixture
def folders(tmp_path):
    kb, team = tmp_path / "kb", tmp_path / "team"
    (kb / "deep").mkdir(parents=True)
    team.mkdir()
    (kb / "deep" / "a.md").write_text(HERONS)
    (team / "tokens.txt").write_text("Test tokens come from the faucet page of the team.")
    return kb, team


def test_folders_are_kept_current(library, folders):
    kb, team = folders
    assert library.sync(kb, team).added == ["kb:deep/a.md", "team:tokens.txt"] and not has_changes(
        library.sync(kb, team)
    )
    assert library.source("team:tokens.txt").kind == "topic" and ids(library, "faucet tokens") == [
        "team:tokens.txt"
    ]
    (kb / "deep" / "a.md").write_text(STORKS)
    os.utime(kb / "deep" / "a.md", (1, 1))
    assert (
        library.sync(kb, team).changed == ["kb:deep/a.md"] and library.load("kb:deep/a.md").title == "Storks"
    )
    os.utime(kb / "deep" / "a.md", (2, 2))
    assert not has_changes(library.sync(kb, team)), "touched, but the same text"
    (team / "tokens.txt").unlink()
    assert library.sync(kb, team).removed == ["team:tokens.txt"] and [
        entry.source_id for entry in library.index()
    ] == ["kb:deep/a.md"]
    assert library.source("team:tokens.txt").gone_at and not has_changes(library.sync(kb, team))
    (team / "tokens.txt").write_text("Test tokens come from the faucet page of the team.")
    assert library.sync(kb, team).added == ["team:tokens.txt"] and ids(library, "faucet") == [
        "team:tokens.txt"
    ]


def test_what_a_person_put_into_the_bin_stays_there(library, folders):
    library.sync(*folders)
    library.delete("kb:deep/a.md")
    (folders[0] / "deep" / "a.md").write_text(STORKS)
    library.sync(*folders)
    assert ids(library, "storks") == [] and library.source("kb:deep/a.md").deleted_at
    assert library.empty_bin() == 0, "it would come back as new"
    (folders[0] / "deep" / "a.md").unlink()
    library.sync(*folders)
    (folders[0] / "deep" / "a.md").write_text(STORKS)
    library.sync(*folders)
    assert ids(library, "storks") == []


def test_a_folder_that_is_not_there_removes_nothing(library, folders):
    library.sync(*folders)
    folders[0].rename(folders[0].with_name("elsewhere"))
    told = library.sync(*folders)
    assert not has_changes(told) and "no folder" in told.refused[0].why and library.count() == 2


def test_a_folder_that_cannot_be_looked_through_removes_nothing(library, folders, monkeypatch):
    library.sync(*folders)

    def broken(*_settings):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "rglob", broken)
    told = library.sync(*folders)
    assert not has_changes(told) and ["cannot be listed" in one.why for one in told.refused] == [True, True]


def test_an_upload_does_not_take_the_place_of_a_folders_file(library, folders, tmp_path):
    kb, team = folders
    library.sync(kb, team)
    with pytest.raises(UsageError, match=r"kb:deep/a\.md is a file of a folder .*another name"):
        library.add_file("deep/a.md", STORKS.encode())
    other = tmp_path / "other" / "deep"
    other.mkdir(parents=True)
    (other / "a.md").write_text(STORKS)
    (other / "b.md").write_text(STORKS)
    added = library.add_folder(other.parent)
    assert [one.source_id for one in added.sources] == ["kb:deep/b.md"] and [
        one.name for one in added.refused
    ] == ["deep/a.md"]
    assert library.load("kb:deep/a.md").title == "Herons" and not has_changes(library.sync(kb, team))
    library.add_file("deep/a.md", HERONS.encode(), tags=["birds"])
    assert library.source("kb:deep/a.md").tags == ["birds"], "the same text is no other document"
    (kb / "deep" / "a.md").write_text(STORKS)
    assert library.sync(kb, team).changed == ["kb:deep/a.md"]


def test_a_folders_file_does_not_take_the_place_of_an_upload(library, folders):
    library.add_file("deep/a.md", b"# My own notes\n\nUploaded by a person.", tags=["mine"])
    for _ in range(2):
        told = library.sync(*folders)
        assert [one.name for one in told.refused] == ["deep/a.md"] and "by hand: rename" in told.refused[
            0
        ].why
    assert library.load("kb:deep/a.md").title == "My own notes"
    library.delete("kb:deep/a.md")
    library.empty_bin()
    assert library.sync(*folders).added == ["kb:deep/a.md"] and library.source("kb:deep/a.md").tags == []


def test_what_is_added_by_hand_after_its_file_went_stays(library, folders):
    library.sync(*folders)
    (folders[0] / "deep" / "a.md").unlink()
    library.sync(*folders)
    library.add_file("deep/a.md", HERONS.encode())
    assert not has_changes(library.sync(*folders)) and library.load("kb:deep/a.md").title == "Herons"


def test_a_file_that_cannot_be_read_is_told_each_time_and_read_once(library, folders, monkeypatch):
    (folders[0] / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    assert [refused.name for refused in library.sync(*folders).refused] == ["broken.pdf"]
    monkeypatch.setattr("agent.web.extract.documents.read_document", None)
    assert [refused.name for refused in library.sync(*folders).refused] == ["broken.pdf"]


def test_a_bad_file_beside_a_good_one_is_told_and_the_others_are_read(library, folders, monkeypatch):
    kb, team = folders
    library.sync(kb, team)
    (kb / "big.csv").write_text('name,x\n"' + "a" * 11_000_000 + '",2\n')
    (kb / "odd.md").write_text("# Odd")
    (kb / "zebras.md").write_text("# Zebras\n\nZebras graze on the plain.")
    plain, looked = plain_text.extract_markdown, Path.stat

    def read(text):
        return [][1] if text == "# Odd" else plain(text)

    def stat(path, **settings):
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return looked(path, **settings)

    monkeypatch.setattr(plain_text, "extract_markdown", read)
    monkeypatch.setattr(Path, "stat", stat)
    told = library.sync(kb, team)
    assert told.added == ["kb:zebras.md"] and not told.removed, "what may not be looked at is not gone"
    assert {refused.name: refused.why.split()[1:3] for refused in told.refused} == {
        "big.csv": ["cannot", "be"],
        "deep/a.md": ["cannot", "be"],
        "odd.md": ["is", "damaged"],
    }
    assert [refused.name for refused in library.add_folder(kb).refused] == ["big.csv", "odd.md"], (
        "one that opens is read"
    )
    monkeypatch.undo()
    assert library.sync(kb, team).refused[0].name == "big.csv" and ids(library, "zebras") == ["kb:zebras.md"]
