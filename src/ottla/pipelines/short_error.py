"""Errors as Spark shall show them: Spark prints the whole traceback of what a Python source raises, inside of its own.

An error that Ottla raises on purpose says in its text what is wrong and what to do; forty lines of frames around it
hide that. So where Spark calls us, such an error goes on alone. Its traceback is in the log at DEBUG. Any other error,
which nobody has foreseen, keeps everything.
"""

import functools
import logging
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from ottla.base.errors import OttlaError

_log = logging.getLogger(__name__)
_P = ParamSpec("_P")
_T = TypeVar("_T")


def short_errors(method: Callable[_P, _T]) -> Callable[_P, _T]:
    """A method that Spark calls."""

    @functools.wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return method(*args, **kwargs)
        except OttlaError as error:
            raise _alone(error) from None

    return call


def short_errors_of_rows(method: Callable[_P, Iterator[_T]]) -> Callable[_P, Iterator[_T]]:
    """A method that Spark calls, whose answer does the work while it is walked over."""

    @functools.wraps(method)
    def rows(*args: _P.args, **kwargs: _P.kwargs) -> Iterator[_T]:
        try:
            yield from method(*args, **kwargs)
        except OttlaError as error:
            raise _alone(error) from None

    return rows


def _alone(error: OttlaError) -> OttlaError:
    _log.debug("raised to Spark", exc_info=error)
    error.__cause__ = None
    return error.with_traceback(None)
