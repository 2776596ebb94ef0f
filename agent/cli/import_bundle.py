"""`import`: open an evidence bundle as a run."""

from __future__ import annotations

from argparse import Namespace

from agent.actions.bundle_import import import_bundle
from agent.cli.evidence.verify import BUNDLE
from agent.cli.output import read_file, write_stderr, write_stdout
from agent.errors import BundleError
from agent.export.archive import MAX_BYTES
from agent.export.escaping import to_one_line
from agent.workbench import Workbench

ARGUMENTS = (BUNDLE,)


def run(args: Namespace) -> int:
    """Import a bundle that verifies and print the id of its run; returns the exit code."""
    data = read_file(args.bundle, MAX_BYTES + 1)
    try:
        imported = import_bundle(Workbench(), data)
    except BundleError as refused:
        write_stderr(f"touchstone: {to_one_line(str(refused))}")
        return 1
    if imported.is_renamed:
        write_stderr(f"a run {imported.original_id} exists already, so this one is called {imported.run_id}")
    found = imported.verification
    write_stderr(
        f"{found.found_quote_count} of {found.quote_count} quotes are in their pages; marked as imported"
    )
    write_stdout(imported.run_id)
    return 0
