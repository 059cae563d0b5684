"""Compatibility of a schema with the earlier versions of its subject.

"Reader R reads writer W" is each schema type's matter; this module owns who reads whom, against which versions, and in
which order Confluent's registry reports it.
"""

import enum
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidSchemaError, UnknownLevelError
from ottla.schema.incompatibility import DIFFERENT_SCHEMA_TYPE, Incompatibility
from ottla.schema.parsed import ParsedSchema
from ottla.schema.policy import Policy

_QUOTED_TEXT_LENGTH_MAX: Final = 10 * 1024
"""Longer schemas are cut in messages."""


@frozen
class _Direction:
    """The checks of a level: who must read whom, and whether all earlier versions count or only the latest."""

    old_reads_new: bool = False
    new_reads_old: bool = False
    transitive: bool = False


class Level(enum.Enum):
    """A compatibility level; BACKWARD: the new schema reads what the latest wrote.

    >>> Level.parse("backward_transitive")
    <Level.BACKWARD_TRANSITIVE: 'BACKWARD_TRANSITIVE'>
    """

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @classmethod
    def parse(cls, text: str) -> "Level":
        """The level of that name in upper or lower case, or UnknownLevelError."""
        try:
            return cls(text.upper())
        except ValueError:
            *names, last = (level.value.lower() for level in _LISTED)
            raise UnknownLevelError(
                f"Invalid compatibility level. Valid values are {', '.join(names)}, and {last}"
            ) from None


_LISTED: Final = (
    Level.NONE,
    Level.BACKWARD,
    Level.FORWARD,
    Level.FULL,
    Level.BACKWARD_TRANSITIVE,
    Level.FORWARD_TRANSITIVE,
    Level.FULL_TRANSITIVE,
)

_DIRECTIONS: Final = {
    Level.NONE: _Direction(),
    Level.BACKWARD: _Direction(new_reads_old=True),
    Level.BACKWARD_TRANSITIVE: _Direction(new_reads_old=True, transitive=True),
    Level.FORWARD: _Direction(old_reads_new=True),
    Level.FORWARD_TRANSITIVE: _Direction(old_reads_new=True, transitive=True),
    Level.FULL: _Direction(old_reads_new=True, new_reads_old=True),
    Level.FULL_TRANSITIVE: _Direction(old_reads_new=True, new_reads_old=True, transitive=True),
}


def check(
    level: Level, new: ParsedSchema, earlier: Sequence[tuple[int, ParsedSchema]], policy: Policy = Policy.STRICT
) -> tuple[Incompatibility, ...]:
    """Why `new` may not follow the `earlier` versions, oldest first in the sequence; empty when it may.

    Versions are tried from the latest backwards and the first that disagrees is reported, as Confluent's registry does.
    `earlier` is only indexed as far as it is needed, so that it may parse lazily.
    """
    direction = _DIRECTIONS[level]
    if level is Level.NONE or not earlier:
        return ()
    oldest = 0 if direction.transitive else len(earlier) - 1
    for index in range(len(earlier) - 1, oldest - 1, -1):
        version, old = earlier[index]
        found = _between(direction, new, version, old, policy)
        if found:
            return found
    return ()


def messages(level: Level, found: Sequence[Incompatibility], earlier: Sequence[tuple[int, ParsedSchema]]) -> list[str]:
    """The lines that Confluent's registry answers for what `check` found: its texts, then the old version and its text.

    A check both ways quotes the old schema only if the new one failed to read it.
    """
    lines = [incompatibility.text() for incompatibility in found]
    quoting = "new" if _DIRECTIONS[level].new_reads_old else "old"
    culprit = next((one for one in found if one.reader == quoting and one.rule != DIFFERENT_SCHEMA_TYPE.rule), None)
    if culprit is None:
        return lines
    version = culprit.writer_version if quoting == "new" else culprit.reader_version
    text = next(old.canonical_text for number, old in earlier if number == version)
    lines.append(f"{{oldSchemaVersion: {version}}}")
    if len(text) <= _QUOTED_TEXT_LENGTH_MAX:
        lines.append(f"{{oldSchema: '{text}'}}")
    else:
        lines.append(f"{{oldSchema: <truncated> '{text[:_QUOTED_TEXT_LENGTH_MAX]}...'}}")
    return lines


def _between(
    direction: _Direction, new: ParsedSchema, version: int, old: ParsedSchema, policy: Policy
) -> tuple[Incompatibility, ...]:
    if new.schema_type is not old.schema_type:
        return (replace(DIFFERENT_SCHEMA_TYPE, writer_version=version),)
    found: list[Incompatibility] = []
    if direction.old_reads_new:
        found += (
            replace(one, reader="old", writer="new", reader_version=version, writer_version=None)
            for one in _incompatibilities(old, new, policy)
        )
    if direction.new_reads_old:
        found += (
            replace(one, reader="new", writer="old", reader_version=None, writer_version=version)
            for one in _incompatibilities(new, old, policy)
        )
    return tuple(found)


def _incompatibilities(reader: ParsedSchema, writer: ParsedSchema, policy: Policy) -> tuple[Incompatibility, ...]:
    """Schemas that are too large to be compared count as incompatible: it is unknown whether they are."""
    try:
        return reader.incompatibilities(writer, policy)
    except InvalidSchemaError as error:
        return (
            Incompatibility(
                rule="NOT_COMPARABLE",
                reader_path=error.path,
                writer_path=error.path,
                message=f"Unexpected exception during compatibility check: {error.message}",
                advice="Divide the schema into smaller ones, or unions with fewer branches.",
            ),
        )
