"""Nodes whose metadata begins with SCRAM users."""

import os

from ottla.broker.config.server_config import ServerConfig
from ottla.metadata.store.format import FormatOptions, format_directories
from ottla.metadata.store.scram_argument import parse_scram_argument
from ottla.storage.disk.local import LocalDisk
from tests.integration.node.nodes import CLUSTER_ID

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


def format_with_users(config: ServerConfig, *users: str) -> None:
    """Formats the directories of a node, as `kafka-storage.sh format --add-scram` does."""
    options = FormatOptions(
        cluster_id=CLUSTER_ID,
        node_id=config.node_id,
        directories=config.log_dirs,
        metadata_directory=config.metadata_log_dir,
        scram=[parse_scram_argument(text, os.urandom) for text in users],
    )
    format_directories(LocalDisk(), options, random_bytes=os.urandom, now_ms=1_700_000_000_000)
