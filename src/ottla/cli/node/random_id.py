"""New ids for clusters and directories."""

import uuid

from ottla.base.ids import Uuid


def random_id() -> Uuid:
    """A random id whose text does not look like an option of a command."""
    while str(candidate := Uuid(uuid.uuid4().bytes)).startswith("-"):
        pass
    return candidate
