"""`sasl.users.file`: users and passwords in a form that people can write, read again when the file changes.

    # who may log in by PLAIN and by SCRAM
    alice: her secret
    bob: "  with blanks at its ends  "

The first colon ends the name. A line that is neither that, nor empty, nor a comment makes the whole file unusable: the
users of before stay.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.base.config import ConfigError

_log = logging.getLogger(__name__)

KEY: Final = "sasl.users.file"


def parse_users(text: str) -> dict[str, str]:
    """The password of each user. Raises `ValueError` with the number of the line, and nothing of what stands there.

    >>> sorted(parse_users("# them\\nalice: a b\\n\\nbob:\\" x \\""))
    ['alice', 'bob']
    """
    users: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, colon, password = (part.strip() for part in line.partition(":"))
        if len(password) >= 2 and password[0] == password[-1] == '"':
            password = password[1:-1]
        if not colon or not name or not password:
            raise ValueError(f"line {number} is not of the form name: password")
        if name in users:
            raise ValueError(f"line {number}: {name} is there twice")
        users[name] = password
    return users


class UserFile:
    """The users of one file."""

    def __init__(self, path: Path) -> None:
        """Raises `ConfigError` if the file can't be read or understood."""
        self._path: Final = path
        self._seen: tuple[int, int] | None = None
        self._users: Mapping[str, str] = {}
        try:
            self._read()
        except OSError as error:
            raise ConfigError(KEY, path, f"the file can't be read: {error.strerror}") from error
        except ValueError as error:
            raise ConfigError(KEY, path, str(error)) from None
        if path.stat().st_mode & 0o007:
            _log.warning("%s %s can be read by all users of this machine: chmod o= it", KEY, path)

    def password(self, name: str) -> str | None:
        """The password of a user; None if there is no such user."""
        try:
            self._read()
        except (OSError, ValueError) as error:
            _log.error("%s %s: %s; the users of before count on", KEY, self._path, error)
        return self._users.get(name)

    def _read(self) -> None:
        found = self._path.stat()
        seen = (found.st_mtime_ns, found.st_size)
        if seen != self._seen:
            self._seen = seen
            self._users = parse_users(self._path.read_text())
