"""Which right an application lacks: what a broker refuses names no operation, and mostly no resource."""

from typing import Final

from ottla.protocol.errors import (
    ApiError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
)

_NEEDED: Final[dict[type[ApiError], str]] = {
    GroupAuthorizationFailedError: "READ on the group {}",
    TransactionalIdAuthorizationFailedError: "WRITE on transactional ids that begin with {}",
    TopicAuthorizationFailedError: (
        "READ on topics that it reads, WRITE on those that it writes, and CREATE, READ, WRITE and DELETE on its own, "
        "which begin with {}-"
    ),
}
"""Operations and resources, by the error of who lacks them."""


def with_right(error: Exception, application_id: str) -> Exception:
    """The error, with the right that is lacking.

    >>> str(with_right(GroupAuthorizationFailedError(), "shop"))
    'Group authorization failed. The application shop needs READ on the group shop.'
    """
    kind = type(error)
    if not isinstance(error, ApiError) or kind not in _NEEDED:
        return error
    named = kind(f"{error} {_sentence(kind, application_id)}")
    named.__cause__ = error
    return named


def right_in(text: str, application_id: str) -> str:
    """A sentence on the right that is lacking where a text is that of such an error; else nothing.

    >>> right_in("… ottla.protocol.errors.security.GroupAuthorizationFailedError: Group authorization failed.", "shop")
    'The application shop needs READ on the group shop.'
    """
    for kind in _NEEDED:
        if f"{kind.__module__}.{kind.__name__}" in text:
            return _sentence(kind, application_id)
    return ""


def _sentence(kind: type[ApiError], application_id: str) -> str:
    return f"The application {application_id} needs {_NEEDED[kind].format(application_id)}."
