"""Which kind of client settings are for: it names metrics, and decides on habits."""

import enum

from ottla.client.config.settings import ClientSettings


class ClientKind(enum.Enum):
    """A kind of client, by the word that begins its metric groups."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    ADMIN = "admin-client"


def client_kind(settings: ClientSettings) -> ClientKind:
    """The kind whose settings these are: each has some that no other has."""
    if "acks" in settings:
        return ClientKind.PRODUCER
    return ClientKind.CONSUMER if "fetch.min.bytes" in settings else ClientKind.ADMIN
