"""`secrets`: the keys that were saved on the Settings screen, and the key they are encrypted with."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.output import write_stderr, write_stdout
from agent.config import is_secret, read_config
from agent.errors import UsageError
from agent.saved_settings import SAVED_FILE, SavedSettings, make_key


def run(
    *,
    new_key: Annotated[bool, typer.Option("--new-key", help="print a new key, and nothing else")] = False,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="encrypt all anew with the first key of TOUCHSTONE_SECRET_KEY")
    ] = False,
    forget: Annotated[
        bool, typer.Option("--forget", help="remove those that none of the keys can decrypt")
    ] = False,
) -> int:
    """Without an option: say where the key comes from and what is saved, by name; returns the exit code."""
    if new_key + rotate + forget > 1:
        raise UsageError("give one of --new-key, --rotate and --forget")
    if new_key:
        write_stdout(make_key())
        return 0
    config = read_config()
    folders = [
        config.data_folder,
        *sorted(path.parent for path in config.data_folder.glob(f"people/*/{SAVED_FILE}")),
    ]
    for folder in folders:
        saved = SavedSettings(folder, config.TOUCHSTONE_SECRET_KEY, is_secret)
        if forget:
            write_stdout(f"{saved.path}: removed {', '.join(saved.forget_unreadable()) or 'nothing'}")
            continue
        if rotate:
            saved.check_readable()
            saved.seal()
        names = [name for name, value in saved.read().items() if is_secret(name, value)]
        write_stdout(f"{saved.path}: {', '.join(names) or 'no key saved'}")
        if lost := saved.unreadable():
            write_stderr(f"cannot be decrypted with the keys there are: {', '.join(lost)}")
        write_stderr(saved.describe_keeping())
    return 0
