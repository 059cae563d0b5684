"""The kinds of changes between two versions of a Protobuf schema, named as in Confluent's registry."""

from enum import Enum
from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.incompatibility import Incompatibility


class Change(Enum):
    """A kind of change."""

    PACKAGE_CHANGED = "PACKAGE_CHANGED"
    MESSAGE_ADDED = "MESSAGE_ADDED"
    MESSAGE_REMOVED = "MESSAGE_REMOVED"
    MESSAGE_MOVED = "MESSAGE_MOVED"
    ENUM_ADDED = "ENUM_ADDED"
    ENUM_REMOVED = "ENUM_REMOVED"
    ENUM_CONST_ADDED = "ENUM_CONST_ADDED"
    ENUM_CONST_CHANGED = "ENUM_CONST_CHANGED"
    ENUM_CONST_REMOVED = "ENUM_CONST_REMOVED"
    FIELD_ADDED = "FIELD_ADDED"
    FIELD_REMOVED = "FIELD_REMOVED"
    FIELD_NAME_CHANGED = "FIELD_NAME_CHANGED"
    FIELD_KIND_CHANGED = "FIELD_KIND_CHANGED"
    FIELD_SCALAR_KIND_CHANGED = "FIELD_SCALAR_KIND_CHANGED"
    FIELD_NAMED_TYPE_CHANGED = "FIELD_NAMED_TYPE_CHANGED"
    FIELD_NUMERIC_LABEL_CHANGED = "FIELD_NUMERIC_LABEL_CHANGED"
    FIELD_STRING_OR_BYTES_LABEL_CHANGED = "FIELD_STRING_OR_BYTES_LABEL_CHANGED"
    REQUIRED_FIELD_ADDED = "REQUIRED_FIELD_ADDED"
    REQUIRED_FIELD_REMOVED = "REQUIRED_FIELD_REMOVED"
    ONEOF_ADDED = "ONEOF_ADDED"
    ONEOF_REMOVED = "ONEOF_REMOVED"
    ONEOF_FIELD_ADDED = "ONEOF_FIELD_ADDED"
    ONEOF_FIELD_REMOVED = "ONEOF_FIELD_REMOVED"
    ONEOF_FIELD_MOVED_TO_TOP_LEVEL = "ONEOF_FIELD_MOVED_TO_TOP_LEVEL"
    MULTIPLE_FIELDS_MOVED_TO_ONEOF = "MULTIPLE_FIELDS_MOVED_TO_ONEOF"
    FIELD_MOVED_TO_EXISTING_ONEOF = "FIELD_MOVED_TO_EXISTING_ONEOF"


@frozen
class Difference:
    """A change and where it is: `#/Message/field number`, through nested messages and oneofs."""

    change: Change
    path: str

    def incompatibility(self) -> Incompatibility | None:
        """Why a reader fails over this change; None when it does not."""
        words = _BREAKING.get(self.change)
        if words is None:
            return None
        description, advice = words
        place = f"'{self.path}'"
        return Incompatibility(
            rule=self.change.value,
            reader_path=self.path,
            writer_path=self.path,
            message=f'{{errorType:"{self.change.value}", description:"{description.replace("PATH", place)}"}}',
            advice=advice.replace("PATH", self.path),
        )


_NEW: Final = "{reader} schema"
_OLD: Final = "{writer} schema"

_BREAKING: Final = {
    Change.PACKAGE_CHANGED: (
        f"The package at PATH in the {_NEW} does not match the package in the {_OLD}",
        "Keep the package, or register the schema under another subject.",
    ),
    Change.MESSAGE_REMOVED: (
        f"The {_NEW} is missing a MESSAGE type at path PATH in the {_OLD}",
        "Keep the message PATH, if need be without fields and marked as deprecated.",
    ),
    Change.FIELD_KIND_CHANGED: (
        f"The type of a field at path PATH in the {_NEW} does not match the {_OLD}",
        "Give the new type a field with a number of its own instead of changing PATH.",
    ),
    Change.FIELD_SCALAR_KIND_CHANGED: (
        f"The kind of a SCALAR field at path PATH in the {_NEW} does not match its kind in the {_OLD}",
        "Give the new type a field with a number of its own: the bytes of PATH would be read as something else.",
    ),
    Change.FIELD_NAMED_TYPE_CHANGED: (
        f"The type of a MESSAGE field at path PATH in the {_NEW} does not match its type in the {_OLD}",
        "Keep the message that PATH holds, or add a field with a number of its own for the other message.",
    ),
    Change.FIELD_NUMERIC_LABEL_CHANGED: (
        f"The label for a NUMERIC field at path PATH in the {_NEW} does not match its label in the {_OLD}",
        "Keep the label of PATH, or add a field with a number of its own.",
    ),
    Change.REQUIRED_FIELD_ADDED: (
        f"A required field  at path PATH in the {_NEW} is missing in the {_OLD}",
        "Make PATH optional: what was written before lacks it.",
    ),
    Change.REQUIRED_FIELD_REMOVED: (
        f"The {_NEW} is missing a required field at path: PATH in the {_OLD}",
        "Keep the required field PATH: other readers insist on it.",
    ),
    Change.ONEOF_FIELD_REMOVED: (
        f"The {_NEW} is missing a oneof field at path PATH in the {_OLD}",
        "Keep PATH in its oneof: a reader could not tell its absence from the oneof not being set.",
    ),
    Change.MULTIPLE_FIELDS_MOVED_TO_ONEOF: (
        f"Multiple fields in the oneof at path PATH in the {_NEW} are outside a oneof in the {_OLD}",
        "Move one field at most into the oneof PATH: of several that were set, all but the last would be lost.",
    ),
    Change.FIELD_MOVED_TO_EXISTING_ONEOF: (
        f"A field in the oneof at path PATH in the {_NEW} is outside an existing oneof in the {_OLD}",
        "Keep the field outside of the oneof PATH: set together with its members, one of them would be lost.",
    ),
}
