"""`kafka-configs`: describes and alters configs, quotas and SCRAM credentials, with Kafka's flags and output."""

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.ending import ends_quietly
from ottla.cli.kafka.argument.option import (
    BOOTSTRAP_CONTROLLER,
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    OptionValueError,
    ToolError,
)

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

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
_KEY: Final = re.compile(r"[$a-zA-Z0-9._-]*")
_OUTSIDE_BRACKETS: Final = r"(?=[^\]]*(?:\[|$))"

OPTIONS: Final = OptionTable(
    "This tool helps to manipulate and describe entity config for a topic, client, user, broker, ip, client-metrics "
    "or group",
    (
        BOOTSTRAP_SERVER._replace(help="The brokers to connect to, host:port, separated by commas."),
        BOOTSTRAP_CONTROLLER,
        COMMAND_CONFIG,
        Option("alter", "Change configs."),
        Option("describe", "Show configs."),
        Option("all", "Show all configs, and not only the dynamic ones."),
        Option("entity-type", f"What has the configs: one of {', '.join(TYPES)}; users and clients go together.", ""),
        Option("entity-name", "Its name: a topic, client id, user, broker id, address, subscription or group.", ""),
        Option("entity-default", "Its defaults, for users, clients, brokers and ips."),
        Option("add-config", "Configs to set: k1=v1,k2=[v1,v2],k3=v3. Brackets hold values with commas.", ""),
        Option("add-config-file", "A properties file with configs to set.", ""),
        Option("delete-config", "Configs to remove: k1,k2.", ""),
        Option("topic", "The topic.", ""),
        Option("client", "The client id.", ""),
        Option("client-defaults", "The defaults of all clients."),
        Option("user", "The user.", ""),
        Option("user-defaults", "The defaults of all users."),
        Option("broker", "The broker's id.", ""),
        Option("broker-defaults", "The defaults of all brokers."),
        Option("broker-logger", "The id of the broker whose loggers are meant.", ""),
        Option("ip-defaults", "The defaults of all addresses."),
        Option("ip", "The address.", ""),
        Option("group", "The group.", ""),
        Option("client-metrics", "The client metrics subscription.", ""),
    ),
)


class Entities(NamedTuple):
    """What the call is about: types and names side by side; the empty name is the default."""

    types: tuple[str, ...]
    names: tuple[str, ...]


@ends_quietly
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = OPTIONS.parse(given)
        entities = checked_entities(options)
        return _connect(options, entities, given)
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1


def _connect(options: ChosenOptions, entities: Entities, given: Sequence[str]) -> int:
    from ottla.cli.kafka.output.java_error import java_execution_text, java_text
    from ottla.cli.kafka.session.admin_session import run_work

    try:
        run_work(options, lambda admin: _run(admin, options, entities))
    except OttlaError as error:
        is_value = isinstance(error, OptionValueError)
        if isinstance(error, ToolError) and not is_value:
            raise
        print(f"Error while executing config command with args '{' '.join(given)}'", file=sys.stderr)
        print(java_text(error) if is_value else java_execution_text(error), file=sys.stderr)
        return 1
    return 0


async def _run(admin: "AsyncAdmin", options: ChosenOptions, entities: Entities) -> None:
    if options.has("describe"):
        from ottla.cli.kafka.subcommand.configs_describe import describe

        await describe(admin, entities, everything=options.has("all"))
        return
    from ottla.cli.kafka.subcommand.configs_alter import Changes, alter

    if len(entities.types) != len(entities.names):
        raise ToolError("An entity name must be specified for every entity type")
    removed = [name.strip() for text in options.texts("delete-config") for name in text.split(",")]
    await alter(admin, entities, Changes(_added(options), removed))


def _added(options: ChosenOptions) -> dict[str, str]:
    added: dict[str, str] = {}
    path = options.text("add-config-file")
    if path is not None:
        from ottla.cli.kafka.argument.client_setting import properties_in

        added.update(properties_in(path))
    text = options.text("add-config")
    if text is not None:
        added.update(config_pairs(text))
    for name in added:
        if _KEY.fullmatch(name) is None:
            raise ToolError(f"Invalid character found for config key: {name}")
    return added


def config_pairs(text: str) -> dict[str, str]:
    """Configs as `--add-config` takes them.

    >>> config_pairs("a=1,b=[x,y],c=")
    {'a': '1', 'b': 'x,y', 'c': ''}
    """
    pairs = [re.split(rf"\s*=\s*{_OUTSIDE_BRACKETS}", part) for part in re.split(f",{_OUTSIDE_BRACKETS}", text)]
    if any(len(pair) != 2 for pair in pairs):
        raise ToolError(
            "requirement failed: Invalid entity config: all configs to be added must be in the format "
            '"key=val" or  "key=[val1,val2]" '
            "to group values which contain commas."
        )
    return {name.strip(): re.sub(r"[\[\]]", "", value).strip() for name, value in pairs}


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


if __name__ == "__main__":
    sys.exit(main())
