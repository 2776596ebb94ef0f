"""The benches: each measures one thing and prints it; `python -m bench.NAME --help` says what."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the project."""
