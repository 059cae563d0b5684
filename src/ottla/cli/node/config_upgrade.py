"""`ottla config upgrade`: a server file of older Kafka, written anew for 4.3, with a comment at each changed line.

Comments, order and everything that 4.3 still knows stay as they are.
"""

from pathlib import Path
from typing import Final

from ottla.base.config.file import PropertiesError, parse_property_lines
from ottla.base.errors import OttlaError
from ottla.broker.config.older import Replacement, replacements, standalone

_ALONE: Final = "this node is its own controller; nodes of one cluster share controller.quorum.bootstrap.servers"
_UNCHANGED: Final = "# ottla config upgrade: nothing in this file is of an older Kafka."


class UpgradeError(OttlaError):
    """A file that cannot be upgraded."""


def upgraded_file(path: str) -> str:
    """The text of the file for 4.3."""
    try:
        text = Path(path).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise UpgradeError(f"{path}: {error.strerror}; give the server.properties of an older Kafka") from None
    try:
        return upgraded(text)
    except PropertiesError as error:
        raise UpgradeError(f"{path}, {error}") from error


def upgraded(text: str) -> str:
    r"""The text for 4.3.

    >>> print(upgraded("process.roles=broker\nport=19693\n"), end="")
    process.roles=broker
    # 4.3: port=19693 is gone, listeners names host and port
    listeners=PLAINTEXT://:19693
    """
    found = parse_property_lines(text)
    given = {name: setting.value for name, setting in found.items()}
    changes = replacements(given)
    new = {name: value for change in changes.values() for name, value in change.settings.items()}
    added = standalone(given | new)
    if not changes and not added:
        return f"{_UNCHANGED}\n{text}"
    by_line = {setting.line: name for name, setting in found.items()}
    lines, out = text.splitlines(), []
    index = 0
    while index < len(lines):
        last = _last_line(lines, index)
        name = by_line.get(index + 1)
        out += _rewritten(lines[index : last + 1], name, changes, added)
        index = last + 1
    rest = {name: value for name, value in added.items() if name not in {*given, *new}}
    if rest:
        out += ["", f"# 4.3: added, {_ALONE}", *(f"{name}={value}" for name, value in _quorum_last(rest))]
    return "\n".join(out) + "\n"


def _rewritten(lines: list[str], name: str | None, changes: dict[str, Replacement], added: dict[str, str]) -> list[str]:
    """The lines of one setting, or a line that is none."""
    if name in changes:
        change = changes[name]
        was = lines[0].strip() if len(lines) == 1 else name
        comments = [f"# 4.3: {was} is gone, {change.reason}", *(f"#   {line}" for line in lines if len(lines) > 1)]
        return [*comments, *(f"{key}={added.get(key, value)}" for key, value in change.settings.items())]
    if name is not None and name in added:
        return [f"# 4.3: was {lines[0].strip()}, the controller listens, too", f"{name}={added[name]}"]
    return lines


def _last_line(lines: list[str], first: int) -> int:
    """The last line of a setting that goes on over several, each but the last with a backslash at its end."""
    last = first
    while last + 1 < len(lines) and not lines[first].lstrip().startswith(("#", "!")) and _goes_on(lines[last]):
        last += 1
    return last


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _quorum_last(settings: dict[str, str]) -> list[tuple[str, str]]:
    """What a cluster of several has to change stands last."""
    return sorted(settings.items(), key=lambda item: item[0].startswith("controller.quorum"))
