"""`kafka-storage info`: what the log directories of a node are, and what is wrong with them."""

from collections.abc import Sequence
from pathlib import Path

from ottla.broker.config.loading import load_server_config
from ottla.storage.disk.local import LocalDisk
from ottla.storage.errors import StorageError
from ottla.storage.meta_properties import META_PROPERTIES_FILE, MetaProperties, read_meta_properties


def print_info(config_path: str) -> int:
    """Prints directories, identity and problems; 1 if there are any."""
    config = load_server_config(config_path)
    directories = sorted({*config.log_dirs, config.metadata_log_dir})
    found, identity, problems = _inspect(directories)
    _print_list("Found log directory:", "Found log directories:", found)
    if identity is not None:
        print(f"Found metadata: {_shown(identity)}\n")
    _print_list("Found problem:", "Found problems:", problems)
    return 1 if problems else 0


def _inspect(directories: Sequence[str]) -> tuple[list[str], MetaProperties | None, list[str]]:
    found: list[str] = []
    problems: list[str] = []
    identity: MetaProperties | None = None
    for directory in directories:
        path = Path(directory)
        if not path.is_dir():
            problems.append(f"{path} is not a directory" if path.exists() else f"{path} does not exist")
            continue
        found.append(str(path))
        try:
            own = read_meta_properties(LocalDisk(), directory)
        except StorageError as error:
            problems.append(f"Error loading {path / META_PROPERTIES_FILE}: {error}")
            continue
        if own is None:
            problems.append(f"{path} is not formatted.")
            continue
        identity = identity or own
        if own.cluster_id != identity.cluster_id:
            problems.append("Mismatched cluster IDs between storage directories.")
        elif own.node_id != identity.node_id:
            problems.append("Mismatched node IDs between storage directories.")
    if identity is not None and identity.version == 0:
        problems.append(
            "The kafka configuration file appears to be for a cluster in KRaft mode, but the directories are formatted "
            "for legacy mode."
        )
    return found, identity, problems


def _shown(identity: MetaProperties) -> str:
    values = {
        "cluster.id": identity.cluster_id,
        "directory.id": identity.directory_id,
        "node.id" if identity.version else "broker.id": identity.node_id,
        "version": identity.version,
    }
    return f"{{{', '.join(f'{name}={value}' for name, value in sorted(values.items()) if value is not None)}}}"


def _print_list(one: str, many: str, lines: Sequence[str]) -> None:
    if lines:
        print("\n".join([one if len(lines) == 1 else many, *(f"  {line}" for line in lines), ""]))
