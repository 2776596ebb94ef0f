"""`restore`: bring back what a backup holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.cli.output import write_stderr, write_stdout
from agent.config import read_config, resolve_data_folder
from agent.store.backup import restore_backup, verify_backup


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a backup that `backup` wrote")],
    *,
    into: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="another data folder [default: the configured one]")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="replace what the folder holds; it is kept in a folder inside")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="only check every file by its hash")] = False,
) -> int:
    """Restore a backup, each file checked by its hash; returns the exit code."""
    if check:
        manifest = verify_backup(file)
        write_stdout(f"{file} of {manifest.made_at}: {len(manifest.files)} files, all as they were backed up")
        return 0
    folder = (into or resolve_data_folder(read_config().TOUCHSTONE_DATA)).resolve()
    done = restore_backup(file, folder, force=force)
    write_stdout(f"{folder}: {len(done.manifest.files)} files of {done.manifest.made_at}")
    if done.kept:
        write_stderr(f"what was there before is kept in {done.kept}")
    return 0
