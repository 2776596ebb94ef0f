"""`backup`: everything that is kept, in one file, while the server runs."""

from __future__ import annotations

import time
from argparse import Namespace

from agent.cli.options import file_option
from agent.cli.output import write_stderr, write_stdout
from agent.config import read_config
from agent.errors import UsageError
from agent.store.backup import name_backup, write_backup

ARGUMENTS = (file_option("file FILE", "a new file, or a folder for one"),)


def run(args: Namespace) -> int:
    """Write a backup of the data folder; returns the exit code."""
    file, config = args.file, read_config()
    if config.DATABASE_URL:
        raise UsageError("DATABASE_URL names a database of its own: back that up with its own tools")
    target = file / name_backup(file, time.time()) if file.is_dir() else file
    manifest = write_backup(config.data_folder, target.resolve())
    size = sum(one.bytes for one in manifest.files)
    write_stderr(f"{len(manifest.files)} files, {size / 1e6:,.1f} MB; keys in it stay encrypted")
    write_stdout(str(target))
    return 0
