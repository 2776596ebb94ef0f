"""Which addresses of a site in several languages are read."""

from __future__ import annotations

from agent.flows.site.links import LanguageFolders

ROOT = "https://lamps.example/"


def test_a_start_page_in_a_language_folder_keeps_the_run_in_it():
    folders = LanguageFolders([f"{ROOT}manual/en/"], "en", [])
    for path in ("manual/en/a.html", "images/list.html", "manual/xx/a", "manual/enter/a", "manual/de"):
        assert folders.allows(ROOT + path), path
    for path in ("manual/de/a.html", "manual/pt-br/a.html", "manual/zh_CN/"):
        assert not folders.allows(ROOT + path), path


def test_without_one_the_folders_of_other_languages_are_left_where_there_are_several():
    several = [f"{ROOT}{name}/a.html" for name in ("en", "fr", "it")]
    folders = LanguageFolders([ROOT], "en-GB", several)
    assert [folders.allows(url) for url in several] == [True, False, False]
    assert LanguageFolders([ROOT], "en", several[2:]).allows(several[2]), "one folder may be a department"
    assert LanguageFolders([ROOT], "", several).allows(several[1]), "no language is known to stay in"


def test_a_page_in_another_language_is_told_by_what_it_states():
    folders = LanguageFolders([ROOT], "en", [])
    assert folders.allows_page("en-US") and folders.allows_page("") and not folders.allows_page("fr")
