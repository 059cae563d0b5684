"""Formats the directories of a lone node that has none yet, so that `ottla broker` needs no step before it.

Only a node that is its whole cluster may be formatted by itself: the cluster id of any other comes from elsewhere,
and a second cluster made by accident would take the first one's clients.
"""

import os
import time
from pathlib import Path
from typing import Final

from ottla.base.errors import OttlaError
from ottla.broker.config.server_config import ServerConfig
from ottla.cli.node.random_id import random_id
from ottla.metadata.store.format import Controllers, FormatOptions, QuorumKind, Standalone, format_directories
from ottla.metadata.store.metadata_store import METADATA_DIRECTORY
from ottla.raft.endpoint import Address, Endpoints
from ottla.storage.disk.local import LocalDisk
from ottla.storage.meta_properties import META_PROPERTIES_FILE, read_meta_properties

_LEFT_BY_FORMATTING: Final = frozenset({"bootstrap.checkpoint", METADATA_DIRECTORY, ".lock", "lost+found"})
"""What a formatting that was interrupted leaves, and what a fresh file system holds."""


class AutoFormatError(OttlaError):
    """Directories that are not formatted and that must not be formatted without being asked."""


def format_if_empty(config: ServerConfig) -> bool:
    """Formats what is not formatted; whether that made a new cluster."""
    directories = sorted({*config.log_dirs, config.metadata_log_dir})
    disk = LocalDisk()
    found = {directory: read_meta_properties(disk, directory) for directory in directories}
    known = [properties for properties in found.values() if properties is not None]
    if len(known) == len(directories):
        return False
    if not known:
        _check_lone(config, directories)
    elif found[config.metadata_log_dir] is None:
        raise AutoFormatError(
            f"{config.metadata_log_dir}, which should hold the metadata log, is not formatted, but other directories "
            "are: was a disk lost or exchanged?"
        )
    cluster_id = known[0].cluster_id if known else str(random_id())
    for directory in directories:
        _check_empty(Path(directory))
    options = FormatOptions(
        cluster_id=cluster_id or str(random_id()),
        node_id=config.node_id,
        directories=directories,
        metadata_directory=config.metadata_log_dir,
        controllers=standalone(config),
        ignore_formatted=bool(known),
    )
    format_directories(disk, options, random_bytes=os.urandom, now_ms=time.time_ns() // 1_000_000)
    return not known


def standalone(config: ServerConfig) -> Controllers:
    """The quorum of a node that is the only controller."""
    if config.quorum_voters:
        return QuorumKind.STATIC
    listener = config.advertised_controller_listeners[0]
    return Standalone(Endpoints({listener.name: Address(listener.host or "localhost", listener.port)}))


def _check_lone(config: ServerConfig, directories: list[str]) -> None:
    own = {(address.host or "localhost", address.port) for address in config.advertised_controller_listeners}
    voters = {voter.id for voter in config.quorum_voters}
    servers = {tuple(server) for server in config.quorum_bootstrap_servers}
    if config.is_broker and config.is_controller and voters <= {config.node_id} and servers <= own | _same_ports(own):
        return
    raise AutoFormatError(
        f"{directories[0]} is not formatted, and this node belongs to a cluster of several. Run `kafka-storage format "
        "--cluster-id ID --config FILE` with the id of that cluster first."
    )


def _same_ports(own: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """The other ways to write this machine's own address."""
    return {(host, port) for _, port in own for host in ("localhost", "127.0.0.1", "::1")}


def _check_empty(directory: Path) -> None:
    """A directory with files but without a format may be a user's home directory: it is left alone."""
    if not directory.is_dir() or (directory / META_PROPERTIES_FILE).exists():
        return
    foreign = {path.name for path in directory.iterdir()} - _LEFT_BY_FORMATTING
    if foreign:
        raise AutoFormatError(
            f"{directory} is neither empty nor formatted (it holds {min(foreign)}): choose another with --data."
        )
