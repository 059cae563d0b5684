"""`kafka-storage format`: makes log directories ready, as the options and the node's configuration say."""

import os
import re
import time
from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.broker.config.loading import load_server_config
from ottla.broker.config.server_config import ServerConfig
from ottla.cli.kafka.subcommand.storage_feature import parse_release
from ottla.cli.node.auto_format import standalone
from ottla.metadata.controller.bootstrap import bootstrap_records
from ottla.metadata.feature import KRAFT_VERSION
from ottla.metadata.metadata_version import FEATURE_NAME
from ottla.metadata.store.format import Controllers, FormatOptions, Formatted, QuorumKind, format_directories
from ottla.metadata.store.initial_controller import parse_initial_controllers
from ottla.metadata.store.initial_feature import initial_levels
from ottla.metadata.store.scram_argument import parse_scram_argument
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.security import UserScramCredentialRecord
from ottla.storage.disk.local import LocalDisk

_VOTERS: Final = "controller.quorum.voters"


class FormatArgumentError(OttlaError):
    """Options that don't go together with each other or with the configuration."""


def run_format(options: Namespace) -> int:
    """Formats the directories and says so, a line each."""
    config = load_server_config(options.config)
    wanted = FormatOptions(
        cluster_id=options.cluster_id,
        node_id=config.node_id,
        directories=sorted({*config.log_dirs, config.metadata_log_dir}),
        metadata_directory=config.metadata_log_dir,
        controllers=_controllers(options, config),
        release_version=parse_release(options.release_version) if options.release_version else None,
        features=dict(_name_and_level(text) for text in options.feature or ()),
        scram=[parse_scram_argument(text, os.urandom) for text in options.add_scram or ()],
        ignore_formatted=options.ignore_formatted,
    )
    now_ms = time.time_ns() // 1_000_000
    _report(wanted, format_directories(LocalDisk(), wanted, random_bytes=os.urandom, now_ms=now_ms))
    return 0


def _controllers(options: Namespace, config: ServerConfig) -> Controllers:
    if config.quorum_voters:
        if options.standalone or options.initial_controllers:
            raise FormatArgumentError(
                f"You cannot specify {_VOTERS} and format the node with --initial-controllers or --standalone. If you "
                f"want to use dynamic quorum, please remove {_VOTERS} and specify "
                "controller.quorum.bootstrap.servers instead."
            )
        return QuorumKind.STATIC
    if options.initial_controllers:
        return parse_initial_controllers(options.initial_controllers, config.controller_listener_names[0])
    if options.standalone:
        if not config.is_controller:
            raise FormatArgumentError("You can only use --standalone on a controller.")
        return standalone(config)
    if config.is_controller and not options.no_initial_controllers:
        raise FormatArgumentError(
            f"Because {_VOTERS} is not set on this controller, you must specify one of the following: --standalone, "
            "--initial-controllers, or --no-initial-controllers."
        )
    return QuorumKind.JOINING


def _name_and_level(text: str) -> tuple[str, int]:
    name, equals, level = (part.strip() for part in text.partition("="))
    complaint = f"Can't parse feature=level string {text}:"
    if not equals:
        raise FormatArgumentError(f"{complaint} equals sign not found.")
    if not re.fullmatch(r"[+-]?[0-9]{1,5}", level):
        raise FormatArgumentError(f"{complaint} unable to parse {level} as a short.")
    return name, int(level)


def _report(wanted: FormatOptions, formatted: Formatted) -> None:
    if not formatted.directories:
        print("All of the log directories are already formatted.")
        return
    levels = initial_levels(
        wanted.release_version, wanted.features, dynamic_quorum=wanted.controllers is not QuorumKind.STATIC
    )
    levels.pop(KRAFT_VERSION.name, None)
    shown = _shown([*bootstrap_records(levels), *wanted.scram])
    print(
        f"Bootstrap metadata: BootstrapMetadata(records=[{shown}], metadataVersionLevel={levels[FEATURE_NAME]}, "
        "source=format command)"
    )
    for directory in formatted.directories:
        print(f"Formatting {directory.description} {directory.path} with {FEATURE_NAME} {formatted.version}.")


def _shown(records: Sequence[VersionedRecord]) -> str:
    texts = []
    for record, version in records:
        if isinstance(record, FeatureLevelRecord):
            text = f"FeatureLevelRecord(name='{record.name}', featureLevel={record.feature_level})"
        else:
            assert isinstance(record, UserScramCredentialRecord)
            # Kafka prints the keys too; a terminal's history is no place for what a login is checked with.
            text = f"UserScramCredentialRecord(name='{record.name}', mechanism={record.mechanism}, ***)"
        texts.append(f"ApiMessageAndVersion({text} at version {version})")
    return ", ".join(texts)
