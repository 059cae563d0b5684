"""`kafka-cluster`: the cluster's id, its endpoints, brokers unregistered. Flags, output and exit codes are Kafka's."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Final

from ottla.cli.argument import ToolParser, add_commands
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.session.tool_main import tool_main, with_java_class

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_COMMANDS: Final = (
    ("cluster-id", "print the id of the cluster"),
    ("unregister", "forget a broker that won't come back"),
    ("list-endpoints", "list the brokers, or the controllers, and their addresses"),
)


@tool_main(with_java_class)
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = _parser().parse_args(arguments)
    if options.config is not None and options.command_config is not None:
        raise ToolError("--config and --command-config cannot be specified together.")
    if options.config is not None:
        print(
            "Option --config has been deprecated and will be removed in a future version. Use --command-config instead."
        )
    from ottla.cli.kafka.argument.client_setting import properties_in
    from ottla.cli.kafka.session.admin_session import run_with

    given: dict[str, object] = dict(properties_in(options.config or options.command_config))
    given["bootstrap.servers"] = options.bootstrap_server
    given["bootstrap.controllers"] = options.bootstrap_controller
    run_with(given, lambda admin: _run(admin, options))


def _parser() -> ToolParser:
    parser = ToolParser(prog="kafka-cluster", description="Look at the cluster as a whole.", help_code=1)
    commands = add_commands(parser, _COMMANDS)
    for command in commands.values():
        whom = command.add_mutually_exclusive_group(required=True)
        whom.add_argument("--bootstrap-server", "-b", help="the brokers to connect to")
        whom.add_argument("--bootstrap-controller", "-C", help="the controllers to connect to")
        command.add_argument("--config", help="the same as --command-config")
        command.add_argument("--command-config", "-c", help="a properties file with settings of the admin client")
    commands["unregister"].add_argument("--id", "-i", type=int, required=True, help="the id of the broker")
    commands["list-endpoints"].add_argument(
        "--include-fenced-brokers", action="store_true", help="also brokers that are registered and not alive"
    )
    return parser


async def _run(admin: "AsyncAdmin", options: Namespace) -> None:
    if options.command == "cluster-id":
        print(f"Cluster ID: {(await admin.describe_cluster()).cluster_id}")
    elif options.command == "unregister":
        await _unregister(admin, options.id)
    else:
        are_controllers = options.bootstrap_controller is not None
        if are_controllers and options.include_fenced_brokers:
            raise ToolError("The option --include-fenced-brokers is only supported with --bootstrap-server option")
        await _list(admin, are_controllers=are_controllers, with_fenced=options.include_fenced_brokers)


async def _unregister(admin: "AsyncAdmin", broker_id: int) -> None:
    from ottla.protocol.errors import UnsupportedVersionError

    try:
        await admin.unregister_broker(broker_id)
    except UnsupportedVersionError:
        print("The target cluster does not support the broker unregistration API.")
    else:
        print(f"Broker {broker_id} is no longer registered.")


async def _list(admin: "AsyncAdmin", *, are_controllers: bool, with_fenced: bool) -> None:
    nodes = (await admin.describe_cluster(include_fenced_brokers=with_fenced)).nodes
    host_width = max((len(node.host) for node in nodes), default=100)
    rack_width = max((len(node.rack) for node in nodes if node.rack is not None), default=10)

    def line(*cells: object) -> str:
        node, host, port, rack, *rest = map(str, cells)
        state = "" if are_controllers else f"{rest[0]:<10} "
        return f"{node:<10} {host:<{host_width}} {port:<10} {rack:<{rack_width}} {state}{rest[-1]:<15}"

    print(line("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE"))
    kind = "controller" if are_controllers else "broker"
    for node in nodes:
        rack = "null" if node.rack is None else node.rack
        print(line(node.id, node.host, node.port, rack, "fenced" if node.is_fenced else "unfenced", kind))


if __name__ == "__main__":
    sys.exit(main())
