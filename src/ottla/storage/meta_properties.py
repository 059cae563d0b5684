"""`meta.properties`: whose log directory this is. Cluster, node and the directory's own id, checked before it is used.

Version 1 has `cluster.id`, `node.id` and `directory.id`; version 0, of the times of ZooKeeper, calls the node
`broker.id`. A directory of another cluster or node refuses, because serving it would mix two clusters' records.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ottla.base.config.file import PropertiesError, parse_properties, render_properties
from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError

META_PROPERTIES_FILE: Final = "meta.properties"
_RESERVED_DIRECTORY_IDS: Final = 100


class ForeignDirectoryError(CorruptFileError):
    """The directory belongs to another cluster or node, or to another version of the software."""


@frozen
class MetaProperties:
    """The content of the file."""

    cluster_id: str | None
    node_id: int | None
    directory_id: Uuid | None
    version: int = 1


def read_meta_properties(disk: Disk, directory: str) -> MetaProperties | None:
    """The directory's identity, None if it was never formatted; refuses what it cannot have been written for."""
    path = f"{directory}/{META_PROPERTIES_FILE}"
    data = read_whole(disk, path)
    if data is None:
        return None
    try:
        found = parse_properties(data.decode("latin-1"))
    except PropertiesError as error:
        raise CorruptFileError(str(error), path) from error
    version = _integer(found, "version", path)
    if version is None:
        raise ForeignDirectoryError("there is no version in it: it is damaged, or not a file of Kafka's", path)
    if version not in (0, 1):
        raise ForeignDirectoryError(f"version {found.get('version')!r} is not one that this release knows", path)
    node_id = _integer(found, "node.id" if version == 1 else "broker.id", path)
    return MetaProperties(found.get("cluster.id"), node_id, _directory_id(found, path), version)


def write_meta_properties(disk: Disk, directory: str, properties: MetaProperties) -> None:
    """Writes the file; it is on the disk when this returns."""
    node = "node.id" if properties.version == 1 else "broker.id"
    values = {
        "cluster.id": properties.cluster_id,
        "directory.id": None if properties.directory_id is None else str(properties.directory_id),
        node: None if properties.node_id is None else str(properties.node_id),
        "version": str(properties.version),
    }
    text = render_properties({name: value for name, value in values.items() if value is not None})
    write_atomically(disk, f"{directory}/{META_PROPERTIES_FILE}", text.encode("latin-1"))


def check_meta_properties(found: Mapping[str, MetaProperties], cluster_id: str | None, node_id: int) -> None:
    """Refuses directories that are not this node's; `found` is by directory, a `cluster_id` of None is learnt."""
    by_id: dict[Uuid, str] = {}
    expected, told_by = cluster_id, "the configuration"
    for directory, properties in found.items():
        path = f"{directory}/{META_PROPERTIES_FILE}"
        if properties.node_id is not None and properties.node_id != node_id:
            raise ForeignDirectoryError(f"node.id is {properties.node_id}, this node is {node_id}", path)
        if properties.cluster_id is not None:
            if expected is not None and properties.cluster_id != expected:
                reason = f"Invalid cluster.id: {properties.cluster_id}, but {told_by} says {expected}"
                raise ForeignDirectoryError(reason, path)
            if expected is None:
                expected, told_by = properties.cluster_id, path
        if properties.directory_id is not None:
            other = by_id.setdefault(properties.directory_id, directory)
            if other != directory:
                raise ForeignDirectoryError(f"directory.id {properties.directory_id} is also that of {other}", path)


def fresh_directory_id(random_bytes: Sequence[bytes]) -> Uuid:
    """The first of some random 16 bytes that may be a directory's id: not reserved, and no text with a leading dash."""
    for candidate in map(Uuid, random_bytes):
        if not _is_reserved(candidate) and not str(candidate).startswith("-"):
            return candidate
    raise ValueError("none of the given bytes can be a directory id")


def _is_reserved(directory_id: Uuid) -> bool:
    return int.from_bytes(directory_id) < _RESERVED_DIRECTORY_IDS


def _directory_id(found: Mapping[str, str], path: str) -> Uuid | None:
    text = found.get("directory.id")
    if text is None:
        return None
    try:
        directory_id = Uuid.parse(text)
    except ValueError as error:
        raise CorruptFileError(f"directory.id: {error}", path) from error
    if _is_reserved(directory_id):
        raise ForeignDirectoryError(f"directory.id {text} is reserved", path)
    return directory_id


def _integer(found: Mapping[str, str], name: str, path: str) -> int | None:
    text = found.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise CorruptFileError(f"{name} is {text!r}, no number", path) from None
