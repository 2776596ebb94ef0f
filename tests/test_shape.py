"""The shape of the project as a test: layers, pairs of prompt and role, sizes, names, where errors and settings are read."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agent import config

ROOT = Path(__file__).parent.parent
LAYERS = [
    {"types", "errors", "config", "response_config", "urls", "state", "wording"},
    {"llm", "tools", "text", "evidence", "store", "export", "prompts"},
    {"roles"},
    {"loop", "toolbox", "holdings", "shelving", "meaning", "folders"},
    {"flows"},
    {"worker", "workbench", "starting", "talking", "collecting", "replying", "reply_model", "batching", "metrics",
     "correcting", "editing", "settling", "describing", "exporting", "verifying", "importing",
     "forking", "comparing", "budgeting", "trusting", "views", "queueing", "question_sheet", "asking_many", "supplying", "versions"},
    {"evaluate", "rewritings", "scoring", "cli", "commands", "__main__", "app", "pages"},
]
Trees = dict[Path, ast.Module]
HANDS = 1
"""The layer whose members do not know each other."""
FORBIDDEN = {"utils", "helpers", "helper", "common", "misc", "manager", "service", "base", "core"}
MAY_CATCH_ALL = {"agent/loop.py", "agent/replying.py"}
FILES = sorted([*(ROOT / "agent").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])


@pytest.fixture(scope="module")
def trees() -> Trees:
    """Every file of ours, parsed."""
    gc.disable()  # some million small things that all stay
    parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    gc.enable()
    return parsed


def _unit(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "agent" and len(parts) > 1 else parts[0]


def _level(unit: str) -> int:
    return next((n for n, layer in enumerate(LAYERS) if unit in layer), -1)


@cache
def _imports(tree: ast.AST) -> list[tuple[str, ast.AST]]:
    found: list[tuple[str, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [(f"{node.module}.{alias.name}", node) for alias in node.names]
    return found


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_imports_point_down(trees: Trees) -> None:
    wrong = []
    for path, tree in trees.items():
        here = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        unit = _unit(here)
        if here in ("agent.__init__", "agent"):
            continue
        level = _level(unit)
        assert level >= 0, f"{here} belongs to no layer: add it to LAYERS and to the README"
        for module, _ in _imports(tree):
            if module.split(".")[0] not in ("agent", "pages", "app") or module == "agent":
                continue
            other = _unit(module)
            siblings = _level(other) == level and level != HANDS
            if not (other == unit or _level(other) < level or siblings):
                wrong.append(f"{here} imports {module}, which is not below it")
    assert not wrong


def test_the_agent_does_not_know_the_screens(trees: Trees) -> None:
    screens = ("streamlit", "pages", "app")
    agents = {path: tree for path, tree in trees.items() if "agent" in path.relative_to(ROOT).parts}
    assert agents and not [(_name(path), module) for path, tree in agents.items() for module, _ in _imports(tree) if module.split(".")[0] in screens]


def test_own_modules_are_imported_at_the_top(trees: Trees) -> None:
    tops = {path: set(map(id, tree.body)) for path, tree in trees.items()}
    inner = [(path, module) for path, tree in trees.items() for module, node in _imports(tree) if id(node) not in tops[path]]
    assert not [(_name(path), module) for path, module in inner if module.split(".")[0] == "agent"]


def test_sizes(trees: Trees) -> None:
    wrong = []
    for path, tree in trees.items():
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > 400:
            wrong.append(f"{_name(path)} has {lines} lines: split it by meaning")
        wrong += [f"{_name(path)}: {trouble}" for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for trouble in _oversized(node)]
    assert not wrong


def _oversized(function: ast.FunctionDef) -> Iterator[str]:
    length = (function.end_lineno or 0) - function.lineno + 1
    if length > 60:
        yield f"{function.name} has {length} lines"
    positional = [a for a in function.args.posonlyargs + function.args.args if a.arg not in ("self", "cls")]
    if len(positional) > 6:
        yield f"{function.name} takes {len(positional)} positional parameters: make them keyword-only or a noun"


def test_every_module_says_what_it_is(trees: Trees) -> None:
    assert not [_name(path) for path, tree in trees.items() if not ast.get_docstring(tree)], "line 1 says what the file is"
    assert not [_name(path) for path in trees if path.stem in FORBIDDEN]


def test_only_the_loop_catches_everything(trees: Trees) -> None:
    handlers = [(_name(path), node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    catching = {name for name, node in handlers if node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception")}
    assert catching <= MAY_CATCH_ALL, "catch what you know how to handle"


def test_the_environment_is_read_in_one_file() -> None:
    reading = {_name(path) for path in FILES if re.search(r"\bos\.(environ|getenv)", path.read_text(encoding="utf-8"))}
    assert reading <= {"agent/config.py"}


def test_every_prompt_has_its_role_and_every_role_its_prompt(trees: Trees) -> None:
    prompts = {path.stem for path in (ROOT / "prompts").iterdir()}
    named = set()
    for path, tree in trees.items():
        if path.parent.name == "roles":
            named |= {
                keyword.value.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Role"
                for keyword in node.keywords
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
            }
    assert prompts == named


def test_the_readme_lists_every_setting() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for setting in config.SETTINGS:
        assert f"`{setting.name}`" in readme, f"{setting.name} is not in the README"
        assert setting.help in readme, f"the README tells another story of {setting.name}"


def test_no_circle_of_imports(trees: Trees) -> None:
    known = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in trees}
    graph = {
        name: {module if module in known else module.rpartition(".")[0] for module, _ in _imports(trees[path])} & set(known) - {name}
        for name, path in known.items()
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"a circle: {' -> '.join([*trail, name])}"
        if name not in done:
            for other in graph[name]:
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_nothing_of_a_machine_is_in_the_project() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    private = re.compile("/" + "work/|/" + "root/|index-" + "url")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".jsonl", "") and path.is_file():
            found = private.search(path.read_text(encoding="utf-8", errors="replace"))
            assert not found, f"{name} speaks of a machine: {found.group()}"  # type: ignore[union-attr]
