"""Users who log in by SCRAM: list, set and delete them. PLAIN's users stand in the settings of the brokers.

ottla users list
ottla users set alice                          asks for the password
ottla users set alice --generate               makes a strong one, and prints it once
ottla users set alice --password-file FILE --mechanism SCRAM-SHA-256
ottla users delete alice
"""

import argparse
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.cli.connection import add_actions, run_admin
from ottla.cli.output.advice import CommandError
from ottla.cli.output.confirmation import add_yes, confirm

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_ACTIONS: Final = {
    "list": "list users with their mechanisms",
    "set": "create a user, or give it another password",
    "delete": "delete a user",
}
MECHANISMS: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_ITERATIONS: Final = 8_192
_PASSWORD_BYTES: Final = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = add_actions(parser, _ACTIONS)
    change = actions["set"]
    change.add_argument("user", metavar="USER", help="the name")
    change.add_argument(
        "--iterations", type=int, default=_ITERATIONS, metavar="N", help="4096 to 16384 (default: 8192)"
    )
    source = change.add_mutually_exclusive_group()
    source.add_argument("--password-file", metavar="FILE", help="the password is the file's first line; - is stdin")
    source.add_argument("--generate", action="store_true", help="make a strong password, and print it")
    delete = actions["delete"]
    delete.add_argument("user", metavar="USER", help="the name")
    for action in (change, delete):
        action.add_argument(
            "--mechanism", action="append", choices=MECHANISMS, help="only for this mechanism (default: both)"
        )
    add_yes(delete)


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    if options.action == "list":
        return run_admin(options, _list)
    if options.action == "delete":
        confirm(f"Delete the user {options.user}?", is_answered=options.yes)
        return run_admin(options, _delete)
    options.password = _password(options)
    return run_admin(options, _set)


def new_password() -> str:
    """A strong one, without characters that mean something in files of settings."""
    return secrets.token_urlsafe(_PASSWORD_BYTES)


def _password(options: argparse.Namespace) -> str:
    """Never from the command line: others on the machine see that."""
    if options.generate:
        return new_password()
    if options.password_file == "-":
        text = sys.stdin.readline()
    elif options.password_file is not None:
        try:
            text = Path(options.password_file).read_text(encoding="utf-8")
        except OSError as error:
            raise CommandError(f"--password-file {options.password_file}: {error.strerror}") from None
    elif sys.stdin.isatty():
        import getpass

        text = getpass.getpass(f"Password of {options.user}: ")
    else:
        raise CommandError("a password is needed: --generate, --password-file FILE, or a terminal to ask at")
    password = text.split("\n", 1)[0].rstrip("\r")
    if not password:
        raise CommandError("the password is empty; give one, or --generate")
    return password


async def _list(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.output.document import print_document
    from ottla.cli.output.style import Style
    from ottla.cli.output.table import table

    users = await admin.describe_user_scram_credentials()
    found = [(user, info.mechanism.mechanism_name, info.iterations) for user in sorted(users) for info in users[user]]
    if options.json:
        print_document([{"user": user, "mechanism": name, "iterations": count} for user, name, count in found])
    elif found:
        print(table(("User", "Mechanism", "Iterations"), found, Style.of()))
    else:
        print("There are no SCRAM users.")
    return 0


async def _set(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.output.document import print_document
    from ottla.client.admin.value.scram import ScramMechanism, UserScramCredentialUpsertion

    names = options.mechanism or MECHANISMS
    for name in names:
        # Kafka takes one change of a user in a request.
        mechanism, password = ScramMechanism[name.replace("-", "_")], options.password.encode()
        await admin.alter_user_scram_credentials(
            [UserScramCredentialUpsertion(options.user, mechanism, password, options.iterations)]
        )
    if options.json:
        shown = {"password": options.password} if options.generate else {}
        print_document({"user": options.user, "mechanisms": list(names), **shown})
    else:
        print(f"{options.user} can log in by {' and '.join(names)}.")
        if options.generate:
            print(f"Password, shown this once: {options.password}")
    return 0


async def _delete(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.client.admin.value.scram import UserScramCredentialDeletion

    infos = (await admin.describe_user_scram_credentials([options.user]))[options.user]
    wanted = options.mechanism or MECHANISMS
    for info in infos:
        if info.mechanism.mechanism_name in wanted:
            await admin.alter_user_scram_credentials([UserScramCredentialDeletion(options.user, info.mechanism)])
    print(f"{options.user} is deleted.")
    return 0
