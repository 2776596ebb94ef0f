"""The benches: each measures one thing and prints it; `python -m bench.NAME --help` says what."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the project."""


def make_parser(about: str | None) -> argparse.ArgumentParser:
    """A parser of a bench's options, with `--json FILE`."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file, too")
    return parser


def write_figures(path: Path | None, figures: Mapping[str, Any]) -> None:
    """Write the figures of a bench where `--json` says, if it does."""
    if path:
        path.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
