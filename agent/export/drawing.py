"""A flow's table of steps as a Mermaid flow chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.types import Edge


def render_mermaid(
    first: str,
    edges: Iterable[Edge],
    *,
    rests: Mapping[str, str],
    decisions: Mapping[str, str] | None = None,
    direction: str = "TD",
) -> str:
    """The flow chart of these edges, as Mermaid source.

    `first` is the step a run begins with; `rests` are the places where a person decides or the run ends, with
    their labels; `decisions` are the steps followed by a choice (a diamond), with its label: their labelled
    edges leave from the diamond. The same edges give the same text."""
    ways, choices = list(edges), decisions or {}
    names = dict.fromkeys([first, *(name for way in ways for name in (way.start, way.end))])
    ids = {name: "END" if name == "end" else name for name in names}  # "end" in lower case is a keyword there
    lines = [f"flowchart {direction}", f"    ask([question]) --> {first}"]
    for name in names:
        label = _quote_label(rests.get(name, name.replace("_", " ")))
        lines.append(f"    {ids[name]}{f'([{label}])' if name in rests else f'[{label}]'}")
    lines += [
        f"    {step}_choice{{{_quote_label(words)}}}\n    {step} --> {step}_choice"
        for step, words in choices.items()
    ]
    for way in ways:
        start = f"{way.start}_choice" if way.start in choices and way.label else way.start
        lines.append(f"    {start} -->{f'|{_quote_label(way.label)}|' if way.label else ''} {ids[way.end]}")
    return "\n".join(lines) + "\n"


def _quote_label(words: str) -> str:
    """A text in quotes, with Mermaid's own entity for a quote."""
    return '"' + words.replace('"', "#quot;") + '"'
