"""The log directories of a simulated broker: where its replicas live, and which directories have failed.

What lives where is on the disk and outlives the process; a failed directory is whole again after a restart.
"""

import hashlib
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from ottla.base.ids import Uuid

Place = tuple[Uuid, int]
"""A partition, by topic id and index."""


@dataclass(slots=True)
class BrokerFiles:
    """The files of a broker that survive a crash."""

    clean_shutdown_epoch: int | None = None
    """The broker epoch of the clean stop before; None if there was none."""
    homes: MutableMapping[Place, Uuid] = field(default_factory=dict)
    """The directory of each replica."""


class BrokerDirectories:
    """The directories on one disk: the first has the disk's own id."""

    def __init__(self, disk_id: Uuid, count: int, files: BrokerFiles) -> None:
        others = [Uuid(hashlib.sha256(disk_id + bytes([number])).digest()[:16]) for number in range(1, count)]
        self.all: Final = (disk_id, *others)
        self.offline: Final[list[Uuid]] = []
        self._files = files

    @property
    def online(self) -> list[Uuid]:
        return [directory for directory in self.all if directory not in self.offline]

    def home_of(self, place: Place, believed: Uuid | None, random: Random) -> Uuid:
        """The directory of a replica. A new one goes where the controller assigned it, or to a random directory."""
        home = self._files.homes.get(place)
        if home not in self.all:
            online = self.online
            home = believed if believed is not None and believed in online else random.choice(online)
            self._files.homes[place] = home
        assert home is not None
        return home

    def fail(self, random: Random) -> bool:
        """Takes a random directory offline, except the last one: a broker without any stops."""
        if len(self.online) < 2:
            return False
        self.offline.append(random.choice(self.online))
        return True

    def move(self, random: Random) -> None:
        """A replica is moved to another directory, as by AlterReplicaLogDirs."""
        movable = [place for place, home in sorted(self._files.homes.items()) if home in self.online]
        if movable:
            self._files.homes[random.choice(movable)] = random.choice(self.online)
