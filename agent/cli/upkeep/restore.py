"""`restore`: bring back what a backup holds."""

from __future__ import annotations

from argparse import Namespace

from agent.cli.options import file_option, flag
from agent.cli.output import write_stderr, write_stdout
from agent.config import read_config, resolve_data_folder
from agent.store.backup import restore_backup, verify_backup

ARGUMENTS = (
    file_option("file FILE", "a backup that `backup` wrote"),
    file_option("--into FOLDER", "another data folder [default: the configured one]"),
    flag("--force", "replace what the folder holds; it is kept in a folder inside"),
    flag("--check", "only check every file by its hash"),
)


def run(args: Namespace) -> int:
    """Restore a backup, each file checked by its hash; returns the exit code."""
    if args.check:
        manifest = verify_backup(args.file)
        write_stdout(
            f"{args.file} of {manifest.made_at}: {len(manifest.files)} files, all as they were backed up"
        )
        return 0
    folder = (args.into or resolve_data_folder(read_config().TOUCHSTONE_DATA)).resolve()
    done = restore_backup(args.file, folder, force=bool(args.force))
    write_stdout(f"{folder}: {len(done.manifest.files)} files of {done.manifest.made_at}")
    if done.kept:
        write_stderr(f"what was there before is kept in {done.kept}")
    return 0
