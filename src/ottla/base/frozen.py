"""Frozen classes with slots: what `dataclass(frozen=True, slots=True)` makes, made in a tenth of the time.

The standard library writes and compiles six functions for each such class while its module is imported, which was a
quarter of a broker's start. Here they are compiled when they are first needed, or come ready-made.
`dataclasses.fields`, `replace` and `asdict` work on these classes as on any dataclass; one that defines a method itself
keeps its own. `InitVar` is not for them.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, Final, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _Factory()
"""In the place of an argument: the field's factory makes the value."""


@overload
def frozen(cls: type[_T], /) -> type[_T]: ...


@overload
def frozen(*, kw_only: bool) -> Callable[[type[_T]], type[_T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Any] | None = None, /, *, kw_only: bool = False) -> Any:
    """Makes a class of annotated fields frozen, with slots.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), len({Point(1), Point(1)})
    (Point(x=1, y=0), True, 1)
    """
    return _made(cls, kw_only=kw_only) if cls is not None else lambda given: _made(given, kw_only=kw_only)


def _made(cls: type[Any], *, kw_only: bool) -> type[Any]:
    own = set(vars(cls))
    # The standard library would look for a signature to put there, with a module that takes a while to import.
    cls.__doc__ = cls.__doc__ or cls.__name__
    made = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
    if vars(cls).get("__hash__", MISSING) is None:
        own.discard("__hash__")  # Python's own doing, where a class compares in a way of its own
    for name, method in _methods(made).items():
        if name not in own:
            setattr(made, name, method)
    return made


def _methods(made: type[Any]) -> dict[str, Any]:
    all_fields = fields(made)
    names = frozenset(each.name for each in all_fields)

    @recursive_repr()
    def shown(self: Any) -> str:
        listed = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in all_fields if each.repr)
        return f"{self.__class__.__qualname__}({listed})"

    def assign(self: Any, name: str, value: Any) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    return {
        "__init__": _CompiledLater(made, "__init__", _init_source),
        "__eq__": _CompiledLater(made, "__eq__", _eq_source),
        "__hash__": _CompiledLater(made, "__hash__", _hash_source),
        "__repr__": shown,
        "__setattr__": assign,
        "__delattr__": delete,
        "__getstate__": _state,
        "__setstate__": _set_state,
    }


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


class _CompiledLater:
    """A method that replaces itself at the first access: to call it, or to see its signature."""

    def __init__(self, made: type[Any], name: str, source: Callable[[type[Any], dict[str, Any]], str]) -> None:
        self._made: Final = made
        self._name: Final = name
        self._source: Final = source

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        scope: dict[str, Any] = {"__name__": self._made.__module__}
        exec(self._source(self._made, scope), scope)
        compiled = scope[self._name]
        compiled.__annotations__ = scope.get("_types", {})
        compiled.__qualname__ = f"{self._made.__qualname__}.{self._name}"
        setattr(self._made, self._name, compiled)
        return compiled.__get__(instance, owner)


def _eq_source(made: type[Any], _: dict[str, Any]) -> str:
    names = [each.name for each in fields(made) if each.compare]
    return (
        "def __eq__(self, other):\n"
        " if other.__class__ is not self.__class__:\n"
        "  return NotImplemented\n"
        f" return {_values('self', names)} == {_values('other', names)}"
    )


def _hash_source(made: type[Any], _: dict[str, Any]) -> str:
    names = [each.name for each in fields(made) if (each.compare if each.hash is None else each.hash)]
    return f"def __hash__(self):\n return hash({_values('self', names)})"


def _values(instance: str, names: list[str]) -> str:
    return f"({''.join(f'{instance}.{name}, ' for name in names)})"


def _init_source(made: type[Any], scope: dict[str, Any]) -> str:
    """Sets each slot by its descriptor, past `__setattr__`."""
    scope["_FACTORY"] = _FACTORY
    scope["_types"] = {each.name: each.type for each in fields(made) if each.init} | {"return": None}
    positional: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    for each in fields(made):
        if each.init:
            (named if each.kw_only else positional).append(_parameter(each, scope))
        elif each.default is MISSING and each.default_factory is MISSING:
            continue
        scope[f"_set_{each.name}"] = getattr(made, each.name).__set__
        lines.append(f" _set_{each.name}(self, {_value(each, scope)})")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    return f"def __init__({parameters}):\n" + "\n".join(lines or [" pass"])


def _parameter(each: "Field[Any]", scope: dict[str, Any]) -> str:
    if each.default is not MISSING:
        scope[f"_default_{each.name}"] = each.default
        return f"{each.name}=_default_{each.name}"
    return each.name if each.default_factory is MISSING else f"{each.name}=_FACTORY"


def _value(each: "Field[Any]", scope: dict[str, Any]) -> str:
    """The expression of a field's value."""
    if each.default_factory is not MISSING:
        scope[f"_make_{each.name}"] = each.default_factory
        made = f"_make_{each.name}()"
        return f"{made} if {each.name} is _FACTORY else {each.name}" if each.init else made
    if not each.init:
        scope[f"_default_{each.name}"] = each.default
        return f"_default_{each.name}"
    return each.name
