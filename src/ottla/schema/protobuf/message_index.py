"""The index of a message in its file: the path of positions that serializers write before a Protobuf payload.

The first message is (0,), the second message inside of it (0, 1).
"""

from collections.abc import Sequence

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.element import File, Message


def full_name_at(file: File, indexes: Sequence[int]) -> str:
    """The full name of the message at that place."""
    names = [file.package] if file.package else []
    messages: Sequence[Message] = file.messages
    for index in indexes:
        if not 0 <= index < len(messages):
            raise InvalidSchemaError(f"there is no message at {list(indexes)}", ".".join(names))
        names.append(messages[index].name)
        messages = messages[index].messages
    return ".".join(names)


def indexes_of(file: File, full_name: str) -> tuple[int, ...]:
    """The place of the message of that full name."""
    prefix = f"{file.package}." if file.package else ""
    if not full_name.startswith(prefix):
        raise InvalidSchemaError(f"there is no message {full_name}")
    messages: Sequence[Message] = file.messages
    indexes: list[int] = []
    for name in full_name[len(prefix) :].split("."):
        found = [index for index, message in enumerate(messages) if message.name == name]
        if not found:
            raise InvalidSchemaError(f"there is no message {full_name}")
        indexes.append(found[0])
        messages = messages[found[0]].messages
    return tuple(indexes)
