"""`kafka-reassign-partitions`: moves partitions between brokers and directories. Flags and output are Kafka's."""

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
from ottla.cli.kafka.session.tool_main import plainly, tool_main

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin

_REQUIRED: Final = {
    "generate": ("topics-to-move-json-file", "broker-list"),
    "execute": ("reassignment-json-file",),
    "verify": ("reassignment-json-file",),
    "cancel": ("reassignment-json-file",),
    "list": (),
}
_PERMITTED: Final = {
    "generate": ("bootstrap-server", "command-config", "disable-rack-aware"),
    "execute": (
        "additional",
        "bootstrap-server",
        "command-config",
        "throttle",
        "replica-alter-log-dirs-throttle",
        "timeout",
        "disallow-replication-factor-change",
    ),
    "verify": ("bootstrap-server", "command-config", "preserve-throttles"),
    "cancel": ("bootstrap-server", "bootstrap-controller", "command-config", "preserve-throttles", "timeout"),
    "list": ("bootstrap-server", "bootstrap-controller", "command-config"),
}

OPTIONS: Final = OptionTable(
    "This tool helps to move topic partitions between replicas.",
    (
        BOOTSTRAP_SERVER._replace(help="The brokers to connect to.", is_optional=True),
        BOOTSTRAP_CONTROLLER._replace(help="The controllers to connect to, for --cancel and --list.", is_optional=True),
        COMMAND_CONFIG,
        Option("verify", "Tell whether a reassignment is done; if it is, remove the throttles."),
        Option("generate", "Propose an assignment, and do nothing."),
        Option("execute", "Start a reassignment."),
        Option("cancel", "Cancel a reassignment."),
        Option("list", "List the reassignments under way."),
        Option(
            "reassignment-json-file",
            'The wanted assignment: {"partitions": [{"topic": "foo", "partition": 1, "replicas": [1,2], '
            '"log_dirs": ["any", "/data"]}], "version": 1}; log_dirs may be left out.',
            "manual assignment json file path",
        ),
        Option(
            "topics-to-move-json-file",
            'The topics for --generate: {"topics": [{"topic": "foo"}], "version": 1}',
            "topics to reassign json file path",
        ),
        Option("broker-list", "The brokers for --generate, separated by commas.", "brokerlist"),
        Option("disable-rack-aware", "Don't look at racks."),
        Option("throttle", "Bytes per second for moves between brokers.", "throttle", "Long", default="-1"),
        Option(
            "replica-alter-log-dirs-throttle",
            "Bytes per second for moves between directories.",
            "replicaAlterLogDirsThrottle",
            "Long",
            default="-1",
        ),
        Option("timeout", "How long to wait until moves between directories begin.", "timeout", "Long",
               default="10000"),
        Option("additional", "Start it beside others that are under way, or change its throttle."),
        Option("preserve-throttles", "Leave throttles as they are."),
        Option("disallow-replication-factor-change", "Refuse to change the number of replicas."),
    ),
)  # fmt: skip


def _tell(error: OttlaError) -> None:
    from ottla.cli.kafka.output.java_error import java_text
    from ottla.cli.kafka.subcommand.reassign_plan import TerseError

    if isinstance(error, TerseError):
        print(error)
    else:
        print(f"Error: {error if isinstance(error, ToolError) else java_text(error)}")


@tool_main(_tell)
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    try:
        options = OPTIONS.parse(arguments)
        action = _action(options)
    except ToolError as error:
        plainly(error)
        return 1
    from ottla.cli.kafka.session.admin_session import run_work

    run_work(options, lambda admin: _run(admin, options, action))
    return 0


def _action(options: ChosenOptions) -> str:
    given = [action for action in _REQUIRED if options.has(action)]
    if len(given) != 1:
        listed = ", ".join(f"--{action}" for action in _REQUIRED)
        options.fail(f"Command must include exactly one action: {listed}")
    [action] = given
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        options.fail("Please don't specify both --bootstrap-server and --bootstrap-controller")
    if not options.has("bootstrap-server") and not options.has("bootstrap-controller"):
        options.fail("Please specify either --bootstrap-server or --bootstrap-controller")
    options.require(*_REQUIRED[action])
    for name, _ in options.order:
        if name not in (action, *_REQUIRED[action], *_PERMITTED[action]):
            options.fail(f'Option "[{name}]" can\'t be used with action "[{action}]"')
    return action


async def _run(admin: "AsyncAdmin", options: ChosenOptions, action: str) -> None:
    from ottla.cli.kafka.argument.partition_file import read_text
    from ottla.cli.kafka.subcommand import reassign_execute, reassign_generate, reassign_verify
    from ottla.cli.kafka.subcommand.reassign_plan import parse_plan

    if action == "list":
        await reassign_verify.print_reassignments(admin)
    elif action == "generate":
        topics = read_text(options.required_text("topics-to-move-json-file"))
        brokers = options.required_text("broker-list")
        await reassign_generate.generate(admin, topics, brokers, by_rack=not options.has("disable-rack-aware"))
    else:
        for name in ("throttle", "replica-alter-log-dirs-throttle", "timeout"):
            options.integer(name)  # raises what is no number before anything is said or done
        plan = parse_plan(read_text(options.required_text("reassignment-json-file")))
        if action == "verify":
            await reassign_verify.verify(admin, plan, keep_throttles=options.has("preserve-throttles"))
        elif action == "execute":
            await reassign_execute.execute(admin, plan, options)
        else:
            await reassign_execute.cancel(admin, plan, options)


if __name__ == "__main__":
    sys.exit(main())
