"""Which names a topic may have, and which two names may not live side by side."""

import re
from typing import Final

from ottla.protocol.errors import InvalidTopicError

NAME_LENGTH_MAX: Final = 249
CLUSTER_METADATA_TOPIC: Final = "__cluster_metadata"
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def check_topic_name(name: str) -> None:
    """Raises `InvalidTopicError` with Kafka's sentence if no topic may be called `name`.

    >>> check_topic_name("orders-2026")
    >>> check_topic_name("a/b")
    Traceback (most recent call last):
    ottla.protocol.errors.topic.InvalidTopicError: Topic name is invalid: 'a/b' contains one or more characters other \
than ASCII alphanumerics, '.', '_' and '-'
    """
    reason = _why_invalid(name)
    if reason is not None:
        raise InvalidTopicError(f"Topic name is invalid: {reason}")


def _why_invalid(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    if _LEGAL.fullmatch(name) is None:
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def has_collision_chars(name: str) -> bool:
    """Whether another legal name could share this one's metric name: metrics write '.' and '_' alike."""
    return "." in name or "_" in name


def unify_collision_chars(name: str) -> str:
    """The form in which two colliding names are equal.

    >>> unify_collision_chars("a.b") == unify_collision_chars("a_b")
    True
    """
    return name.replace(".", "_")
