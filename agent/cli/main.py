"""The command line, by argparse. Progress goes to stderr, results to stdout.

`COMMANDS` names each command with its module, the `Command` in it, and its help line. A module is imported
when a command of it runs, so that `--help` does not import the rest of the program.

Exit codes: 0 review was reached (an honest `no_evidence` too), 1 it failed (see stderr), 2 wrong usage."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module

from agent import logs
from agent.errors import NotFound, TouchstoneError, UsageError

PROGRAM = "./touchstone"
"""What usage lines and messages call the command line."""
COMMANDS = {
    "research": ("ask.research", "Ask a question and get a checked answer."),
    "site": ("ask.site", "Ask chosen websites, with follow-ups."),
    "collect": ("ask.collect", "Gather articles or threads from start pages."),
    "chat": ("ask.chat", "Talk with the library."),
    "reply": ("reply.reply", "Answer a conversation from the knowledge base, or stay silent."),
    "batch": ("batch.batch", "Ask many questions from a table, side by side within a budget."),
    "eval": ("evaluate.evaluate", "Score a world by its questions."),
    "runs": ("runs.runs", "List the runs, newest first."),
    "act": ("act.act", "Do with a run what the screens can do: approve, send back, edit its facts, branch …"),
    "check-text": ("check.check_text", "Check a text, claim by claim, against the sources it cites."),
    "check": ("check.check", "Check whether quotes support statements, for a file of them."),
    "export": ("runs.export", "Write a run to a file."),
    "verify": ("runs.verify", "Check an evidence bundle, and its sources as they are now."),
    "import": ("runs.import_", "Open an evidence bundle as a run."),
    "backup": ("upkeep.backup", "Write everything that is kept to one file, while the server runs."),
    "restore": ("upkeep.restore", "Bring back what a backup holds."),
    "secrets": ("upkeep.secrets", "The keys saved in Settings: how they are encrypted, and with a new key."),
}
"""Each command: its module in this package with its name there, and its help line."""

HOST_OPTIONS = ("--allow", "--block")
_CERTAIN_HOST = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)+(:\d+)?\Z|localhost\Z|https?://\S+\Z")
_SEPARATORS = re.compile(r"[\s,]+")


def build_parser(name: str) -> ArgumentParser:
    """The parser of a command; what it parses holds the command's function as `run`."""
    place, about = COMMANDS[name]
    module, _, attribute = place.partition(".")
    command = getattr(import_module(f"agent.cli.{module}"), attribute)
    parser = ArgumentParser(f"{PROGRAM} {name}", description=about)
    for names, more in command.options:
        parser.add_argument(*names, **more)
    parser.set_defaults(run=command.run)
    return parser


def separate_hosts(arguments: Sequence[str]) -> list[str]:
    """`--allow A B QUESTION` as `--allow A --allow B QUESTION`: only certain hosts ("a.example",
    "*.a.example") continue a list of hosts, so that the question after them stays a question."""
    separated: list[str] = []
    name = before = ""
    for argument in arguments:
        if argument.startswith("--"):
            name = argument.partition("=")[0]
        elif before != name and name in HOST_OPTIONS:
            if all(map(_CERTAIN_HOST.match, filter(None, _SEPARATORS.split(argument.strip())))):
                separated.append(name)
            else:
                name = ""
        separated.append(argument)
        before = argument
    return separated


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    if any("\udc80" <= c <= "\udcff" for one in arguments for c in one):
        _write_error(
            "the arguments are not UTF-8 text: set the terminal and the files you paste from to UTF-8"
        )
        return 2
    logs.set_up("readable", "WARNING", "%(levelname)s %(message)s")
    table = "\n".join(f"  {name:<12}{about}" for name, (_, about) in COMMANDS.items())
    commands = ArgumentParser(
        PROGRAM,
        usage=f"{PROGRAM} COMMAND [OPTIONS]",
        description=f"Touchstone: research you can check.\n\n{table}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    commands.add_argument("command", metavar="COMMAND", choices=COMMANDS, help="COMMAND -h tells its options")
    try:
        name = commands.parse_args(arguments[:1]).command
        args = build_parser(name).parse_args(separate_hosts(arguments[1:]))
        return int(args.run(args))
    except SystemExit as ended:  # argparse has told the help, or what is wrong
        return int(ended.code or 0)
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
