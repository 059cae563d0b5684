"""Tells the log when a node that could be reached can't be any more, and when it is back: once each.

By address, whatever connections lead there, and only of nodes that a connection was made to before: that the first one
fails is for the call that wants it to say.
"""

import logging
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.cluster.address import Address
from ottla.client.cluster.connecting import Target

LOGGER: Final = "ottla.client.connection"
_log: Final = logging.getLogger(LOGGER)


class Absence:
    """The nodes of one client that are out of reach."""

    def __init__(self) -> None:
        self._reached: Final[set[Address]] = set()
        self._absent: Final[dict[Address, str]] = {}
        """By address, with the name that the log has for the node."""

    def tried(self, target: Target) -> Target:
        """The target of the next attempt: an address that led to the node before is not the wrong one."""
        return target._replace(is_advertised=False) if target.address in self._reached else target

    def reached(self, target: Target) -> None:
        """A connection was made."""
        self._reached.add(target.address)
        label = self._absent.pop(target.address, None)
        if label is not None:
            _log.info("%s is back", label)

    def missed(self, target: Target, error: OttlaError) -> None:
        """A connection could not be made."""
        if target.address in self._reached and target.address not in self._absent:
            self._absent[target.address] = target.label
            reason = str(error).removeprefix(f"{target.label}: ")
            _log.warning("%s is out of reach, trying again until it is back: %s", target.label, reason)
