"""The sender of a request to the group coordinator."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

Visible: TypeAlias = Callable[[Iterable[str]], Iterable[str]]
"""Keeps the topics that the caller may see (DESCRIBE)."""


def everything(topics: Iterable[str]) -> Iterable[str]:
    """The filter of a cluster without an authorizer, which hides no topic."""
    return topics


class GroupCaller(NamedTuple):
    """A request's sender, as it is remembered with the members that it makes.

    `client_host` is as Kafka writes an address, with a slash in front: `/127.0.0.1`.
    """

    client_id: str
    client_host: str
    api_version: int
    visible: Visible = everything
    """Keeps the topics that the sender may see."""
