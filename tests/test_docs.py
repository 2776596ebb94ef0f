"""The documentation names only what exists: links, files, commands, flags, settings, make targets, flow pictures."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from agent.flows import FLOWS, STEP_LABELS
from agent.settings import config
from bench import quality
from docs.make_reference import draw_flow
from tests.test_shape import FLOORS

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "contrib").rglob("*.md"),
    ]
)
REFERENCE = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
"""Generated from the command line; its own test says that it is current."""
_FILE = re.compile(r"`((?:agent|pages|tests|bench|contrib|prompts|demo|docs)/[\w/.*-]*)`")
_COMMAND = re.compile(r"\./touchstone ([a-z][a-z-]*)")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
_SETTING = re.compile(r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b")
_NO_SETTINGS = {"FILE_OR_FOLDER", "MALLOC_ARENA_MAX", "EXTRACT_CONTENT", "EXTRACT_LINKS", "NAVIGATE_TO"}
"""Values of a decision, placeholders of arguments and what the C library reads are in capitals, too."""


@pytest.fixture(params=PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def page(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_links_lead_somewhere(page: Path) -> None:
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", _text(page))]
    local = [target for target in targets if target and not target.startswith(("http:", "https:"))]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_named_files_exist(page: Path) -> None:
    named = _FILE.findall(_text(page))
    assert [
        name for name in named if "*" not in name and "<" not in name and not (ROOT / name).exists()
    ] == []


def test_named_commands_and_flags_exist(page: Path) -> None:
    text = _text(page)
    commands = set(re.findall(r"^## ([a-z-]+)$", REFERENCE, re.MULTILINE))
    assert len(commands) >= 15
    assert {name for name in _COMMAND.findall(text) if name not in commands} == set()
    known = REFERENCE + "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bench").glob("*.py"))
    assert {flag for flag in _FLAG.findall(text) if flag not in known} == set()


def test_named_settings_exist(page: Path) -> None:
    routes = {decision for flow in FLOWS.values() for decision in re.findall(_SETTING, draw_flow(flow))}
    known = set(config.SETTINGS) | routes | _NO_SETTINGS
    assert {name for name in _SETTING.findall(_text(page)) if name not in known} == set()


def test_named_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {
        word for word in re.findall(r"`(?:\w+=\S+ )?make (\w+)`", _text(page)) if word not in targets
    } == set()


@pytest.mark.parametrize("name", FLOWS)
def test_each_flow_is_drawn_as_its_table_has_it(name: str) -> None:
    picture = f"```mermaid\n{draw_flow(FLOWS[name])}```"
    assert picture in _text(ROOT / "docs" / "flows.md"), "run `make fix`"


def test_every_step_has_words_and_every_words_a_step() -> None:
    assert {step for flow in FLOWS.values() for step in flow.steps} == set(STEP_LABELS)


def test_the_floors_are_those_of_the_code() -> None:
    page = _text(ROOT / "docs" / "architecture.md")
    told = [
        set(re.findall(r"`(\w+)", row)) for row in re.findall(r"^\| \d\w? \| ([^|]+) \|", page, re.MULTILINE)
    ]
    order = {unit: n for n, row in enumerate(told) for unit in row if unit not in ("py",)}
    floors = [floor - {"__main__"} for floor in FLOORS]
    assert set(order) == set().union(*floors)
    assert all(
        order[low] <= order[high] for below, above in pairwise(floors) for low in below for high in above
    )


def test_the_page_of_quality_shows_what_is_kept() -> None:
    assert _text(quality.PAGE) == quality.render_page(), "run `python -m bench.quality --page`"
    names = {row["name"] for row in quality.read_rows()}
    assert {path.stem for path in quality.RESULTS.glob("*.json")} <= names
    modules = {row["command"].split()[0] for row in quality.read_rows()}
    assert {name for name in modules if not (ROOT / "bench" / f"{name}.py").exists()} == set()


def test_the_readme_is_short() -> None:
    assert _text(ROOT / "README.md").count("\n") <= 150


def test_every_flow_role_and_screen_has_its_place() -> None:
    seeds = _text(ROOT / "docs" / "seeds.md")
    roles = {path.stem for path in (ROOT / "prompts").glob("*.md")} - {"describe"}
    assert {role for role in roles if f"`{role}`" not in seeds} == set()
    guides = {path.stem for path in (ROOT / "docs" / "guide").glob("*.md")}
    screens = {path.stem for path in (ROOT / "pages").glob("*.py")} - {"page", "compare"}
    assert screens - {"you", "shared"} <= guides, "people.md is about these, too"
