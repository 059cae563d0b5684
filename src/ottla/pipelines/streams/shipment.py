"""An application on its way to Spark's workers: pickled once on the driver, unpickled once in each worker.

Functions of a program that is run as a script travel by value; those of modules by name, so that the modules have to
be on every machine.
"""

import base64
import os
import pickle
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Final

from ottla.base.frozen import frozen
from ottla.streams.errors import StreamsError
from ottla.streams.host.application import Application

_KEPT_MAX: Final = 8
_unpacked: Final[dict[tuple[int, bytes], "Shipment"]] = {}


class UnshippableTopologyError(StreamsError):
    """A topology, a serde or a handler that no other process can be given."""


@frozen
class SnapshotTerms:
    """The directory of copies of the state, and the age at which a new one is made."""

    directory: Path
    interval_ms: int


@frozen
class Shipment:
    """The data that workers get from the driver."""

    application: Application
    state_dir: Path
    is_exactly_once: bool
    writer_settings: dict[str, str]
    tick_ms: int | None
    """How often the clock is looked at; None: no punctuation asks for it."""
    snapshots: "SnapshotTerms | None" = None

    def packed(self) -> str:
        """As text, for an option of Spark's."""
        from ottla.pipelines.streams.pickler import dumped

        try:
            return base64.b64encode(dumped(self)).decode()
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UnshippableTopologyError(
                f"the topology cannot be sent to Spark's workers: {error}. What holds a connection, a lock or an open "
                f"file has to be made by the worker: in a supplier, in init(), or at first use"
            ) from error


def unpacked(text: str) -> Shipment:
    """The shipment, made once in a process."""
    key = (os.getpid(), blake2b(text.encode(), digest_size=16).digest())
    found = _unpacked.get(key)
    if found is None:
        if len(_unpacked) >= _KEPT_MAX:
            _unpacked.clear()
        loads: Callable[[bytes], Shipment] = pickle.loads
        found = _unpacked[key] = loads(base64.b64decode(text))
    return found
