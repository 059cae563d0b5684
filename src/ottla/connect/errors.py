"""The errors of Connect, by Kafka's names, and the trace of a failed task.

`java_name` is the class that dead letter headers and traces name, since tools and people look for it.
"""

import traceback
from typing import ClassVar, Final

from ottla.base.errors import OttlaError


class ConnectError(OttlaError):
    """The root of Connect's errors."""

    java_name: ClassVar[str] = "org.apache.kafka.connect.errors.ConnectException"


class DataError(ConnectError):
    """A value or a schema that does not fit."""

    java_name = "org.apache.kafka.connect.errors.DataException"


class SchemaBuilderError(DataError):
    """An inconsistent schema."""

    java_name = "org.apache.kafka.connect.errors.SchemaBuilderException"


class SchemaProjectorError(DataError):
    """A value of one schema cannot become one of another."""

    java_name = "org.apache.kafka.connect.errors.SchemaProjectorException"


class IllegalArgumentError(ConnectError):
    """A field that the schema lacks, or an invalid pattern."""

    java_name = "java.lang.IllegalArgumentException"


class NoSuchGroupError(ConnectError):
    """A replacement names a group that its regular expression lacks."""

    java_name = "java.lang.IndexOutOfBoundsException"


class RetriableError(ConnectError):
    """A temporary error: the worker tries the batch again."""

    java_name = "org.apache.kafka.connect.errors.RetriableException"


class NotFoundError(ConnectError):
    """There is no such connector, task or plugin."""

    java_name = "org.apache.kafka.connect.errors.NotFoundException"


class InvalidConfigError(ConnectError):
    """A configuration that cannot be used; the message is Kafka's."""

    java_name = "org.apache.kafka.common.config.ConfigException"

    @classmethod
    def of(cls, name: str, value: object, reason: str) -> "InvalidConfigError":
        """The usual sentence about one setting."""
        return cls(f"Invalid value {value} for configuration {name}: {reason}")


_PYTHON_NAMES: Final = {
    "ValueError": "java.lang.IllegalArgumentException",
    "TypeError": "java.lang.ClassCastException",
    "MemoryError": "java.lang.OutOfMemoryError",
    "FileNotFoundError": "java.nio.file.NoSuchFileException",
    "OSError": "java.io.IOException",
}


def java_name(error: BaseException) -> str:
    """The class that Kafka would name; an error of a connector in Python has its own module and name.

    >>> java_name(DataError("x")), java_name(KeyError("x"))
    ('org.apache.kafka.connect.errors.DataException', 'builtins.KeyError')
    """
    if isinstance(error, ConnectError):
        return error.java_name
    cls = type(error)
    return _PYTHON_NAMES.get(cls.__name__, f"{cls.__module__}.{cls.__qualname__}")


def trace(error: BaseException) -> str:
    """`class: message`, a line for each frame, then what caused it: the shape that Kafka's status has."""
    lines: list[str] = []
    current: BaseException | None = error
    while current is not None:
        message = str(current)
        head = f"{java_name(current)}: {message}" if message else java_name(current)
        lines.append(head if current is error else f"Caused by: {head}")
        frames = traceback.extract_tb(current.__traceback__)
        lines += [f"\tat {frame.name}({frame.filename}:{frame.lineno})" for frame in reversed(frames)]
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n".join(lines) + "\n"
