"""The reference pages in docs/ are made from the code and are not stale."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from agent.cli.main import COMMANDS, build_parser
from agent.settings.config import SETTINGS

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    """The module docs/make_reference.py."""
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("file", "render"), [("command-line.md", "render_commands"), ("settings.md", "render_settings")]
)
def test_a_page_is_what_the_code_says(made, file, render):
    assert (DOCS / file).read_text(encoding="utf-8") == getattr(made, render)(), "run `make fix`"


def test_every_command_flag_and_setting_is_in_its_page():
    commands = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        section = commands.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        known = build_parser(name)._actions
        options = [option for action in known for option in action.option_strings if action.dest != "help"]
        assert section and all(f"`{option}" in section for option in options), name
    settings = (DOCS / "settings.md").read_text(encoding="utf-8")
    for name, field in SETTINGS.items():
        assert f"| `{name}` |" in settings and str(field.description) in settings
