"""`kafka-run-class`: runs a tool by the name of Kafka's class for it, as other projects' scripts do with the server.

The package before the name does not count: tools have moved between packages from one release of Kafka to the next.
With `-daemon` the output goes to a file in `$LOG_DIR`, or in `./logs`, named as `-name` says or else like the class.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from ottla.cli.daemon import detach
from ottla.cli.kafka.removed import main_class_hint

_PACKAGE: Final = "ottla.cli.kafka"
_USAGE: Final = "[-daemon] [-name servicename] [-loggc] classname [opts]"
MODULES: Final = {
    "AclCommand": "acls",
    "BrokerApiVersionsCommand": "broker_api_versions",
    "ClientMetricsCommand": "client_metrics",
    "ClusterTool": "cluster",
    "ConfigCommand": "configs",
    "ConsoleConsumer": "console_consumer",
    "ConsoleProducer": "console_producer",
    "ConsumerGroupCommand": "consumer_groups",
    "ConsumerPerformance": "consumer_perf_test",
    "DelegationTokenCommand": "delegation_tokens",
    "DeleteRecordsCommand": "delete_records",
    "DumpLogSegments": "dump_log",
    "EndToEndLatency": "e2e_latency",
    "FeatureCommand": "features",
    "GetOffsetShell": "get_offsets",
    "GroupsCommand": "groups",
    "Kafka": "server_start",
    "LeaderElectionCommand": "leader_election",
    "LogDirsCommand": "log_dirs",
    "MetadataQuorumCommand": "metadata_quorum",
    "ProducerPerformance": "producer_perf_test",
    "ReassignPartitionsCommand": "reassign_partitions",
    "ReplicaVerificationTool": "replica_verification",
    "StorageTool": "storage",
    "StreamsResetter": "streams_application_reset",
    "TopicCommand": "topics",
    "TransactionsCommand": "transactions",
    "VerifiableConsumer": "verifiable_consumer",
    "VerifiableProducer": "verifiable_producer",
}
"""Kafka's classes, without their packages, and our modules."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Becomes the tool; returns only where there is none, or with `-daemon`."""
    rest = list(sys.argv[1:] if arguments is None else arguments)
    is_daemon, name = False, ""
    while rest and rest[0] in ("-daemon", "-loggc", "-name"):
        option = rest.pop(0)
        is_daemon = is_daemon or option == "-daemon"
        if option == "-name" and rest:
            name = rest.pop(0)
    if not rest:
        print(f"USAGE: {Path(sys.argv[0]).name} {_USAGE}")
        return 1
    wanted = rest.pop(0)
    package, _, simple = wanted.rpartition(".")
    module = MODULES.get(simple) if "kafka" in package.split(".") else None
    if module is None:
        print(f"Error: Could not find or load main class {wanted}", file=sys.stderr)
        hint = f"Ottla has no Java in it; the classes that it stands in for are {', '.join(MODULES)}."
        print(main_class_hint(wanted) or hint, file=sys.stderr)
        return 1
    path = f"{_PACKAGE}.{module}"
    if is_daemon:
        return detach("kafka-run-class", path, rest, f"{name or simple}.out")
    return _become([sys.executable, "-m", path, *rest])


def _become(command: list[str]) -> NoReturn:
    """Goes on as the tool: a child would not get the signals that are sent to this process."""
    sys.stdout.flush()
    os.execv(sys.executable, command)


if __name__ == "__main__":
    sys.exit(main())
