"""`kafka-metadata-quorum`: describes the metadata quorum and changes its voters. Flags and output are Kafka's."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ottla.cli.argument import ToolParser, add_commands
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.session.tool_main import tool_main, with_java_class

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.admin.value.cluster import QuorumInfo, QuorumReplica

_COMMANDS: Final = (
    ("describe", "describe the metadata quorum"),
    ("add-controller", "make the controller of --command-config a voter"),
    ("remove-controller", "take a controller out of the quorum"),
)
_HEADERS: Final = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)


@tool_main(with_java_class)
def main(arguments: list[str]) -> None:
    """Runs the tool."""
    options = _parser().parse_args(arguments)
    settings = _settings(options)
    _check(options)
    from ottla.cli.kafka.session.admin_session import run_with

    run_with(settings, lambda admin: _run(admin, options, settings))


def _parser() -> ToolParser:
    parser = ToolParser(prog="kafka-metadata-quorum", description="Look after the metadata quorum.")
    whom = parser.add_mutually_exclusive_group(required=True)
    whom.add_argument("--bootstrap-server", help="the brokers to connect to, host:port, separated by commas")
    whom.add_argument("--bootstrap-controller", help="the controllers to connect to instead")
    parser.add_argument(
        "--command-config",
        help="a properties file with settings of the admin client; for add-controller the controller's own",
    )
    commands = add_commands(parser, _COMMANDS)
    commands["describe"].add_argument("--status", action="store_true", help="a summary")
    commands["describe"].add_argument("--replication", action="store_true", help="a line per replica")
    commands["describe"].add_argument("--human-readable", action="store_true", help="times as ages")
    commands["remove-controller"].add_argument("--controller-id", "-i", type=int, required=True, help="its node id")
    commands["remove-controller"].add_argument(
        "--controller-directory-id", "-d", required=True, help="the id of its metadata directory"
    )
    for name in ("add-controller", "remove-controller"):
        commands[name].add_argument("--dry-run", action="store_true", help="only say what would be done")
    return parser


def _settings(options: Namespace) -> dict[str, object]:
    from pathlib import Path

    from ottla.cli.kafka.argument.client_setting import properties_in

    path = options.command_config
    if path is not None and not Path(path).exists():
        raise ToolError(f"Properties file {path} does not exists!")
    given: dict[str, object] = dict(properties_in(path))
    given["bootstrap.servers"] = options.bootstrap_server
    given["bootstrap.controllers"] = options.bootstrap_controller
    return given


def _check(options: Namespace) -> None:
    if options.command == "describe":
        if options.status and options.replication:
            raise ToolError("Only one of --status or --replication should be specified with describe sub-command")
        if not options.status and not options.replication:
            raise ToolError("One of --status or --replication must be specified with describe sub-command")
        if options.status and options.human_readable:
            raise ToolError("The option --human-readable is only supported along with --replication")
    elif options.command == "add-controller" and options.command_config is None:
        raise ToolError(
            "You must supply the configuration file of the controller you are adding when using add-controller."
        )


async def _run(admin: "AsyncAdmin", options: Namespace, settings: Mapping[str, object]) -> None:
    if options.command == "add-controller":
        from ottla.cli.kafka.subcommand.metadata_quorum_voter import add_controller

        await add_controller(admin, settings, dry_run=options.dry_run)
    elif options.command == "remove-controller":
        from ottla.cli.kafka.subcommand.metadata_quorum_voter import remove_controller

        identity = (options.controller_id, options.controller_directory_id)
        await remove_controller(admin, *identity, dry_run=options.dry_run)
    elif options.status:
        _print_status((await admin.describe_cluster()).cluster_id, await admin.describe_metadata_quorum())
    else:
        _print_replication(await admin.describe_metadata_quorum(), ages=options.human_readable)


def _leader(quorum: "QuorumInfo") -> "QuorumReplica":
    for voter in quorum.voters:
        if voter.replica_id == quorum.leader_id:
            return voter
    raise ToolError("No value present")


def _print_status(cluster_id: str, quorum: "QuorumInfo") -> None:
    leader = _leader(quorum)
    slowest = min(quorum.voters, key=lambda voter: voter.log_end_offset)
    lag_ms = -1
    if slowest == leader:
        lag_ms = 0
    elif leader.last_caught_up_timestamp is not None and slowest.last_caught_up_timestamp is not None:
        lag_ms = leader.last_caught_up_timestamp - slowest.last_caught_up_timestamp
    for name, value in (
        ("ClusterId", cluster_id),
        ("LeaderId", quorum.leader_id),
        ("LeaderEpoch", quorum.leader_epoch),
        ("HighWatermark", quorum.high_watermark),
        ("MaxFollowerLag", leader.log_end_offset - slowest.log_end_offset),
        ("MaxFollowerLagTimeMs", lag_ms),
        ("CurrentVoters", _replicas(quorum, quorum.voters)),
        ("CurrentObservers", _replicas(quorum, quorum.observers)),
    ):
        print(f"{name + ':':<24}{value}")


def _replicas(quorum: "QuorumInfo", replicas: Sequence["QuorumReplica"]) -> str:
    return f"[{', '.join(_replica(quorum, replica) for replica in replicas)}]"


def _replica(quorum: "QuorumInfo", replica: "QuorumReplica") -> str:
    from ottla.base.ids import ZERO_UUID

    parts = [f'"id": {replica.replica_id}']
    if replica.directory_id != ZERO_UUID:
        parts.append(f'"directoryId": "{replica.directory_id}"')
    endpoints = quorum.nodes.get(replica.replica_id, ())
    if endpoints:
        listed = ", ".join(f'"{end.listener}://{_host(end.host)}:{end.port}"' for end in endpoints)
        parts.append(f'"endpoints": [{listed}]')
    return f"{{{', '.join(parts)}}}"


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _print_replication(quorum: "QuorumInfo", *, ages: bool) -> None:
    from ottla.cli.kafka.output.table import table_text

    leader = _leader(quorum)
    kinds = [(leader, "Leader")]
    kinds += [(voter, "Follower") for voter in quorum.voters if voter.replica_id != quorum.leader_id]
    kinds += [(observer, "Observer") for observer in quorum.observers]
    rows = [
        (
            replica.replica_id,
            replica.directory_id,
            replica.log_end_offset,
            leader.log_end_offset - replica.log_end_offset,
            _time(replica.last_fetch_timestamp, "last fetch", ages=ages),
            _time(replica.last_caught_up_timestamp, "last caught up", ages=ages),
            status,
        )
        for replica, status in kinds
    ]
    print(table_text(_HEADERS, rows))


def _time(timestamp_ms: int | None, what: str, *, ages: bool) -> str:
    if timestamp_ms is None:
        return "-1"
    if not ages:
        return str(timestamp_ms)
    import time

    now_ms = round(time.time() * 1000)
    if not 0 < timestamp_ms <= now_ms:
        raise ToolError(
            "Error while computing relative time, possible drift in system clock.\n"
            f"Current timestamp is {now_ms}, {what} timestamp is {timestamp_ms}"
        )
    return f"{now_ms - timestamp_ms} ms ago"


if __name__ == "__main__":
    sys.exit(main())
