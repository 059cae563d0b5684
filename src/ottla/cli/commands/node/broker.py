"""Run a node: a broker and its controller in one process, ready for every Kafka client.

Without a file it is a cluster of its own on this machine: data in ./ottla-data, clients at 127.0.0.1:9092, metrics at
http://127.0.0.1:9644/metrics. An empty data directory is formatted by itself. A file in the form of Kafka's
server.properties may say anything else; what it does not say keeps these defaults.
"""

import argparse
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.cli.node.listen_default import DEFAULT_DATA, DEFAULT_HTTP, DEFAULT_LISTEN

if TYPE_CHECKING:
    from ottla.broker.config.server_config import ServerConfig
    from ottla.broker.node.node import Node

LEVELS = ("trace", "debug", "info", "warn", "error")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="a server.properties file")
    parser.add_argument("--data", metavar="DIR", help=f"the data directory (default: {DEFAULT_DATA})")
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help=f"the address for clients; PORT: on this machine, :PORT: on all interfaces (default: {DEFAULT_LISTEN})",
    )
    parser.add_argument(
        "--http", metavar="HOST:PORT", help=f"the address of metrics and health, or off (default: {DEFAULT_HTTP})"
    )
    parser.add_argument(
        "--override", metavar="KEY=VALUE", action="append", default=[], help="a setting; it overrides the file's"
    )
    parser.add_argument("--strict", action="store_true", help="refuse unknown settings instead of warning")
    parser.add_argument(
        "--log-level", choices=LEVELS, default="warn", help="the least level that is logged (default: warn)"
    )
    parser.add_argument(
        "--log-format", choices=("kafka", "json"), default="kafka", help="the form of log lines (default: kafka)"
    )


def run(options: argparse.Namespace) -> int:
    """Runs the node until it is stopped; the exit code."""
    from ottla.base.log import LogForm, configure
    from ottla.cli.node.auto_format import format_if_empty
    from ottla.cli.node.lone_node import LoneNodeOptions, lone_node_settings
    from ottla.cli.serving import serve

    configure(options.log_level.upper(), form=LogForm(options.log_format))
    given = LoneNodeOptions(options.config, options.data, options.listen, options.http, options.override)
    source = lone_node_settings(given)
    for note in source.notes:
        print(f"ottla: {note}. `ottla config upgrade {options.config or 'FILE'}` prints it for 4.3.", file=sys.stderr)
    config = source.config(strict=options.strict)
    complaint = _busy(config) or _in_use(config)
    if complaint is not None:
        print(f"ottla: {complaint}", file=sys.stderr)
        return 1
    is_new = format_if_empty(config)
    return serve(config, _announcer(config, is_new=is_new))


def _busy(config: "ServerConfig") -> str | None:
    """Why an address cannot be listened on, said before anything is written."""
    asked = [("--listen", listener.host, listener.port) for listener in config.broker_listeners]
    if config.http_listen is not None:
        asked.append(("--http", *config.http_listen))
    return next((complaint for option, host, port in asked if (complaint := _complaint(option, host, port))), None)


def _in_use(config: "ServerConfig") -> str | None:
    """Why a data directory cannot be used: another node has it."""
    from ottla.cli.node.data_owner import owner_of

    for directory in sorted({*config.log_dirs, config.metadata_log_dir}):
        owner = owner_of(directory)
        if owner is not None:
            return (
                f"{os.path.relpath(directory)} is in use by {owner}. Stop that one, or give this one a directory and a "
                "port of its own: ottla broker --data DIR --listen PORT"
            )
    return None


def _complaint(option: str, host: str, port: int) -> str | None:
    from ottla.broker.config.listener import HostPort
    from ottla.cli.node.port import free_port, is_taken, refusal

    error = refusal(host, port)
    if error is None:
        return None
    if not is_taken(error):
        return f"{option} {HostPort(host, port)}: cannot listen there: {error.strerror}"
    other = HostPort(host, free_port(host, port + 100))
    return (
        f"port {port} is in use by another process, perhaps another broker. Stop that one, or choose another port: "
        f"ottla broker {option} {other}"
    )


def _announcer(config: "ServerConfig", *, is_new: bool) -> "Callable[[Node], None]":
    def announce(node: "Node") -> None:
        from ottla.broker.config.listener import HostPort

        addresses = [HostPort(*node.listener_address(listener.name)) for listener in config.broker_listeners]
        servers = ",".join(str(address._replace(host=_dialled(address.host))) for address in addresses)
        data = ", ".join(os.path.relpath(directory) for directory in config.log_dirs)
        http = node.http_address
        metrics = f", metrics at http://{HostPort(*http)}/metrics" if http is not None else ""
        ports = [str(port) for _, port in map(node.listener_address, _names(config))]
        controller = f", controller on port {', '.join(ports)}, not for clients" if ports else ""
        print(
            f"Ready. Connect with bootstrap.servers={servers} ({'new' if is_new else 'existing'} data in {data}"
            f"{metrics}{controller}). Ctrl-C stops.",
            flush=True,
        )

    return announce


def _names(config: "ServerConfig") -> list[str]:
    return [listener.name for listener in config.controller_listeners]


def _dialled(host: str) -> str:
    """The address to dial for a listener that is bound to all interfaces."""
    return "localhost" if host in ("", "0.0.0.0", "::") else host
