"""Writes docs/command-line.md, docs/settings.md and the pictures of docs/flows.md from the code:
`python docs/make_reference.py`.

Commands, options and acts come from their tables, settings from `agent.settings`, the settings of a run from
`agent.types`, with the text below each field as its help. A test fails when the files are stale; `make fix`
writes them."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from pydantic import BaseModel, SecretStr  # noqa: E402

from agent.actions.acts import ACTS, Act  # noqa: E402
from agent.cli.main import COMMANDS, PROGRAM, build_parser  # noqa: E402
from agent.engine.loop import Flow  # noqa: E402
from agent.flows import FLOWS  # noqa: E402
from agent.settings import reply_config  # noqa: E402
from agent.settings.config import SETTINGS  # noqa: E402
from agent.types import BatchBudget, CollectLimits, Edge, Settings, SiteLimits, Status  # noqa: E402

MADE = "<!-- Made by docs/make_reference.py from the code; edit the code, then run `make fix`. -->"
RUN_PARTS = {
    "A run": Settings,
    "The limits of `site`": SiteLimits,
    "The limits of `collect`": CollectLimits,
    "The budget of a batch": BatchBudget,
}
REST_LABELS = {Status.WAITING: "a person decides", Status.REVIEW: "a person reviews", Status.DONE: "the end"}
END_LABELS = {"replied": "should_reply is true", "silent": "should_reply is false"}
"""The ends of flows that have more than one."""
DECISIONS = {"chat": {"router": "route_decision?", "grade": "relevant_count?", "validate": "grounded?"}}
"""The steps of a flow that choose a way, and what they ask."""


def render_commands() -> str:
    """docs/command-line.md."""
    parts = [
        "# Command line",
        MADE,
        f"`{PROGRAM} COMMAND` in the checkout's folder; `.venv/bin/python -m agent COMMAND` is the same. "
        "Progress goes to stderr, results to stdout. Exit codes: 0 done (an honest “no evidence” too), 1 "
        "failed "
        "(stderr says why), 2 wrong usage.",
        "\n".join(f"* [`{name}`](#{name}): {about}" for name, (_, about) in COMMANDS.items()),
    ]
    for name, (_, about) in COMMANDS.items():
        parts += [f"## {name}", about, *_render_command(name)]
        parts += _render_acts() if name == "act" else []
    return "\n\n".join(parts) + "\n"


def _render_command(name: str) -> Iterator[str]:
    parser = build_parser(name)
    known = [action for action in parser._actions if action.dest != "help"]
    words = [
        f"[{action.metavar}]" if action.nargs in ("?", "...") else str(action.metavar)
        for action in known
        if not action.option_strings
    ]
    yield f"```\n{' '.join([PROGRAM, name, *words, '[OPTIONS]'])}\n```"
    rows = []
    for action in known:
        shown = "`, `".join(action.option_strings) or str(action.metavar)
        value = f" {action.metavar}" if action.option_strings and action.nargs != 0 else ""
        text = (action.help or "") % {"default": action.default}
        must = " [required]" if action.required and action.nargs != "..." else ""
        rows.append(f"| `{_escape(shown + value)}` | {_escape(text)}{must} |")
    yield "\n".join(["| | |", "|---|---|", *rows])


def _render_acts() -> Iterator[str]:
    yield "What is possible now depends on the run: `act RUN` lists it."
    rows = [
        f"| `{act.name}` | {_escape(act.help)} | {_escape(', '.join(_render_parameters(act)))} |"
        for act in ACTS.values()
    ]
    yield "\n".join(["| act | what it does | parameters |", "|---|---|---|", *rows])


def _render_parameters(act: Act) -> Iterator[str]:
    for name, field in act.parameters.model_fields.items():
        told = f" ({field.description})" if field.description else ""
        yield f"`--{name.replace('_', '-')}`{told}{' [required]' if field.is_required() else ''}"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def render_settings() -> str:
    """docs/settings.md."""
    reply = {
        "`ai_response`": reply_config.AIResponseSettings,
        "`ai_response.llm` and `kb.llm`": reply_config.LLMSettings,
        "`kb`": reply_config.KBSettings,
    }
    parts = [
        "# Settings",
        MADE,
        "Read from the environment, then from `.env` beside the README, then from the top level of "
        "`config.yaml`; "
        "the first that names a setting wins.",
        _table(
            (name, format_value(field.default), str(field.description)) for name, field in SETTINGS.items()
        ),
        "## The sections of config.yaml",
        "Copy `config.example.yaml` to `config.yaml`; a key that is left out has its default.",
    ]
    for title, model in reply.items():
        parts += [f"### {title}", _table(_fields(model))]
    parts += [
        "## The settings of a run",
        "Chosen in the forms and by options of the command line, stored with each run, and written into "
        "exports.",
    ]
    for title, model in RUN_PARTS.items():
        parts += [f"### {title}", _table(_fields(model))]
    return "\n\n".join(parts) + "\n"


def _table(rows: Any) -> str:
    lines = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {_escape(text)} |"
        for name, default, text in rows
    ]
    return "\n".join(["| name | default | meaning |", "|---|---|---|", *lines])


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """Name, default and help of each plain field; parts that have a table of their own are left out."""
    texts: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind.__module__.startswith("agent."):
            texts |= _field_texts(kind)
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel) or (name == "llm" and default is None):
            continue
        shown = "" if default is None or isinstance(default, SecretStr) else format_value(default)
        yield name, shown, texts.get(name) or str(field.description or name.replace("_", " "))


def _field_texts(model: type[BaseModel]) -> dict[str, str]:
    """The text that stands below each field of a class."""
    [body] = ast.parse(inspect.cleandoc("\n" + inspect.getsource(model))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[field.target.id] = " ".join(str(text.value.value).split())
    return found


def render_flows() -> str:
    """docs/flows.md with the pictures as the tables of the flows have them, in the order of the headings."""
    heads = {"Research": "research", "Ask a site": "site", "Check a text": "check_text"}
    heads |= {"Verify again": "verify_again"}
    parts = (DOCS / "flows.md").read_text(encoding="utf-8").split("\n## ")
    for n, part in enumerate(parts[1:], start=1):
        name = part.partition("\n")[0]
        before, _, rest = part.partition("```mermaid\n")
        picture = draw_flow(FLOWS[heads.get(name, name.lower())])
        parts[n] = f"{before}```mermaid\n{picture}```{rest.partition('```')[2]}"
    return "\n## ".join(parts)


def main() -> None:
    """Write all three."""
    (DOCS / "flows.md").write_text(render_flows(), encoding="utf-8")
    (DOCS / "command-line.md").write_text(render_commands(), encoding="utf-8")
    (DOCS / "settings.md").write_text(render_settings(), encoding="utf-8")


def draw_flow(flow: Flow) -> str:
    """A flow as Mermaid source, drawn from its table."""
    rests = {rest: END_LABELS.get(rest, REST_LABELS[status]) for rest, status in flow.rest_statuses.items()}
    return render_mermaid(flow.first_step, flow.edges, rests=rests, decisions=DECISIONS.get(flow.name, {}))


def render_mermaid(
    first: str,
    edges: Iterable[Edge],
    *,
    rests: Mapping[str, str],
    decisions: Mapping[str, str] | None = None,
) -> str:
    """The flow chart of these edges, as Mermaid source.

    `first` is the step a run begins with; `rests` are the places where a person decides or the run ends, with
    their labels; `decisions` are the steps followed by a choice (a diamond), with its label: their labelled
    edges leave from the diamond. The same edges give the same text."""

    def quote_label(words: str) -> str:  # with Mermaid's own entity for a quote
        return '"' + words.replace('"', "#quot;") + '"'

    ways, choices = list(edges), decisions or {}
    names = dict.fromkeys([first, *(name for way in ways for name in (way.start, way.end))])
    ids = {name: "END" if name == "end" else name for name in names}  # "end" in lower case is a keyword there
    lines = ["flowchart TD", f"    ask([question]) --> {first}"]
    for name in names:
        label = quote_label(rests.get(name, name.replace("_", " ")))
        lines.append(f"    {ids[name]}{f'([{label}])' if name in rests else f'[{label}]'}")
    lines += [
        f"    {step}_choice{{{quote_label(words)}}}\n    {step} --> {step}_choice"
        for step, words in choices.items()
    ]
    for way in ways:
        start = f"{way.start}_choice" if way.start in choices and way.label else way.start
        lines.append(f"    {start} -->{f'|{quote_label(way.label)}|' if way.label else ''} {ids[way.end]}")
    return "\n".join(lines) + "\n"


def format_value(value: Any) -> str:
    """A setting's value as it is written in the environment."""
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if value in (True, False) else str(value)


if __name__ == "__main__":
    main()
