"""Which entities a call of `kafka-configs` is about, and whether its options fit them, in Kafka's words."""

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.cli.kafka.argument.option import (
    ChosenOptions,
    ToolError,
)

if TYPE_CHECKING:
    pass


TYPES: Final = ("topics", "clients", "users", "brokers", "ips", "client-metrics", "groups", "broker-loggers")


_FLAGS: Final = {
    "topic": "topics",
    "client": "clients",
    "user": "users",
    "broker": "brokers",
    "broker-logger": "broker-loggers",
    "ip": "ips",
    "client-metrics": "client-metrics",
    "group": "groups",
}


_DEFAULT_FLAGS: Final = {
    "client-defaults": "clients",
    "user-defaults": "users",
    "broker-defaults": "brokers",
    "ip-defaults": "ips",
}


_WITH_DEFAULTS: Final = ("users", "clients", "brokers", "ips")


class Entities(NamedTuple):
    """What the call is about: types and names side by side; the empty name is the default."""

    types: tuple[str, ...]
    names: tuple[str, ...]


def checked_entities(options: ChosenOptions) -> Entities:
    """What the call is about, if it makes sense."""
    if options.has("alter") == options.has("describe"):
        options.fail("Command must include exactly one action: --describe, --alter")
    options.forbid("describe", "alter", "add-config", "delete-config")
    entities = Entities(_types(options), _names(options))
    if len(set(entities.types)) != len(entities.types):
        twice = [name for index, name in enumerate(entities.types) if name in entities.types[:index]]
        raise ToolError(f"Duplicate entity type(s) specified: {','.join(dict.fromkeys(twice))}")
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        raise ToolError("Either --bootstrap-server or --bootstrap-controller must be specified.")
    _check_types(options, entities)
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise ToolError("Only one of --bootstrap-server or --bootstrap-controller can be specified")
    _check_names(entities)
    if options.has("describe"):
        _check_describe(options, entities)
    else:
        _check_alter(options, entities)
    return entities


def _types(options: ChosenOptions) -> tuple[str, ...]:
    flags = {**_FLAGS, **_DEFAULT_FLAGS}
    return (*options.texts("entity-type"), *(kind for flag, kind in flags.items() if options.has(flag)))


def _names(options: ChosenOptions) -> tuple[str, ...]:
    named = [value or "" for name, value in options.order if name in ("entity-name", "entity-default")]
    flagged = [options.text(flag) or "" for flag in _FLAGS if options.has(flag)]
    return (*named, *flagged, *("" for flag in _DEFAULT_FLAGS if options.has(flag)))


def _check_types(options: ChosenOptions, entities: Entities) -> None:
    for kind in entities.types:
        if kind not in TYPES:
            raise ToolError(
                f"Invalid entity type {kind}, the entity type must be one of {', '.join(TYPES)} "
                "with a --bootstrap-server or --bootstrap-controller argument"
            )
    if not entities.types:
        raise ToolError("At least one entity type must be specified")
    if len(entities.types) > 1 and set(entities.types) != {"users", "clients"}:
        raise ToolError("Only 'users' and 'clients' entity types may be specified together")
    general = any(options.has(name) for name in ("entity-name", "entity-type", "entity-default"))
    if general and any(options.has(flag) for flag in (*_FLAGS, *_DEFAULT_FLAGS)):
        raise ToolError("--entity-{type,name,default} should not be used in conjunction with specific entity flags")


def _check_names(entities: Entities) -> None:
    named = [name for name in entities.names if name]
    if {"brokers", "broker-loggers"} & set(entities.types):
        for name in named:
            if re.fullmatch(r"[+-]?\d+", name) is None:
                raise ToolError(
                    f"The entity name for {entities.types[0]} must be a valid integer broker id, but it is: {name}"
                )
    if "ips" in entities.types:
        for name in named:
            _check_address(name, entities.types[0])


def _check_address(name: str, kind: str) -> None:
    import socket

    try:
        socket.getaddrinfo(name, None)
    except OSError as error:
        raise ToolError(
            f"The entity name for {kind} must be a valid IP or resolvable host, but it is: {name}"
        ) from error


def _check_describe(options: ChosenOptions, entities: Entities) -> None:
    listed = ",".join(entities.types)
    if options.has("entity-default") and not set(entities.types) & set(_WITH_DEFAULTS):
        raise ToolError(f"--entity-default must not be specified with --describe of {listed}")
    if "broker-loggers" in entities.types and not any(entities.names):
        raise ToolError(f"An entity name must be specified with --describe of {listed}")


def _check_alter(options: ChosenOptions, entities: Entities) -> None:
    if set(entities.types) & set(_WITH_DEFAULTS):
        if not entities.names:
            raise ToolError(
                "An entity-name or default entity must be specified with --alter of users, clients, brokers or ips"
            )
    elif not any(entities.names):
        raise ToolError(f"An entity name must be specified with --alter of {','.join(entities.types)}")
    if options.has("add-config") and options.has("add-config-file"):
        raise ToolError("Only one of --add-config or --add-config-file must be specified")
    if not any(options.has(name) for name in ("add-config", "add-config-file", "delete-config")):
        raise ToolError(
            "At least one of --add-config, --add-config-file, or --delete-config must be specified with --alter"
        )
