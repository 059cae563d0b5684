"""`schema-registry-stop`: asks the schema registries that run on this machine to stop."""

import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ottla.cli.argument import ToolParser
from ottla.cli.ending import ends_quietly
from ottla.cli.kafka.schema_registry_start import DAEMON, MODULE
from ottla.cli.node_process import python_command

_START: Final = re.compile(r"schema-registry-start(\.sh)?")


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code."""
    ToolParser(prog="schema-registry-stop", description=(__doc__ or "").partition(": ")[2]).parse_args(arguments)
    running = list(registry_processes())
    if not running:
        print("No schema registry to stop")
        return 1
    code = 0
    for pid in running:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            continue
        except PermissionError:
            print(f"schema-registry-stop: process {pid} belongs to another user", file=sys.stderr)
            code = 1
    return code


def registry_processes(proc: Path = Path("/proc")) -> Iterator[int]:
    """The processes that this user may see."""
    for entry in proc.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = [word.decode(errors="replace") for word in (entry / "cmdline").read_bytes().split(b"\0")[:-1]]
        except OSError:
            continue  # it ended while we looked
        if is_registry(words):
            yield int(entry.name)


def is_registry(words: Sequence[str]) -> bool:
    """Whether a command line is a registry's.

    >>> is_registry(["python3", "/usr/bin/schema-registry-start", "a.properties"])
    True
    >>> is_registry(["python3", "/usr/bin/ottla", "registry"]), is_registry(["vim", "schema-registry-start"])
    (True, False)
    """
    name, arguments = python_command(words)
    if _START.fullmatch(name) or name == MODULE:
        return arguments[:1] != [DAEMON]
    return name in ("ottla", "ottla.cli.main") and arguments[:1] == ["registry"]


if __name__ == "__main__":
    sys.exit(main())
