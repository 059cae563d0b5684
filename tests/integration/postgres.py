"""A PostgreSQL server for the length of a test, from the binaries that are installed; reached by a socket file only.

PostgreSQL refuses to run as root: then it runs as `postgres`, or as `nobody` where there is no such user.
"""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.clients.patience import until


def find_program(name: str) -> str | None:
    """The newest one of that name; Debian keeps all but the clients off the PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda found: int(found.parts[-3]))
    return shutil.which(name) or (str(installed[-1]) if installed else None)


@contextlib.contextmanager
def postgres_server(initdb: str, postgres: str) -> Iterator[str]:
    """The address of an empty server."""
    owner = _owner()
    # Not below pytest's directories, which nobody else may enter.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        who: dict[str, Any] = {"cwd": place, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        if owner is not None:
            os.chown(place, owner.pw_uid, owner.pw_gid)
            who |= {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        subprocess.run([initdb, "-D", place / "data", "-U", "postgres", "-A", "trust", "--no-sync"], check=True, **who)
        command = [postgres, "-D", place / "data", "-k", place, "-c", "listen_addresses=", "-c", "fsync=off"]
        server = subprocess.Popen(command, **{**who, "stdout": subprocess.DEVNULL})
        try:
            until(True, (place / ".s.PGSQL.5432").exists)
            yield f"postgresql://postgres@/postgres?host={place}"
        finally:
            server.terminate()
            server.wait()


def _owner() -> pwd.struct_passwd | None:
    """As whom it runs; None: as ourselves."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")
