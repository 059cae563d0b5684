"""Users' functions in the form that operators call: with the key, whether the user's function takes it or not."""

import inspect
from collections.abc import Callable
from typing import Any


def takes(function: Callable[..., Any], number: int) -> bool:
    """Whether the function takes this many arguments; False if its signature is unknown.

    >>> takes(lambda k, v: v, 2), takes(len, 2)
    (True, False)
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    required = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
    ]
    return len(required) >= number


def with_key(mapper: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """`f(value)` or `f(key, value)` as the latter."""
    if takes(mapper, 2):
        return mapper
    return lambda key, value: mapper(value)


def joiner_with_key(joiner: Callable[..., Any]) -> Callable[[Any, Any, Any], Any]:
    """`f(left, right)` or `f(key, left, right)` as the latter."""
    if takes(joiner, 3):
        return joiner
    return lambda key, left, right: joiner(left, right)
