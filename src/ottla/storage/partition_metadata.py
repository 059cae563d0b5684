"""The file `partition.metadata`: which topic a partition's directory belongs to, by id.

Two lines, `version: 0` and `topic_id: <22 characters>`, without a newline at the end. A name may be used again by a
later topic; the id tells them apart. Noise is refused, a missing file is fine.
"""

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError

FILE_NAME = "partition.metadata"
_VERSION = 0
_SHOWN_BYTES = 60


def write_partition_metadata(disk: Disk, directory: str, topic_id: Uuid) -> None:
    """Says which topic the directory belongs to; on disk when this returns."""
    if topic_id == ZERO_UUID:
        raise ValueError("the zero id is no topic")
    write_atomically(disk, f"{directory}/{FILE_NAME}", f"version: {_VERSION}\ntopic_id: {topic_id}".encode())


def read_partition_metadata(disk: Disk, directory: str) -> Uuid | None:
    """The topic's id; None if the file is not there."""
    path = f"{directory}/{FILE_NAME}"
    raw = read_whole(disk, path)
    if raw is None:
        return None
    try:
        fields = dict(line.split(": ", 1) for line in raw.decode("ascii").splitlines())
        version, topic_id = int(fields.pop("version")), Uuid.parse(fields.pop("topic_id"))
    except (ValueError, KeyError):
        raise _refused(raw, path) from None
    if fields or version != _VERSION or topic_id == ZERO_UUID:
        raise _refused(raw, path)
    return topic_id


def _refused(raw: bytes, path: str) -> CorruptFileError:
    """The owner of the records has to be decided by the reader: nothing else in the directory names it."""
    return CorruptFileError(
        f"should be the lines 'version: {_VERSION}' and 'topic_id: ...' and is {raw[:_SHOWN_BYTES]!r}; if the records "
        "belong to the topic that has the name now, remove this file while the broker is stopped",
        path,
    )
