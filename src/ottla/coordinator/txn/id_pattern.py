"""The regular expressions that ListTransactions takes for transactional ids (KIP-1152): RE2's, as in Kafka.

They come from a client and are matched on the loop's thread, with as many ids as there are; so a whole listing has a
bound, and a pattern that would exceed it is refused.
"""

from collections.abc import Callable
from typing import Final

from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError
from ottla.protocol.errors import InvalidRegularExpressionError

_WORK_MAX: Final = 300_000
"""Places of the expression that may be visited, in about 0.1 s. Ordinary patterns take dozens, however many ids."""


def compile_id_pattern(pattern: str | None) -> Callable[[str], bool] | None:
    """Says whether a whole id matches; None lets all pass.

    >>> compile_id_pattern("orders-.*")("orders-1")
    True
    """
    if not pattern:
        return None
    try:
        compiled = LinearRegex(pattern, work_max=_WORK_MAX)
    except RegexError as error:
        raise _invalid(pattern, error) from error

    def matches(transactional_id: str) -> bool:
        try:
            return compiled.matches(transactional_id)
        except RegexError as error:
            raise _invalid(pattern, error) from error

    return matches


def _invalid(pattern: str, reason: RegexError) -> InvalidRegularExpressionError:
    return InvalidRegularExpressionError(
        f"Transaction ID pattern `{pattern}` is not a valid regular expression: {reason}."
    )
