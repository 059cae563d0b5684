"""`kafka-configs`: describes and alters configs, quotas and SCRAM credentials, with Kafka's flags and output."""

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.config_entity import TYPES, Entities, checked_entities
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
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_KEY: Final = re.compile(r"[$a-zA-Z0-9._-]*")
_SECRET: Final = re.compile(
    r"([\w.-]*(?:password|secret|jaas\.config|keystore\.key)[\w.-]*=)(\[[^\]]*\]?|[^,\]]+)", re.IGNORECASE
)
"""A secret and the name before it, as `--add-config` has them."""
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


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    options = OPTIONS.parse(arguments)
    return _connect(options, checked_entities(options), arguments)


def _connect(options: ChosenOptions, entities: Entities, given: Sequence[str]) -> int:
    from ottla.cli.kafka.output.java_error import java_execution_text, java_text
    from ottla.cli.kafka.session.admin_session import run_work

    try:
        run_work(options, lambda admin: _run(admin, options, entities))
    except OttlaError as error:
        is_value = isinstance(error, OptionValueError)
        if isinstance(error, ToolError) and not is_value:
            raise
        print(f"Error while executing config command with args '{without_secrets(given)}'", file=sys.stderr)
        print(java_text(error) if is_value else java_execution_text(error), file=sys.stderr)
        return 1
    return 0


def without_secrets(given: Sequence[str]) -> str:
    """The arguments as they may stand in the log of whoever calls the tool; Kafka's has the secrets, too.

    >>> without_secrets(["--add-config", "SCRAM-SHA-256=[iterations=4096,password=pw],ssl.key.password=pw,a=b"])
    '--add-config SCRAM-SHA-256=[iterations=4096,password=***],ssl.key.password=***,a=b'
    """
    return " ".join(_SECRET.sub(r"\1***", argument) for argument in given)


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


if __name__ == "__main__":
    sys.exit(main())
