"""Which of the stored quotas applies to a client, and with whom it shares what the quota allows.

The most specific entity that has the quota wins; the others don't count at all:

    user and client > user, any client > user > any user, client > any user, any client > any user > client > any client

A quota of users alone is shared by all clients of a user, one of clients alone by all users of a client id; any other
is for the pair. So one default quota gives each user, client or pair a share of its own.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.metadata.image.client_quota import QuotaEntity, Quotas

USER: Final = "user"
CLIENT_ID: Final = "client-id"

_MATCHED_BY_NAME: Final = True
_DEFAULT: Final = False
_NOT_NAMED: Final = None
_PRECEDENCE: Final = (
    (_MATCHED_BY_NAME, _MATCHED_BY_NAME),
    (_MATCHED_BY_NAME, _DEFAULT),
    (_MATCHED_BY_NAME, _NOT_NAMED),
    (_DEFAULT, _MATCHED_BY_NAME),
    (_DEFAULT, _DEFAULT),
    (_DEFAULT, _NOT_NAMED),
    (_NOT_NAMED, _MATCHED_BY_NAME),
    (_NOT_NAMED, _DEFAULT),
)
"""Forms of entities, each as how it has the user and how it has the client id; the first that is stored applies."""


class Share(NamedTuple):
    """The clients that share a quota; a part that does not matter is empty."""

    user: str
    client_id: str


class Applied(NamedTuple):
    """The quota that applies to a client."""

    limit: float
    share: Share


def applied(quotas: Mapping[QuotaEntity, Quotas], key: str, user: str, client_id: str) -> Applied | None:
    """The quota named `key` of a user's client; None if it has none.

    >>> from immutables import Map
    >>> stored = {(("client-id", None),): Map(producer_byte_rate=5.0), (("user", "ann"),): Map(producer_byte_rate=9.0)}
    >>> applied(stored, "producer_byte_rate", "ann", "app")
    Applied(limit=9.0, share=Share(user='ann', client_id=''))
    >>> applied(stored, "producer_byte_rate", "bob", "app")
    Applied(limit=5.0, share=Share(user='', client_id='app'))
    """
    for user_form, client_form in _PRECEDENCE:
        entity = _entity(user_form, client_form, user, client_id)
        found = quotas.get(entity)
        if found is not None and key in found:
            share = Share("" if user_form is _NOT_NAMED else user, "" if client_form is _NOT_NAMED else client_id)
            return Applied(found[key], share)
    return None


def _entity(user_form: bool | None, client_form: bool | None, user: str, client_id: str) -> QuotaEntity:
    parts: list[tuple[str, str | None]] = []
    if client_form is not _NOT_NAMED:
        parts.append((CLIENT_ID, client_id if client_form else None))
    if user_form is not _NOT_NAMED:
        parts.append((USER, user if user_form else None))
    return tuple(parts)
