"""`kafka-acls`: adds, removes and lists access control entries. Flags, output and exit codes are Kafka's."""

import sys
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import (
    BOOTSTRAP_CONTROLLER,
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    ChosenOptions,
    Option,
    OptionTable,
    ToolError,
)
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_ACTIONS: Final = ("add", "remove", "list")

OPTIONS: Final = OptionTable(
    "This tool helps to manage acls on kafka.",
    (
        BOOTSTRAP_SERVER._replace(help="The brokers to connect to, host:port, separated by commas."),
        BOOTSTRAP_CONTROLLER,
        COMMAND_CONFIG._replace(is_optional=True),
        Option("topic", "The topic, * for all; may be repeated, as all resources.", "topic"),
        Option("cluster", "The cluster itself."),
        Option("group", "The group.", "group"),
        Option("transactional-id", "The transactional id.", "transactional-id"),
        Option("idempotent", "With --producer: also the right to write without duplicates."),
        Option("delegation-token", "The delegation token.", "delegation-token"),
        Option("user-principal", "The user, as a resource.", "user-principal"),
        Option(
            "resource-pattern-type",
            "How names are meant: literal or prefixed; for --list and --remove also any or match.",
            "",
            default="LITERAL",
        ),
        Option("add", "Add entries."),
        Option("remove", "Remove entries."),
        Option("list", "List entries."),
        Option("operation", "What is allowed or denied: Read, Write, Create, Delete, ...; may be repeated.", "",
               default="All"),
        Option("allow-principal", "Who is allowed, as in User:alice; may be repeated.", "allow-principal"),
        Option("deny-principal", "Who is denied; may be repeated.", "deny-principal"),
        Option("principal", "With --list: only entries of this principal; may be repeated.", "principal",
               is_optional=True),
        Option("allow-host", "From where; without it from everywhere.", "allow-host"),
        Option("deny-host", "From where; without it from everywhere.", "deny-host"),
        Option("producer", "What a producer needs on the topics."),
        Option("consumer", "What a consumer needs on the topics and groups."),
        Option("force", "Don't ask before removing."),
    ),
)  # fmt: skip


def _tell(error: OttlaError) -> None:
    from ottla.cli.kafka.output.java_error import java_text

    print(f"Error while executing ACL command: {error if isinstance(error, ToolError) else java_text(error)}")


@tool_main(_tell)
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    with OPTIONS.shown_for_errors():
        options = OPTIONS.parse(arguments)
    _check(options)
    from ottla.cli.kafka.session.admin_session import run_work

    if options.has("command-config") and options.text("command-config") is None:
        print("Did not load any properties since the property file is not specified")
    run_work(options, lambda admin: _run(admin, options))


def _check(options: ChosenOptions) -> None:
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        options.fail("Only one of --bootstrap-server or --bootstrap-controller must be specified")
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        options.fail("One of --bootstrap-server or --bootstrap-controller must be specified")
    if sum(options.has(action) for action in _ACTIONS) != 1:
        options.fail("Command must include exactly one action: --list, --add, --remove. ")
    denials = ("deny-principal", "deny-host")
    options.forbid("list", "producer", "consumer", "allow-host", "allow-principal", "deny-host", "deny-principal")
    options.forbid("producer", "operation", *denials)
    options.forbid("consumer", "operation", *denials)
    if options.has("principal") and not options.has("list"):
        options.fail("The --principal option is only available if --list is set")
    if options.has("producer") and not options.has("topic"):
        options.fail("With --producer you must specify a --topic")
    if options.has("idempotent") and not options.has("producer"):
        options.fail("The --idempotent option is only available if --producer is set")
    others = options.has("cluster") or options.has("transactional-id")
    if options.has("consumer") and (
        not options.has("topic") or not options.has("group") or (others and not options.has("producer"))
    ):
        options.fail(
            "With --consumer you must specify a --topic and a --group and no --cluster or --transactional-id option "
            "should be specified."
        )


async def _run(admin: "AsyncAdmin", options: ChosenOptions) -> None:
    from ottla.cli.kafka.subcommand import acls_change, acls_list

    if options.has("add"):
        await acls_change.add(admin, options)
    elif options.has("remove"):
        await acls_change.remove(admin, options)
    else:
        await acls_list.print_acls(admin, options)


if __name__ == "__main__":
    sys.exit(main())
