"""`kafka-metadata-quorum add-controller` and `remove-controller`: who is meant, and Kafka's words about it."""

import re
from collections.abc import Mapping
from typing import Final

from ottla.base.ids import Uuid
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.output.identifier import parse_uuid
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.cluster import RaftVoterEndpoint
from ottla.storage.disk.local import LocalDisk
from ottla.storage.meta_properties import read_meta_properties

_VALID: Final = "Is this a valid controller configuration file?"
_LISTENER: Final = re.compile(r"(\w[\w-]*)://(\[[0-9a-fA-F:.]*\]|[^:]*):(\d+)")


async def add_controller(admin: AsyncAdmin, settings: Mapping[str, object], *, dry_run: bool) -> None:
    """Makes the controller whose properties file was given a voter."""
    controller_id = _controller_id(settings)
    directory_id = _directory_id(_metadata_directory(settings))
    endpoints = controller_endpoints(settings)
    if not dry_run:
        await admin.add_raft_voter(controller_id, directory_id, endpoints)
    listed = ", ".join(f"{end.listener}://{_host(end.host)}:{end.port}" for end in endpoints)
    done = "DRY RUN of adding" if dry_run else "Added"
    print(f"{done} controller {controller_id} with directory id {directory_id} and endpoints: {listed}")


async def remove_controller(admin: AsyncAdmin, controller_id: int, directory: str, *, dry_run: bool) -> None:
    """Takes a controller out of the quorum."""
    if controller_id < 0:
        raise ToolError(f"Invalid negative --controller-id: {controller_id}")
    try:
        directory_id = parse_uuid(directory)
    except ToolError as error:
        raise ToolError(f"Failed to parse --controller-directory-id: {error}") from error
    if not dry_run:
        await admin.remove_raft_voter(controller_id, directory_id)
    done = "DRY RUN of removing " if dry_run else "Removed "
    print(f"{done} KRaft controller {controller_id} with directory id {directory_id}")


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _controller_id(settings: Mapping[str, object]) -> int:
    found = settings.get("node.id")
    if found is None:
        raise ToolError(f"node.id not found in configuration file. {_VALID}")
    node_id = int(str(found))
    if node_id < 0:
        raise ToolError(f"node.id was negative in configuration file. {_VALID}")
    if "controller" not in str(settings.get("process.roles", "")):
        raise ToolError(f"process.roles did not contain 'controller' in configuration file. {_VALID}")
    return node_id


def _metadata_directory(settings: Mapping[str, object]) -> str:
    found = settings.get("metadata.log.dir")
    if found is not None:
        return str(found)
    directories = settings.get("log.dirs")
    if directories is None:
        raise ToolError(f"Neither metadata.log.dir nor log.dirs were found. {_VALID}")
    return str(directories).strip().split(",")[0]


def _directory_id(directory: str) -> Uuid:
    found = read_meta_properties(LocalDisk(), directory)
    if found is None:
        raise ToolError(f"Unable to read meta.properties from {directory}")
    if found.directory_id is None:
        raise ToolError(f"No directory id found in {directory}")
    return found.directory_id


def controller_endpoints(settings: Mapping[str, object]) -> list[RaftVoterEndpoint]:
    """Where the controller says that it listens.

    >>> controller_endpoints({"listeners": "CONTROLLER://:9093", "controller.listener.names": "CONTROLLER"})
    [RaftVoterEndpoint(listener='CONTROLLER', host='localhost', port=9093)]
    """
    known: dict[str, RaftVoterEndpoint] = {}
    for key in ("listeners", "advertised.listeners"):
        for name, host, port in _LISTENER.findall(str(settings.get(key, ""))):
            known[name.upper()] = RaftVoterEndpoint(name.upper(), host.strip("[]") or "localhost", int(port))
    names = settings.get("controller.listener.names")
    if names is None:
        raise ToolError(f"controller.listener.names was not found. {_VALID}")
    found = []
    for name in (part.strip().upper() for part in str(names).split(",")):
        if name not in known:
            raise ToolError(f"Cannot find information about controller listener name: {name}")
        found.append(known[name])
    return found
