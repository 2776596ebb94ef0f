"""All flows by name, and the labels of their steps."""

from collections import UserDict
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from agent.engine.loop import Flow


class _Flows(UserDict[str, Any]):
    """The names of the tables; each flow is imported when it is first asked for."""

    def __getitem__(self, name: str) -> Any:
        table = self.data[name]
        return getattr(import_module(f"agent.flows.{name}.flow"), table)


_NAMES = "research site collect reply chat check_text verify_again".split()
FLOWS: Mapping[str, Flow] = _Flows({name: name.upper() for name in _NAMES})
"""All flows by name."""
_LABELS = Path(__file__).with_name("step_labels.txt").read_text(encoding="utf-8")
STEP_LABELS = {name: label for name, _, label in (line.partition(" | ") for line in _LABELS.splitlines())}
"""What a run does at each step, as the screens show it."""
