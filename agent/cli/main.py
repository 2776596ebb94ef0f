"""The command line: a typer app with one module a command. Progress goes to stderr, results to stdout.

`COMMANDS` names each command with its module and help line; `LazyCommand` imports the module when the command
runs, so that `--help` and shell completion do not import the rest of the program.

Exit codes: 0 review was reached (an honest `no_evidence` too), 1 it failed (see stderr), 2 wrong usage."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from agent import logs
from agent.errors import NotFound, TouchstoneError, UsageError

LAUNCHER = "touchstone"
PROGRAM = f"./{LAUNCHER}"
"""The script that shell completion is made for, and what usage lines and messages call it."""
COMMANDS = {
    "research": ("research", "Ask a question and get a checked answer."),
    "site": ("site", "Ask chosen websites, with follow-ups."),
    "collect": ("collect", "Gather articles or threads from start pages."),
    "chat": ("chat", "Talk with the library."),
    "reply": ("reply", "Answer a conversation from the knowledge base, or stay silent."),
    "batch": ("batch", "Ask many questions from a table, side by side within a budget."),
    "eval": ("evaluate", "Score a world by its questions."),
    "runs": ("runs", "List the runs, newest first."),
    "plan": ("plan", "Show the plan of a run, or change it."),
    "revise": ("answers.revise", "Send an answer back with a note, or comment on a sentence of it."),
    "erase-note": ("answers.erase_note", "Erase a private note of a run for good."),
    "rewrite": ("answers.rewrite", "Write the answer of a run in another length."),
    "facts": ("facts", "List the facts of a run with their quotes."),
    "edit": ("edit", "Correct the facts of a run; its answer is rewritten."),
    "conflicts": ("conflicts", "List what the sources of a run disagree on."),
    "settle": ("settle", "Resolve a conflict, or search for what would resolve it."),
    "check-text": ("evidence.check_text", "Check a text, claim by claim, against the sources it cites."),
    "check": ("evidence.check", "Check whether quotes support statements, for a file of them."),
    "export": ("export", "Write a run to a file."),
    "verify": ("evidence.verify", "Check an evidence bundle, and its sources as they are now."),
    "import": ("import_bundle", "Open an evidence bundle as a run."),
    "fork": ("fork", "Continue from a step of a run in a new run."),
    "supply": ("supply", "Give a run a page it could not read."),
    "backup": ("upkeep.backup", "Write everything that is kept to one file, while the server runs."),
    "restore": ("upkeep.restore", "Bring back what a backup holds."),
    "secrets": ("upkeep.secrets", "The keys saved in Settings: how they are encrypted, and with a new key."),
}
"""Each command: its module in this package, and its help line."""

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
HOST_OPTIONS = ("--allow", "--block")
_CERTAIN_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)+(:\d+)?\Z|localhost\Z|https?://\S+\Z")
_BLANK = re.compile(r"\s")
_SEPARATORS = re.compile(r"[\s,]+")


class LenientCommand(TyperCommand):
    """A command whose list options with a placeholder like "FACT …" take several values, whose long options
    may be shortened, and whose texts may begin with a dash when they contain a blank."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments in the form that typer reads."""
        options = {
            name: 0 if getattr(one, "is_flag", False) else one.nargs
            for one in self.get_params(ctx)
            if one.param_type_name == "option"
            for name in (*one.opts, *one.secondary_opts)
        }
        several = {name for one in self.params if str(one.metavar).endswith("…") for name in one.opts}
        if not ctx.resilient_parsing:  # shell completion refuses nothing
            args = complete_options(args, options)
        return super().parse_args(ctx, put_texts_last(repeat_options(args, several), options))


class LazyCommand(TyperCommand):
    """A command whose module is imported when the command runs or is documented."""

    def __init__(self, name: str, module: str, help: str) -> None:
        super().__init__(name, help=help, rich_markup_mode=None)
        self.module = module

    def load(self) -> Any:
        """The real command, made from the function `run` of its module."""
        run = import_module(f"agent.cli.{self.module}").run
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(self.name, cls=LenientCommand, help=self.help, context_settings=HELP_OPTIONS)(
            make_callback(run)
        )
        return typer.main.get_command(single)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the real command, its arguments parsed."""
        return self.load().make_context(info_name, args, parent, **extra)


class CommandTable(TyperGroup):
    """The group of all commands in COMMANDS."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: LazyCommand(name, *about) for name, about in COMMANDS.items()}


def make_callback(command: Callable[..., int]) -> Callable[..., int]:
    """What typer calls: parameters that are dataclasses (`agent.cli.options`) are replaced by their fields,
    and errors become a line on stderr and an exit code."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if is_dataclass(parameter.annotation)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        expanded = _field_parameters(groups[name]) if name in groups else [parameter]
        parameters += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in expanded]

    def call(**values: Any) -> int:
        for name, group in groups.items():
            values[name] = group(**{part.name: values.pop(part.name) for part in fields(group)})
        return _run_safely(lambda: command(**values))

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _run_safely(command: Callable[[], int]) -> int:
    try:
        return command()
    except (UsageError, NotFound) as wrong:
        _write_error(str(wrong))
        return 2
    except TouchstoneError as failure:
        _write_error(str(failure))
        return 1
    except BrokenPipeError:  # the reader of our output has read enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        _write_error("interrupted; `./touchstone runs` lists the run, the workbench can resume it")
        return 1


def _write_error(sentence: str) -> None:
    if sys.stderr is not None:
        print(f"touchstone: {sentence}", file=sys.stderr, flush=True)


def _field_parameters(group: Any) -> list[inspect.Parameter]:
    kind, hints = inspect.Parameter.KEYWORD_ONLY, get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            part.name,
            kind,
            default=part.default_factory() if part.default_factory is not MISSING else part.default,
            annotation=hints[part.name],
        )
        for part in fields(group)
    ]


def repeat_options(arguments: Sequence[str], multiple: Collection[str]) -> list[str]:
    """`--pin A B` as `--pin A --pin B` for each option in `multiple`.

    Values end at the next option. Behind `--allow` and `--block` only certain hosts ("a.example",
    "*.a.example") continue the list, so that the question after them stays a question."""
    repeated: list[str] = []
    option, needs_value = "", False
    for n, argument in enumerate(arguments):
        if argument == "--":
            return [*repeated, *arguments[n:]]
        name = argument.partition("=")[0]
        if name in multiple:
            option, needs_value = name, name == argument
        elif _is_option(argument):
            option = ""
        elif option:
            is_value = option not in HOST_OPTIONS or _holds_certain_hosts(argument)
            if is_value and not needs_value:
                repeated.append(option)
            option, needs_value = option if is_value or needs_value else "", False
        repeated.append(argument)
    return repeated


def complete_options(arguments: Sequence[str], options: Mapping[str, int]) -> list[str]:
    """`--max-st 3` as `--max-steps 3`. `options` says of each name how many values it takes.

    Raises typer.TyperException for a beginning of several names."""
    completed: list[str] = []
    expected = 0  # values of the option before
    for n, argument in enumerate(arguments):
        if expected:
            expected -= 1
        elif argument == "--":
            return [*completed, *arguments[n:]]
        elif _is_option(argument):
            name, sign, value = argument.partition("=")
            if name.startswith("--") and name not in options:
                found = sorted(option for option in options if option.startswith(name))
                if len(found) > 1:
                    raise typer.BadParameter(f"{name} may be {', '.join(found[:-1])} or {found[-1]}.")
                name = found[0] if found else name
                argument = name + sign + value
            expected = max(0, options.get(name, 0) - len(sign))
        completed.append(argument)
    return completed


def put_texts_last(arguments: Sequence[str], options: Mapping[str, int]) -> list[str]:
    """`"-5 degrees?" --world demo` as `--world demo -- "-5 degrees?"`; unchanged without such a text."""
    kept: list[str] = []
    texts: list[str] = []
    expected = 0  # values of the option before
    for n, argument in enumerate(arguments):
        if expected:
            expected -= 1
        elif argument == "--":
            texts += arguments[n + 1 :]
            break
        elif _is_option(argument):
            name, sign, _ = argument.partition("=")
            expected = max(0, options.get(name, 0) - len(sign))
        else:
            texts.append(argument)
            continue
        kept.append(argument)
    if expected:  # the last option lacks its value, which typer says
        return kept
    return [*kept, "--", *texts] if any(one.startswith("-") for one in texts) else list(arguments)


def _is_option(argument: str) -> bool:
    """Whether an argument is an option, not a value: "-5 degrees" contains a blank and "-" is no name."""
    name = argument.partition("=")[0]
    return len(name) > 1 and name.startswith("-") and not _BLANK.search(name)


def _holds_certain_hosts(argument: str) -> bool:
    return all(map(_CERTAIN_HOST.match, filter(None, _SEPARATORS.split(argument.strip()))))


app = typer.Typer(cls=CommandTable, rich_markup_mode=None, context_settings=HELP_OPTIONS)


@app.callback()
def describe() -> None:
    """Touchstone: research you can check."""


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    if any("\udc80" <= c <= "\udcff" for one in arguments for c in one):
        _write_error(
            "the arguments are not UTF-8 text: set the terminal and the files you paste from to UTF-8"
        )
        return 2
    logs.set_up("readable", "WARNING", "%(levelname)s %(message)s")
    completion = any(
        one.partition("=")[0] in ("--install-completion", "--show-completion") for one in arguments
    )
    command = typer.main.get_command(app)
    try:
        return int(
            command.main(
                arguments,
                prog_name=LAUNCHER if completion else PROGRAM,
                complete_var=f"_{LAUNCHER.upper()}_COMPLETE",
                standalone_mode=False,
            )
            or 0
        )
    except typer.TyperException as wrong:
        wrong.show()  # type: ignore[attr-defined]
        return wrong.exit_code
