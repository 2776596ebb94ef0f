"""How much there is to learn in the house: counted by syntax tree, and by what one recorded run executes.

    python -m bench.house            # a table
    python -m bench.house --json FILE

A constant is a name bound to a literal at module or class level (a tuple of names counts each), or a numeric
literal elsewhere in code other than -1, 0, 1 and 2. A code line is neither blank, comment nor docstring."""

from __future__ import annotations

import ast
import io
import os
import sys
import tempfile
import threading
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from bench import ROOT, make_parser, write_figures
from tests.played import replay as recorded
from tests.played.scenario import Outcome, drive_scenario, load_scenarios

PARTS = ("agent", "pages")
RECORDED_RUN = "r01-founder-born"
_PLAIN_NUMBERS = (-1, 0, 1, 2)
_LITERALS = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class House:
    """The counts of one part. `regex_chars`: characters of all patterns given as literals to `re`;
    `docstrings`: the share of public modules, classes and functions that have one, 0 to 1."""

    lines: int = 0
    code_lines: int = 0
    files: int = 0
    functions: int = 0
    classes: int = 0
    constants: int = 0
    regex_uses: int = 0
    regex_chars: int = 0
    docstrings: float = 0.0


def count_part(part: str) -> House:
    """The counts of all Python files below a folder of the project."""
    house, documented, public = House(), 0, 0
    for path in sorted((ROOT / part).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        nodes = list(ast.walk(tree))
        house.files += 1
        house.lines += source.count("\n")
        house.code_lines += len(_find_code_lines(source, nodes))
        house.functions += sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes)
        house.classes += sum(isinstance(node, ast.ClassDef) for node in nodes)
        house.constants += _count_constants(nodes)
        uses = [node for node in nodes if _is_regex_call(node)]
        house.regex_uses += len(uses)
        house.regex_chars += sum(map(_measure_pattern, uses))
        outside = [node for node in nodes if isinstance(node, _DOCUMENTED) and _is_public(node)]
        public += len(outside)
        documented += sum(ast.get_docstring(node) is not None for node in outside)  # type: ignore[arg-type]
    house.docstrings = round(documented / public, 4) if public else 1.0
    return house


def trace_recorded_run() -> dict[str, int]:
    """The code objects, named functions and files of agent/ that the recorded run executes, from its start to
    its answer; what importing and opening the workbench takes is left out."""
    scenario = next(each for each in load_scenarios() if each.id == RECORDED_RUN)
    seen: set[CodeType] = set()

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    def drive(*given: Any, **named: Any) -> Outcome:
        threading.setprofile(watch)
        sys.setprofile(watch)
        try:
            return drive_scenario(*given, **named)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    with tempfile.TemporaryDirectory() as folder, patch.object(recorded, "drive_scenario", drive):
        os.environ["TOUCHSTONE_DATA"] = folder
        recorded.replay(scenario)
    own = {code for code in seen if code.co_filename.startswith(str(ROOT / "agent"))}
    functions = {code for code in own if code.co_flags & CO_OPTIMIZED}
    return {
        "code_objects": len(own),
        "named_functions": sum(not code.co_name.startswith("<") for code in functions),
        "files": len({code.co_filename for code in functions}),
    }


def _find_code_lines(source: str, nodes: Sequence[ast.AST]) -> set[int]:
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (*skipped, tokenize.ENDMARKER, tokenize.ENCODING):
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _count_constants(nodes: Sequence[ast.AST]) -> int:
    named, within = 0, set[int]()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef):
            for name, value in _list_bindings(node.body):
                if isinstance(value, _LITERALS):
                    named += len(name.elts) if isinstance(name, ast.Tuple) else 1
                    within |= {id(inner) for inner in ast.walk(value)}
    numbers = [
        node
        for node in nodes
        if isinstance(node, ast.Constant)
        and type(node.value) in (int, float)
        and node.value not in _PLAIN_NUMBERS
        and id(node) not in within
    ]
    return named + len(numbers)


def _list_bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value


def _is_regex_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
    )


def _measure_pattern(node: ast.AST) -> int:
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    texts = (inner.value for inner in ast.walk(first) if isinstance(inner, ast.Constant)) if first else ()
    return sum(len(text) for text in texts if isinstance(text, str))


def _is_public(node: ast.AST) -> bool:
    return not getattr(node, "name", "").startswith("_")


def main() -> None:
    """Count, print, and write with --json."""
    parser = make_parser(__doc__)
    asked = parser.parse_args()
    counts: dict[str, dict[str, float]] = {part: asdict(count_part(part)) for part in PARTS}
    counts["recorded run"] = dict(trace_recorded_run())
    for part, figures in counts.items():
        print(part + ": " + ", ".join(f"{name} {figure:,}" for name, figure in figures.items()))
    write_figures(asked.json, counts)


if __name__ == "__main__":
    main()
