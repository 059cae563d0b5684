"""The nodes of ours that run on this machine, found by their command lines in `/proc`."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from ottla.base.config.file import PropertiesError, parse_properties
from ottla.cli.daemon import DAEMON
from ottla.cli.kafka.server_start import MODULE

_START: Final = re.compile(r"kafka-server-start(\.sh)?")
_PYTHON: Final = re.compile(r"python[0-9.]*")
_LONE_ROLES: Final = "broker,controller"


class NodeProcess(NamedTuple):
    """A running node."""

    pid: int
    node_id: int | None
    """None if its file cannot be read any more."""
    roles: frozenset[str]


def node_processes(proc: Path = Path("/proc")) -> list[NodeProcess]:
    """Every node that runs and that this user may see."""
    found = []
    for entry in sorted(proc.iterdir(), key=lambda path: path.name):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            node = _inspect(entry)
            if node is not None:
                found.append(node)
    return found


def _inspect(entry: Path) -> NodeProcess | None:
    try:
        words = [word.decode(errors="replace") for word in (entry / "cmdline").read_bytes().split(b"\0")[:-1]]
        arguments = node_arguments(words)
        if arguments is None:
            return None
        settings = _settings(arguments, Path(os.readlink(entry / "cwd")))
    except OSError:
        # It ended while we looked, or it is not ours to look at.
        return None
    node_id = settings.get("node.id", settings.get("broker.id", "1" if "process.roles" not in settings else ""))
    roles = settings.get("process.roles", _LONE_ROLES)
    return NodeProcess(
        int(entry.name),
        int(node_id) if node_id.strip().isdigit() else None,
        frozenset(role.strip() for role in roles.split(",")),
    )


def node_arguments(words: Sequence[str]) -> list[str] | None:
    """What a node's command line says behind the name of its command; None for any other process.

    >>> node_arguments(["/usr/bin/python3", "/usr/local/bin/kafka-server-start.sh", "a.properties"])
    ['a.properties']
    >>> node_arguments(["/usr/bin/python3", "/usr/local/bin/ottla", "broker", "--data", "d"])
    ['--data', 'd']
    >>> node_arguments(["vim", "kafka-server-start.sh"]), node_arguments(["grep", "ottla", "broker"])
    (None, None)
    """
    name, arguments = python_command(words)
    if _START.fullmatch(name) or name == MODULE:
        return arguments if arguments[:1] != [DAEMON] else None
    if name in ("ottla", "ottla.cli.main") and arguments[:1] == ["broker"]:
        return arguments[1:]
    return None


def python_command(words: Sequence[str]) -> tuple[str, list[str]]:
    """The script or module that a command line has Python run, and its arguments; an empty name for any other.

    >>> python_command(["python3", "-W", "-m", "ottla.cli.main", "broker"])
    ('ottla.cli.main', ['broker'])
    """
    if len(words) < 2 or not _PYTHON.fullmatch(Path(words[0]).name):
        return "", []
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        del rest[0]
    if rest[:1] == ["-m"]:
        del rest[0]
    return Path(rest[0]).name if rest else "", rest[1:]


def _settings(arguments: Sequence[str], directory: Path) -> dict[str, str]:
    """What of the node's settings its command line and file say."""
    settings: dict[str, str] = {}
    overrides = dict(_overrides(arguments))
    for word in arguments:
        path = directory / word
        if not word.startswith("-") and "=" not in word and path.is_file():
            try:
                settings.update(parse_properties(path.read_text(encoding="latin-1")))
            except PropertiesError:
                continue
    return settings | overrides


def _overrides(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word, follower in zip_longest(arguments, arguments[1:], fillvalue=""):
        text = follower if word == "--override" else word.removeprefix("--override=")
        if word.startswith("--override") and "=" in text:
            key, _, value = text.partition("=")
            yield key.strip(), value.strip()
