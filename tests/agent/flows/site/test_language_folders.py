"""Which addresses of a site in several languages are read."""

from __future__ import annotations

import pytest

from agent.flows.site.links import LanguageFolders, find_language_folder

ROOT = "https://lamps.example/"


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("en/start.html", (0, "en")),
        ("manual/pt-br/a/b.html", (1, "pt-br")),
        ("zh_CN/", (0, "zh_cn")),
        ("en", (-1, "")),
        ("xx/a", (-1, "")),
        ("enter/a", (-1, "")),
    ],
)
def test_a_folder_named_like_a_language_is_found(path, folder):
    assert find_language_folder(ROOT + path) == folder


def test_a_start_page_in_a_language_folder_keeps_the_run_in_it():
    folders = LanguageFolders([f"{ROOT}manual/en/"], "en", [])
    assert folders.allows(f"{ROOT}manual/en/a.html") and folders.allows(f"{ROOT}images/list.html")
    assert not folders.allows(f"{ROOT}manual/de/a.html") and not folders.allows(f"{ROOT}manual/pt-br/a.html")


def test_without_one_the_folders_of_other_languages_are_left_where_there_are_several():
    several = [f"{ROOT}{name}/a.html" for name in ("en", "fr", "it")]
    folders = LanguageFolders([ROOT], "en-GB", several)
    assert [folders.allows(url) for url in several] == [True, False, False]
    assert LanguageFolders([ROOT], "en", several[2:]).allows(several[2]), "one folder may be a department"
    assert LanguageFolders([ROOT], "", several).allows(several[1]), "no language is known to stay in"


def test_a_page_in_another_language_is_told_by_what_it_states():
    folders = LanguageFolders([ROOT], "en", [])
    assert folders.allows_page("en-US") and folders.allows_page("") and not folders.allows_page("fr")
