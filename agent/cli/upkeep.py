"""`backup`, `restore`, `move-store`, `token` and `secrets`: for whoever runs a server."""

from __future__ import annotations

import time
from argparse import Namespace

from agent.accounts.accounts import Accounts
from agent.accounts.moves import StorePlace, back_up, move_stores
from agent.accounts.people import LOCAL
from agent.accounts.tokens import SCOPES
from agent.cli.options import command, count, file_option, flag, option, words_option
from agent.cli.output import write_stderr, write_stdout
from agent.engine.webhooks import RESTS
from agent.errors import UsageError
from agent.settings.config import is_secret, read_config, resolve_data_folder
from agent.settings.saved import SAVED_FILE, SavedSettings, make_key
from agent.store.backup import name_backup, restore_backup, verify_backup
from agent.workbench import Workbench


@command(
    option("source FROM", "a data folder, or postgresql+psycopg://user@host/name"),
    option("target TO", "the other one, empty"),
)
def move_store(args: Namespace) -> int:
    """Copy all stores of a place into another, and compare them row by row; returns the exit code."""
    paths = move_stores(StorePlace(args.source), StorePlace(args.target), write_stderr)
    write_stdout(f"{len(paths)} stores, every row compared: all are equal")
    return 0


@command(file_option("file FILE", "a new file, or a folder for one"))
def backup(args: Namespace) -> int:
    """Write a backup of the data folder, and of the stores in DATABASE_URL; returns the exit code."""
    file, config = args.file, read_config()
    target = file / name_backup(file, time.time()) if file.is_dir() else file
    manifest = back_up(config, target.resolve())
    size = sum(one.bytes for one in manifest.files)
    write_stderr(f"{len(manifest.files)} files, {size / 1e6:,.1f} MB; keys in it stay encrypted")
    if config.BODIES_URL:
        write_stderr("page bodies are only listed in it: save the place that BODIES_URL names after this")
    write_stdout(str(target))
    return 0


@command(
    file_option("file FILE", "a backup that `backup` wrote"),
    file_option("--into FOLDER", "another data folder [default: the configured one, and DATABASE_URL]"),
    flag("--force", "replace what the folder holds; it is kept in a folder inside"),
    flag("--check", "only check every file by its hash, and page bodies wherever they lie"),
    option(
        "--bodies N",
        "how many page bodies of a store --check reads [default: 100]",
        type=count,
        default="100",
    ),
)
def restore(args: Namespace) -> int:
    """Restore a backup, each file checked by its hash; returns the exit code."""
    config = read_config()
    folder = (args.into or resolve_data_folder(config.TOUCHSTONE_DATA)).resolve()
    if args.check:
        manifest = verify_backup(args.file, bodies=config.BODIES_URL, most=args.bodies)
        told = f"{args.file} of {manifest.made_at}: {len(manifest.files)} files, all as they were backed up"
        write_stdout(f"{told}, and so are up to {args.bodies} page bodies of each store")
        return 0
    if config.has_server_store and not args.into:
        StorePlace(config.DATABASE_URL).check_free(StorePlace(str(folder)))
    done = restore_backup(args.file, folder, force=bool(args.force))
    if config.has_server_store and not args.into:
        for path in move_stores(StorePlace(str(folder)), StorePlace(config.DATABASE_URL), write_stderr):
            (folder / path).unlink()
    write_stdout(f"{folder}: {len(done.manifest.files)} files of {done.manifest.made_at}")
    if done.kept:
        write_stderr(f"what was there before is kept in {done.kept}")
    return 0


@command(
    option("name NAME", "what will use it; without it the tokens there are are listed", nargs="?"),
    words_option("--for SCOPES", f"what for, comma-separated: {', '.join(SCOPES)}", "scopes"),
    option("--revoke ID", "end the token of this id, at once"),
)
def token(args: Namespace) -> int:
    """Make a token and print it, list those there are, or revoke one; returns the exit code."""
    if (config := read_config()).has_login:
        raise UsageError("people sign in on this server: each makes tokens of their own, on the screen You")
    accounts = Accounts(config)
    try:
        if args.revoke:
            accounts.tokens.revoke(LOCAL, args.revoke)
            Workbench().worker.webhooks().remove_of(args.revoke)
        elif args.name:
            _, text = accounts.tokens.create(LOCAL, args.name, args.scopes or ())
            write_stderr("Keep it where the program reads it: it is shown once.")
            write_stdout(text)
        else:
            for one in accounts.tokens.list(LOCAL):
                state = "revoked" if one.revoked_at else f"last used {one.used_at or 'never'}"
                write_stdout(f"{one.id}  {one.name}  ({', '.join(one.scopes)})  {state}")
    finally:
        accounts.close()
    return 0


@command(
    option("url URL", "the address to tell; without it the webhooks there are are listed", nargs="?"),
    words_option(
        "--on STATUSES", f"of what, comma-separated [default: all of {', '.join(RESTS)}]", "statuses"
    ),
    option("--remove ID", "tell the webhook of this id nothing more"),
)
def webhook(args: Namespace) -> int:
    """Add a webhook and print its secret, list those there are, or remove one; returns the exit code."""
    bench = Workbench()
    hooks = bench.worker.webhooks()
    if args.remove:
        hooks.remove(args.remove)
    elif args.url:
        _, secret = hooks.add(args.url, tuple(args.statuses or ()))
        write_stderr(
            "Keep the secret where the program reads it (it checks the signature): it is shown once."
        )
        write_stdout(secret)
    else:
        for one in hooks.list():
            state = f"tried {one.tries} times: {one.trouble}" if one.trouble else "well"
            by = f"  by program {one.program}" if one.program else ""
            write_stdout(f"{one.id}  {one.url}  ({', '.join(one.statuses)})  {state}{by}")
    return 0


@command(
    flag("--new-key", "print a new key, and nothing else"),
    flag("--rotate", "encrypt all anew with the first key of TOUCHSTONE_SECRET_KEY"),
    flag("--forget", "remove those that none of the keys can decrypt"),
)
def secrets(args: Namespace) -> int:
    """Without an option: say where the key comes from and what is saved, by name; returns the exit code."""
    if sum(map(bool, (args.new_key, args.rotate, args.forget))) > 1:
        raise UsageError("give one of --new-key, --rotate and --forget")
    if args.new_key:
        write_stdout(make_key())
        return 0
    config = read_config()
    of_people = (path.parent for path in config.data_folder.glob(f"people/*/{SAVED_FILE}"))
    for folder in [config.data_folder, *sorted(of_people)]:
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
