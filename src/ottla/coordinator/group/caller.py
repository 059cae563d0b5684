"""Who sent a request to the group coordinator."""

from typing import NamedTuple


class GroupCaller(NamedTuple):
    """A request's sender, as it is remembered with the members that it makes.

    `client_host` is as Kafka writes an address, with a slash in front: `/127.0.0.1`.
    """

    client_id: str
    client_host: str
    api_version: int
