"""`secrets`: the keys that were saved on the Settings screen, and the key they are encrypted with."""

from __future__ import annotations

from argparse import Namespace

from agent.cli.options import flag
from agent.cli.output import write_stderr, write_stdout
from agent.config import is_secret, read_config
from agent.errors import UsageError
from agent.saved_settings import SAVED_FILE, SavedSettings, make_key

ARGUMENTS = (
    flag("--new-key", "print a new key, and nothing else"),
    flag("--rotate", "encrypt all anew with the first key of TOUCHSTONE_SECRET_KEY"),
    flag("--forget", "remove those that none of the keys can decrypt"),
)


def run(args: Namespace) -> int:
    """Without an option: say where the key comes from and what is saved, by name; returns the exit code."""
    if sum(map(bool, (args.new_key, args.rotate, args.forget))) > 1:
        raise UsageError("give one of --new-key, --rotate and --forget")
    if args.new_key:
        write_stdout(make_key())
        return 0
    config = read_config()
    folders = [
        config.data_folder,
        *sorted(path.parent for path in config.data_folder.glob(f"people/*/{SAVED_FILE}")),
    ]
    for folder in folders:
        saved = SavedSettings(folder, config.TOUCHSTONE_SECRET_KEY, is_secret)
        if args.forget:
            write_stdout(f"{saved.path}: removed {', '.join(saved.forget_unreadable()) or 'nothing'}")
            continue
        if args.rotate:
            saved.check_readable()
            saved.seal()
        names = [name for name, value in saved.read().items() if is_secret(name, value)]
        write_stdout(f"{saved.path}: {', '.join(names) or 'no key saved'}")
        if lost := saved.unreadable():
            write_stderr(f"cannot be decrypted with the keys there are: {', '.join(lost)}")
        write_stderr(saved.describe_keeping())
    return 0
