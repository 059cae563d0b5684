"""Makes log directories ready for a node, as `kafka-storage.sh format` does, with the same files.

Each directory gets `bootstrap.checkpoint` and `meta.properties`; the metadata directory of a dynamic quorum also the
snapshot `0@0` with kraft.version and the first voters. `meta.properties` comes last: a directory that has one is
complete, one that has none can be formatted again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid
from ottla.metadata.controller.bootstrap import bootstrap_records
from ottla.metadata.errors import FormatError
from ottla.metadata.feature import KRAFT_VERSION
from ottla.metadata.metadata_version import FEATURE_NAME, MetadataVersion
from ottla.metadata.store import snapshot_name
from ottla.metadata.store.bootstrap_file import write_bootstrap
from ottla.metadata.store.initial_feature import initial_levels
from ottla.metadata.store.metadata_store import METADATA_DIRECTORY
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.raft.endpoint import Endpoints
from ottla.raft.identity import BOOTSTRAP_SNAPSHOT_ID, ReplicaKey
from ottla.raft.snapshot.writer import SnapshotWriter
from ottla.raft.voters.voter_set import VoterNode, VoterSet
from ottla.storage.disk.atomic import write_atomically
from ottla.storage.disk.port import Disk
from ottla.storage.meta_properties import (
    META_PROPERTIES_FILE,
    MetaProperties,
    fresh_directory_id,
    read_meta_properties,
    write_meta_properties,
)
from ottla.storage.segment import file_name

_ID_TRIES: Final = 20


class QuorumKind(Enum):
    """Quorums whose first voters are not written when formatting."""

    STATIC = "controller.quorum.voters names the voters; kraft.version 0"
    JOINING = "--no-initial-controllers: the node joins a quorum that there is, or is a broker"


@frozen
class Standalone:
    """`--standalone`: a dynamic quorum of this node alone, reached at its controller listeners."""

    endpoints: Endpoints


Controllers = QuorumKind | Standalone | VoterSet
"""The first voters; a `VoterSet` is `--initial-controllers`."""


@frozen(kw_only=True)
class FormatOptions:
    """The directories to format, and the identity of their node."""

    cluster_id: str
    node_id: int
    directories: Sequence[str]
    metadata_directory: str
    """Which of them holds the metadata log: `metadata.log.dir`, or the first."""
    controllers: Controllers = QuorumKind.STATIC
    release_version: MetadataVersion | None = None
    features: Mapping[str, int] = field(default_factory=dict)
    """Levels that differ from the release's defaults."""
    scram: Sequence[VersionedRecord] = ()
    """Users to begin with; see `scram_argument`."""
    ignore_formatted: bool = False
    """Leaves directories alone that are formatted already, instead of refusing."""


class FormattedDirectory(NamedTuple):
    """A directory that was formatted, and how."""

    path: str
    description: str
    directory_id: Uuid


class Formatted(NamedTuple):
    """The result of formatting."""

    version: MetadataVersion
    directories: list[FormattedDirectory]
    """Empty if all of them were formatted before."""


def format_directories(
    disk: Disk, options: FormatOptions, *, random_bytes: Callable[[int], bytes], now_ms: int
) -> Formatted:
    """Formats the directories that are not formatted yet; `FormatError` before anything is written."""
    _check_options(options)
    levels = initial_levels(
        options.release_version, options.features, dynamic_quorum=options.controllers is not QuorumKind.STATIC
    )
    version = MetadataVersion(levels[FEATURE_NAME])
    if options.scram and not version.supports_scram:
        raise FormatError(f"SCRAM is only supported in {FEATURE_NAME} {MetadataVersion.V3_5_IV2} or later.")
    kraft_version = levels.pop(KRAFT_VERSION.name, 0)
    records = [*bootstrap_records(levels), *options.scram]
    formatted = []
    for directory in _unformatted(disk, options):
        directory_id = _directory_id(options, directory, random_bytes)
        disk.make_directory(directory)
        write_bootstrap(disk, directory, records, now_ms)
        if directory == options.metadata_directory:
            _write_voters(disk, options, directory_id, kraft_version, now_ms)
        properties = MetaProperties(options.cluster_id, options.node_id, directory_id)
        write_meta_properties(disk, directory, properties)
        disk.flush_directory(_parent(directory))
        formatted.append(FormattedDirectory(directory, _description(options, directory), directory_id))
    return Formatted(version, formatted)


def _check_options(options: FormatOptions) -> None:
    if options.node_id < 0:
        raise FormatError("You must specify a valid non-negative node ID.")
    if not options.cluster_id or options.cluster_id != options.cluster_id.strip():
        raise FormatError("You must specify the cluster id.")
    if not options.directories:
        raise FormatError("You must specify at least one directory to format")
    if options.metadata_directory not in options.directories:
        raise FormatError(
            f"The specified metadata log directory, {options.metadata_directory} was not one of the given directories: "
            f"{', '.join(options.directories)}"
        )
    controllers = options.controllers
    if isinstance(controllers, VoterSet) and not len(controllers):
        raise FormatError("No voters given.")
    if isinstance(controllers, Standalone) and not len(controllers.endpoints):
        raise FormatError("You must specify the name of the initial controller listener.")


def _unformatted(disk: Disk, options: FormatOptions) -> list[str]:
    """The directories to format; refuses those of another cluster or node, whatever `ignore_formatted` says."""
    fresh = []
    for directory in sorted(set(options.directories)):
        found = read_meta_properties(disk, directory)
        if found is None:
            _refuse_log_without_owner(disk, directory)
            fresh.append(directory)
            continue
        path = f"{directory}/{META_PROPERTIES_FILE}"
        if found.cluster_id != options.cluster_id:
            expected = f"Expected {options.cluster_id}, but read {found.cluster_id}"
            raise FormatError(f"Invalid cluster.id in: {path}. {expected}")
        if found.node_id != options.node_id:
            raise FormatError(
                f"Stored node id {found.node_id} doesn't match previous node id {options.node_id} in {path}. If you "
                "moved your data, make sure your configured node id matches. If you intend to create a new node, you "
                "should remove all data in your data directories."
            )
        if not options.ignore_formatted:
            raise FormatError(
                f"Log directory {directory} is already formatted. Use --ignore-formatted to ignore this directory "
                "and format the others."
            )
    return fresh


def _refuse_log_without_owner(disk: Disk, directory: str) -> None:
    """A metadata log whose `meta.properties` was lost belongs to a cluster: the directory is not empty."""
    path = f"{directory}/{METADATA_DIRECTORY}"
    if disk.status(path) is None:
        return
    parsed = [file_name.parse(name) for name in disk.list(path)]
    if any(file is not None and file.kind == file_name.LOG for file in parsed):
        raise FormatError(f"{path} holds a metadata log, but {directory} has no {META_PROPERTIES_FILE}.")


def _directory_id(options: FormatOptions, directory: str, random_bytes: Callable[[int], bytes]) -> Uuid:
    controllers = options.controllers
    if directory == options.metadata_directory and isinstance(controllers, VoterSet):
        voter = controllers.by_id.get(options.node_id)
        if voter is not None:
            return voter.key.directory_id
    return fresh_directory_id([random_bytes(16) for _ in range(_ID_TRIES)])


def _write_voters(disk: Disk, options: FormatOptions, directory_id: Uuid, kraft_version: int, now_ms: int) -> None:
    """The snapshot `0@0`; one that an interrupted formatting left goes if the quorum has none."""
    directory = f"{options.metadata_directory}/{METADATA_DIRECTORY}"
    path = f"{directory}/{snapshot_name.name_of(BOOTSTRAP_SNAPSHOT_ID)}"
    controllers = options.controllers
    if isinstance(controllers, Standalone):
        controllers = VoterSet.of([VoterNode(ReplicaKey(options.node_id, directory_id), controllers.endpoints)])
    if isinstance(controllers, QuorumKind):
        if disk.status(path) is not None:
            disk.remove(path)
            disk.flush_directory(directory)
        return
    disk.make_directory(directory)
    writer = SnapshotWriter(BOOTSTRAP_SNAPSHOT_ID, last_contained_timestamp_ms=now_ms, now_ms=now_ms)
    writer.begin(kraft_version, controllers)
    write_atomically(disk, path, writer.finish())
    disk.flush_directory(options.metadata_directory)


def _parent(directory: str) -> str:
    """The directory that holds another, for which `/data` is as good as `srv/data`."""
    parent = directory.rstrip("/").rpartition("/")
    return parent[0] or parent[1] or "."


def _description(options: FormatOptions, directory: str) -> str:
    controllers = options.controllers
    if directory != options.metadata_directory:
        return "data directory"
    if isinstance(controllers, QuorumKind):
        return "metadata directory"
    is_voter = isinstance(controllers, Standalone) or options.node_id in controllers.by_id
    return "dynamic metadata voter directory" if is_voter else "dynamic metadata directory"
