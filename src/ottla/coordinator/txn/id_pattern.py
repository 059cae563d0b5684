"""The regular expressions that ListTransactions takes for transactional ids (KIP-1152).

Kafka reads them with RE2, so what RE2 has not is refused here too: groups that look around, atomic groups,
conditions, backreferences, possessive repetition.
"""

import re
from typing import Final

from ottla.protocol.errors import InvalidRegularExpressionError

_NOT_IN_RE2: Final = re.compile(
    r"(?:\\\\)*(?:"
    r"(?P<group>\(\?(?:=|!|<=|<!|>|\(|P=))"
    r"|(?P<reference>\\[1-9])"
    r"|(?P<possessive>[*+?}]\+)"
    r")"
)


def compile_id_pattern(pattern: str | None) -> re.Pattern[str] | None:
    """The pattern that whole ids must match; None lets all pass.

    >>> bool(compile_id_pattern("orders-.*").fullmatch("orders-1"))
    True
    """
    if not pattern:
        return None
    if _NOT_IN_RE2.search(_without_literals(pattern)):
        raise InvalidRegularExpressionError(_message(pattern, "it uses what RE2 does not support"))
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidRegularExpressionError(_message(pattern, str(error))) from error


def _without_literals(pattern: str) -> str:
    """The pattern with escaped characters that stand for themselves, and classes, blotted out."""
    without_escapes = re.sub(r"\\[^1-9]", "x", pattern)
    return re.sub(r"\[\^?\]?[^\]]*\]", "x", without_escapes)


def _message(pattern: str, reason: str) -> str:
    return f"Transaction ID pattern `{pattern}` is not a valid regular expression: {reason}."
