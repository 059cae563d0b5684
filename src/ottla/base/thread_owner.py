"""Objects that belong to one thread: a check that tests switch on, and that costs nothing otherwise.

With `OTTLA_CHECK_THREADS=1` in the environment when the program starts, an object of a `one_thread` class belongs to
the thread that first calls a method of it, and a call from another thread raises `ForeignThreadError`. Without it the
class stays as it is.
"""

import functools
import inspect
import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from ottla.base.errors import OttlaError

CHECKS_THREADS: Final = os.environ.get("OTTLA_CHECK_THREADS") == "1"
_MARK: Final = "_may_be_called_by_any_thread"
_owners: "Final[WeakKeyDictionary[object, int]]" = WeakKeyDictionary()

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound=Callable[..., Any])


class ForeignThreadError(OttlaError):
    """A bug: an object was used by a thread that it does not belong to."""

    def __init__(self, name: str, caller: str) -> None:
        super().__init__(f"{name} was called in the thread {caller!r}, and its object belongs to another thread")


def any_thread(method: _F) -> _F:
    """Marks a method of a `one_thread` class that every thread may call."""
    setattr(method, _MARK, True)
    return method


def one_thread(cls: _C) -> _C:
    """Declares that all public methods of a class, but those marked `any_thread`, are called by one thread."""
    return checked(cls) if CHECKS_THREADS else cls


def checked(cls: _C) -> _C:
    """The class with its methods checked: what `one_thread` does in tests."""
    for name, member in list(vars(cls).items()):
        if isinstance(member, FunctionType) and not name.startswith("_") and not hasattr(member, _MARK):
            setattr(cls, name, _checked(member))
    return cls


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    name = method.__qualname__
    if inspect.iscoroutinefunction(method):
        # A coroutine may be made in one thread and run in another.
        @functools.wraps(method)
        async def awaited(self: object, /, *arguments: Any, **keywords: Any) -> Any:
            _check(self, name)
            return await method(self, *arguments, **keywords)

        return awaited

    @functools.wraps(method)
    def called(self: object, /, *arguments: Any, **keywords: Any) -> Any:
        _check(self, name)
        return method(self, *arguments, **keywords)

    return called


def _check(owned: object, name: str) -> None:
    caller = threading.get_ident()
    if _owners.setdefault(owned, caller) != caller:
        raise ForeignThreadError(name, threading.current_thread().name)
