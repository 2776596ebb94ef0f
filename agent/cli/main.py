"""The command line, by argparse. Progress goes to stderr, results to stdout.

`commands.txt` names each command with its module, the `Command` in it, and its help line. A module is
imported when a command of it runs, so that `--help` does not import the rest of the program.

Exit codes: 0 review was reached (an honest `no_evidence` too), 1 it failed (see stderr), 2 wrong usage."""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser
from importlib import import_module
from pathlib import Path

from agent import logs
from agent.errors import TouchstoneError, UsageError

PROGRAM = "./touchstone"
"""What usage lines and messages call the command line."""
_ROWS = Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines()
COMMANDS = {row[0]: (row[1], row[2]) for row in (line.split(" | ") for line in _ROWS)}
"""Each command: its module in this package with its name there, and its help line."""


def build_parser(name: str) -> ArgumentParser:
    """The parser of a command; what it parses holds the command's function as `run`."""
    return _add_options(ArgumentParser(f"{PROGRAM} {name}", description=COMMANDS[name][1]), name)


def _add_options(parser: ArgumentParser, name: str) -> ArgumentParser:
    module, _, attribute = COMMANDS[name][0].partition(".")
    command = getattr(import_module(f"agent.cli.{module}"), attribute)
    for names, more in command.options:
        parser.add_argument(*names, **more).required &= more.get("nargs") != REMAINDER
    parser.set_defaults(run=command.run)
    return parser


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    if any("\udc80" <= c <= "\udcff" for one in arguments for c in one):
        _write_error(
            "the arguments are not UTF-8 text: set the terminal and the files you paste from to UTF-8"
        )
        return 2
    logs.set_up("readable", "WARNING", "%(levelname)s %(message)s")
    parser = ArgumentParser(PROGRAM, description="Touchstone: research you can check.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, help="COMMAND -h tells its options")
    for name, (_, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about, description=about)
        if name in arguments[:1]:
            _add_options(command, name)
    try:
        args = parser.parse_args(arguments)
        return int(args.run(args))
    except SystemExit as ended:  # argparse has told the help, or what is wrong
        return int(ended.code or 0)
    except UsageError as wrong:
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
