"""`export`: write a run to a file."""

from __future__ import annotations

from argparse import Namespace

from agent.actions.bundle_verify import verify_bundle
from agent.actions.export import FORMATS, export_run
from agent.cli.options import RUN_ID, file_option, option
from agent.cli.output import write_file, write_stderr, write_stdout
from agent.errors import UsageError
from agent.workbench import Workbench

ARGUMENTS = (
    RUN_ID,
    option("--format FORMAT", f"one of {', '.join(FORMATS)} [default: md]", "md", choices=list(FORMATS)),
    file_option("--output FILE", "where to write it [default: stdout]"),
)


def run(args: Namespace) -> int:
    """Write the run in a format; returns the exit code."""
    if FORMATS[args.format].binary and not args.output:
        raise UsageError(f"{args.format} is not text: name a file with --output FILE")
    body = export_run(Workbench(), args.run_id, args.format)
    if not args.output:
        write_stdout(body.decode("utf-8-sig"), end="")
        return 0
    write_file(args.output, body)
    if args.format == "bundle":
        write_stderr(f"SHA-256 {verify_bundle(body).sha256}")
    return 0
