"""The directories of a node: locked, identified, and with the metadata store open.

Everything that can be wrong with a directory before a node runs is found here, and said in one line.
"""

import os
from dataclasses import dataclass
from typing import Final

from ottla.base.clock import Clock
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.start_error import StartError
from ottla.metadata.store.metadata_store import MetadataStore
from ottla.storage.directory_lock import DirectoryLock
from ottla.storage.disk.port import Disk
from ottla.storage.errors import StorageError
from ottla.storage.log_directories import LogDirectories
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.meta_properties import (
    MetaProperties,
    check_meta_properties,
    fresh_directory_id,
    read_meta_properties,
    write_meta_properties,
)

_ID_TRIES: Final = 20


@dataclass(slots=True)
class NodeStorage:
    """A node's storage on its disks, all of it locked."""

    directories: LogDirectories
    logs: LogManager | None
    """Not loaded yet; None on a node that is no broker."""
    store: MetadataStore
    cluster_id: str
    _metadata_lock: DirectoryLock | None
    """Held if the metadata has a directory of its own."""

    def release(self) -> None:
        """Gives all locks back; the log manager's, if it was shut down, are given back already."""
        self.directories.release()
        if self._metadata_lock is not None:
            self._metadata_lock.release()
            self._metadata_lock = None


def open_storage(config: ServerConfig, disk: Disk, clock: Clock, options: LogManagerOptions) -> NodeStorage:
    """Opens the directories of a node; `StartError` if they are not its own, not formatted or not usable."""
    metadata_directory = os.path.abspath(config.metadata_log_dir)
    logs = LogManager(options) if config.is_broker else None
    directories = LogDirectories(options) if logs is None else logs.directories
    lock: DirectoryLock | None = None
    try:
        own = {directory.path for directory in directories.all()}
        _check_formatted(config, disk, metadata_directory)
        if metadata_directory not in own:
            lock = DirectoryLock.acquire(metadata_directory)
        cluster_id = _identify(config, disk, directories, metadata_directory)
        _check_online(directories, metadata_directory)
        store = MetadataStore.open(disk, metadata_directory, clock, config.metadata_log)
    except BaseException:
        directories.release()
        if lock is not None:
            lock.release()
        raise
    return NodeStorage(directories, logs, store, cluster_id, lock)


def _check_formatted(config: ServerConfig, disk: Disk, directory: str) -> None:
    if read_meta_properties(disk, directory) is None:
        # Controllers of a dynamic quorum are formatted with their first voters, or the tool refuses (KIP-853).
        needs_voters = config.is_controller and not config.quorum_voters
        standalone = " --standalone" if needs_voters else ""
        many = ", and --initial-controllers for several controllers" if needs_voters else ""
        raise StartError(
            f"{directory} is not formatted: there is no meta.properties. Run `kafka-storage.sh format --cluster-id "
            f"$(kafka-storage.sh random-uuid) --config FILE{standalone}` first, with the same cluster id on all nodes "
            f"of a cluster{many}"
        )


def _identify(config: ServerConfig, disk: Disk, directories: LogDirectories, metadata_directory: str) -> str:
    """The cluster that all directories belong to; a new directory is made one of them."""
    found = directories.identify(None, config.node_id)
    own = read_meta_properties(disk, metadata_directory)
    if own is not None:
        found.setdefault(metadata_directory, own)
    check_meta_properties(found, None, config.node_id)
    cluster_id = next((one.cluster_id for one in found.values() if one.cluster_id is not None), None)
    if cluster_id is None:
        raise StartError(f"no meta.properties says which cluster this is: {', '.join(found)}")
    for directory in directories.online():
        if directory.directory_id is None:
            # A disk that was added or replaced: its meta.properties, or the id in it, is made now (KIP-858).
            directory_id = fresh_directory_id([os.urandom(16) for _ in range(_ID_TRIES)])
            properties = MetaProperties(cluster_id, config.node_id, directory_id)
            write_meta_properties(disk, directory.path, properties)
            directory.directory_id = directory_id
    return cluster_id


def _check_online(directories: LogDirectories, metadata_directory: str) -> None:
    for directory in directories.offline():
        if directory.path == metadata_directory:
            reason = f"the metadata log's directory is not usable: {directory.offline_error}"
            raise StorageError(reason, metadata_directory)
