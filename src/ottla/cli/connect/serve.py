"""`ottla connect` and `ottla connect standalone`, and Kafka's scripts of these names: workers in the foreground."""

import argparse
import hashlib
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, Final

from ottla.base.config.file import PropertiesError, parse_properties
from ottla.cli.connection import DEFAULT_BOOTSTRAP, bootstrap
from ottla.cli.output.advice import CommandError
from ottla.cli.service_option import service_settings

_JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_TOPICS: Final = {
    "config.storage.topic": "configs",
    "offset.storage.topic": "offsets",
    "status.storage.topic": "status",
}


def distributed(options: argparse.Namespace) -> int:
    """A worker of a cluster; the exit code."""
    given = service_settings(options)
    if options.config is None:
        # Enough to begin with; a file says everything itself, as with Kafka.
        given = _completed(given, "connect")
    if options.bootstrap is not None or "bootstrap.servers" not in given:
        given["bootstrap.servers"] = bootstrap(options)
    return serve(given, has_runner=not options.no_runner)


def serve_distributed(worker: str, _connectors: list[str]) -> int:
    """Runs as Kafka's script does: the file says everything."""
    return serve(_properties(worker))


def standalone(options: argparse.Namespace) -> int:
    """A worker of its own with connectors from files; the exit code."""
    return serve_standalone(options.worker, options.connectors, has_runner=not options.no_runner)


def serve_standalone(worker: str, connectors: list[str], *, has_runner: bool = True) -> int:
    """The same, for Kafka's script as well."""
    given = _properties(worker)
    given.setdefault("bootstrap.servers", os.environ.get("OTTLA_BOOTSTRAP") or DEFAULT_BOOTSTRAP)
    # A start with the same files goes on; other files make a cluster of their own.
    place = f"{socket.gethostname()}:{Path(given.get('offset.storage.file.filename', worker)).resolve()}"
    identity = hashlib.sha256(place.encode()).hexdigest()[:10]
    given = _completed(given, f"connect-standalone-{identity}")
    return serve(given, has_runner=has_runner, kept=[connector_body(path) for path in connectors])


def serve(given: dict[str, str], *, has_runner: bool = True, kept: list[dict[str, Any]] | None = None) -> int:
    """Runs a worker with these settings; `kept` are all connectors of a standalone one."""
    from ottla.cli.service_process import Service, run_service
    from ottla.web.connect.config import SHARED_GROUP, ConnectConfig
    from ottla.web.connect.service import ConnectService
    from ottla.web.connect.standalone import StandaloneService

    if not has_runner:
        given = {"pipelines.group.id": SHARED_GROUP, **given}
    config = ConnectConfig.of(given)
    worker = ConnectService(config, given) if kept is None else StandaloneService(config, given, kept)
    service: Service = worker
    if has_runner:
        from ottla.cli.connect.node import ConnectNode

        service = ConnectNode(config, worker)
    return run_service("Connect", service, config.settings.string("log.level"), config.unknown)


def _completed(given: dict[str, str], group: str) -> dict[str, str]:
    group = given.get("group.id", group)
    names = {name: f"{group}-{kind}" for name, kind in _TOPICS.items()}
    return {"group.id": group, "key.converter": _JSON, "value.converter": _JSON, **names, **given}


def _properties(path: str) -> dict[str, str]:
    try:
        return parse_properties(_text(path))
    except PropertiesError as error:
        raise CommandError(f"{path}: {error}") from None


def connector_body(path: str) -> dict[str, Any]:
    """The body that creates the connector of a file: properties, or JSON in one of the forms that Kafka reads."""
    if path != "-" and not path.endswith(".json"):
        config: dict[str, Any] = dict(_properties(path))
        return {"name": config.get("name"), "config": config}
    try:
        found = json.loads(_text(path))
    except ValueError as error:
        raise CommandError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise CommandError(f"{path}: has to be a JSON object")
    return found if isinstance(found.get("config"), dict) else {"name": found.get("name"), "config": found}


def _text(path: str) -> str:
    if path == "-":
        return sys.stdin.read()
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise CommandError(f"{path}: {reason}; give a file that can be read") from None
