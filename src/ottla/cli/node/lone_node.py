"""The settings of `ottla broker`: a cluster of one on this machine, unless a file says otherwise.

What a file or an option gives counts; everything else has a default that makes a single node useful at once. The
controller listens on loopback alone: only this process talks to it. Its port is the one behind the clients'
port, or any other if that is taken.
"""

import os
from collections.abc import Sequence
from typing import Final

from ottla.base.frozen import frozen
from ottla.broker.config.listener import HostPort, normalised, parse_host_port, parse_listener
from ottla.broker.config.loading import ConfigLoadError, SettingSource
from ottla.cli.node.listen_default import DEFAULT_DATA, DEFAULT_HTTP, DEFAULT_LISTEN
from ottla.cli.node.port import free_port
from ottla.storage.disk.local import LocalDisk
from ottla.storage.meta_properties import read_meta_properties

_LOOPBACK: Final = "127.0.0.1"
_PLACE: Final = "ottla broker"
_ROLES: Final = "broker,controller"
_DEFAULTS: Final = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # No other member will join in the next three seconds: a group of one node starts at once.
    "group.initial.rebalance.delay.ms": "0",
    "advertised.listeners.follow.dialled": "true",
}


@frozen
class LoneNodeOptions:
    """What the command line says."""

    config: str | None = None
    data: str | None = None
    listen: str | None = None
    http: str | None = None
    overrides: Sequence[str] = ()


def lone_node_settings(options: LoneNodeOptions) -> SettingSource:
    """All settings of the node, each with the place where it was said."""
    source = SettingSource(options.config or _PLACE)
    if options.config is not None:
        source.add_file(options.config)
    source.add_overrides(options.overrides)
    source.translate()
    _add_data(source, options.data)
    source.add_defaults({"process.roles": _ROLES, "node.id": _node_id(source)}, place=_PLACE)
    if options.http is not None and options.http != "off":
        source.add("http.listen", str(parse_listen(options.http)), place=f"--http {options.http}")
    _add_listeners(source, options.listen)
    if options.http is None:
        source.add_defaults({"http.listen": _default_http()}, place=_PLACE)
    source.add_defaults(_DEFAULTS, place=_PLACE)
    return source


def parse_listen(text: str) -> HostPort:
    """An address on the command line: `HOST:PORT`, or a port on this machine, or `:PORT` on all interfaces.

    >>> parse_listen("9092"), parse_listen(":9092"), parse_listen("[::1]:0")
    (HostPort(host='127.0.0.1', port=9092), HostPort(host='', port=9092), HostPort(host='::1', port=0))
    """
    try:
        if text.startswith(":"):
            return parse_host_port(f"all{text}")._replace(host="")
        return parse_host_port(f"{_LOOPBACK}:{text}" if text.isdigit() else text)
    except ValueError as error:
        raise ConfigLoadError(f"{text} is no address to listen on: {error}") from error


def _add_data(source: SettingSource, data: str | None) -> None:
    if data is not None:
        source.add("log.dirs", data, place=f"--data {data}")
    elif "log.dir" not in source.settings:
        source.add_defaults({"log.dirs": DEFAULT_DATA}, place=_PLACE)


def _node_id(source: SettingSource) -> str:
    """The id of the node that the data belongs to already, else 1."""
    if "broker.id" in source.settings:
        return source.settings["broker.id"].value
    directories = source.settings.get("log.dirs") or source.settings["log.dir"]
    first = directories.value.split(",")[0].strip()
    if os.path.exists(first) and not os.path.isdir(first):
        raise ConfigLoadError(f"{first} is no directory, and data is kept in one")
    found = read_meta_properties(LocalDisk(), first)
    return "1" if found is None or found.node_id is None else str(found.node_id)


def _add_listeners(source: SettingSource, listen: str | None) -> None:
    is_controller = "controller" in source.settings["process.roles"].value
    names = _controller_names(source)
    given = [text.strip() for text in _text(source, "listeners").split(",") if text.strip()]
    controllers = [text for text in given if _name(text) in names]
    brokers = [text for text in given if _name(text) not in names]
    place = _PLACE
    if listen is not None:
        brokers, place = [f"PLAINTEXT://{parse_listen(listen)}"], f"--listen {listen}"
    elif not given:
        brokers = [f"PLAINTEXT://{DEFAULT_LISTEN}"]
    if is_controller and not controllers:
        port = parse_listener(brokers[0]).port if brokers else 0
        controllers = [f"{names[0]}://{_LOOPBACK}:{_controller_port(source, port + 1)}"]
    texts = brokers + controllers
    if texts != given:
        source.add("listeners", ",".join(texts), place=place)
    source.add_defaults({"controller.listener.names": names[0]}, place=_PLACE)
    if controllers and "controller.quorum.voters" not in source.settings:
        address = parse_listener(controllers[0])
        own = HostPort(address.host or "localhost", address.port)
        source.add_defaults({"controller.quorum.bootstrap.servers": str(own)}, place=_PLACE)


def _controller_port(source: SettingSource, preferred: int) -> int:
    """`preferred`, or another if that is taken or going to be, by the port for metrics."""
    http = _text(source, "http.listen").strip()
    is_wanted = bool(http) and parse_host_port(http).port == preferred
    return free_port(_LOOPBACK, 0 if is_wanted else preferred)


def _controller_names(source: SettingSource) -> list[str]:
    names = [normalised(name) for name in _text(source, "controller.listener.names").split(",") if name.strip()]
    return names or ["CONTROLLER"]


def _text(source: SettingSource, key: str) -> str:
    setting = source.settings.get(key)
    return "" if setting is None else setting.value


def _name(text: str) -> str:
    return normalised(text.partition("://")[0])


def _default_http() -> str:
    """A second node on this machine finds the port taken, and need not fail for it."""
    host, port = parse_listen(DEFAULT_HTTP)
    return str(HostPort(host, free_port(host, port)))
