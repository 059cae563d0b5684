"""Objects of the user's classes as dicts, and back: dataclasses, named tuples, and classes that can do it themselves.

Pydantic's `model_dump` and `model_validate`, and any class's `to_dict` and `from_dict`, are used where they are.
"""

import dataclasses
import datetime
import decimal
import types
import typing
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

_LEAVES: Final = frozenset(
    (
        *(str, int, float, bool, bytes, bytearray, memoryview, type(None)),
        *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID),
    )
)


def to_plain(value: object) -> object:
    """The value in dicts and lists; what is plain already is returned as it is.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    >>> to_plain([Point(1)])
    [{'x': 1}]
    """
    return value if _is_plain(value) else _converted(value)


def _is_plain(value: object) -> bool:
    kind = type(value)
    if kind in _LEAVES:
        return True
    items: Iterable[object]
    if kind is dict:
        items = typing.cast(dict[object, object], value).values()
    elif kind is list or kind is tuple:
        items = typing.cast(list[object], value)
    else:
        return False
    # No generator: it would double the cost of every record.
    for item in items:  # noqa: SIM110
        if type(item) not in _LEAVES and not _is_plain(item):
            return False
    return True


def _converted(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    for name in ("model_dump", "to_dict", "_asdict"):
        method = getattr(value, name, None)
        if callable(method):
            return to_plain(method())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    if isinstance(value, tuple):
        # fastavro's way to name the branch of a union: (name, value).
        return tuple(to_plain(item) for item in value)
    return value


def builder(target: object) -> Callable[[Any], Any]:
    """A converter of dicts into objects: a dataclass, a class with `model_validate` or `from_dict`, or any callable."""
    if isinstance(target, type):
        for name in ("model_validate", "from_dict"):
            method = getattr(target, name, None)
            if callable(method):
                return typing.cast(Callable[[Any], Any], method)
        if dataclasses.is_dataclass(target):
            return lambda value: _build(target, value)
    if callable(target):
        return target
    raise TypeError(f"{target!r} makes no objects: it is neither a class nor callable")


def _build(hint: Any, value: Any) -> Any:
    """The value in the shape that a type hint asks for; what the hint does not say stays as it is."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, Mapping):
        hints = typing.get_type_hints(hint)
        known = {field.name for field in dataclasses.fields(hint) if field.init}
        return hint(**{name: _build(hints[name], item) for name, item in value.items() if name in known})
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        fitting = (one for one in arguments if dataclasses.is_dataclass(one) or typing.get_origin(one) is not None)
        return value if value is None else _build(next(fitting, None), value)
    if isinstance(value, list) and arguments:
        return [_build(arguments[0], item) for item in value]
    if isinstance(value, Mapping) and len(arguments) == 2:
        return {key: _build(arguments[1], item) for key, item in value.items()}
    return value
