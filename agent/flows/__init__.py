"""All flows by name, and the labels of their steps."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from agent.engine.loop import Flow


class _Flows(Mapping[str, Flow]):
    """Each flow is imported when it is first asked for."""

    _NAMES = ("research", "site", "collect", "reply", "chat", "check_text", "verify_again")

    def __getitem__(self, name: str) -> Flow:
        if name not in self._NAMES:
            raise KeyError(name)
        flow: Flow = getattr(import_module(f"agent.flows.{name}.flow"), name.upper())
        return flow

    def __iter__(self) -> Iterator[str]:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)


FLOWS: Mapping[str, Flow] = _Flows()
"""All flows by name."""
_LABELS = Path(__file__).with_name("step_labels.txt").read_text(encoding="utf-8")
STEP_LABELS = {name: label for name, _, label in (line.partition(" | ") for line in _LABELS.splitlines())}
"""What a run does at each step, as the screens show it."""
