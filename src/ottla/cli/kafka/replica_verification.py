"""`kafka-replica-verification`: reads the same partitions from all their replicas, and tells where they differ.

Flags and lines are Kafka's. It goes on until it is stopped; replicas whose batches end at different offsets end it
with 1. A broker that is down delays the comparison of its partitions.
"""

import sys
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.client_setting import check_addresses
from ottla.cli.kafka.argument.option import ChosenOptions, Option, OptionTable
from ottla.cli.kafka.session.tool_main import tool_main

if TYPE_CHECKING:
    from ottla.base.ids import Uuid
    from ottla.cli.kafka.subcommand.replica_comparison import ReplicaAnswer, ReplicaComparison
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.cluster.cluster_client import ClusterClient
    from ottla.client.record import TopicPartition
    from ottla.protocol.messages.fetch import FetchRequest, FetchResponse

_DEBUGGING_CONSUMER: Final = -2
"""A replica id that may read from any replica."""
_REPLICA_STATE_SINCE: Final = 15
_LOGGER: Final = "org.apache.kafka.tools.ReplicaVerificationTool"

OPTIONS: Final = OptionTable(
    "Validate that all replicas for a set of topics have the same data.",
    (
        Option("broker-list", "REQUIRED: the brokers to connect to.", "hostname:port,...,hostname:port"),
        Option("fetch-size", "How much is read of a partition at once.", "bytes", "Integer", default="1048576"),
        Option("max-wait-ms", "How long a fetch waits for records.", "ms", "Integer", default="1000"),
        Option("topics-include", "The topics, a pattern that whole names must match.", "regular expression",
               default=".*"),
        Option("time", "Where to begin.", "timestamp/-1(latest)/-2(earliest)", "Long", default="-1"),
        Option("report-interval-ms", "How often the lag is told.", "ms", "Long", default="30000"),
    ),
)  # fmt: skip


class Selection(NamedTuple):
    """What is compared."""

    partitions: "dict[TopicPartition, tuple[int, ...]]"
    """Replicas of each partition."""
    topic_ids: "dict[str, Uuid]"
    offsets: "dict[TopicPartition, int]"


@tool_main()
def main(arguments: list[str]) -> int:
    """Runs the tool; the exit code."""
    options = OPTIONS.parse(arguments)
    options.require("broker-list")
    check_addresses(options, "broker-list")
    import asyncio

    return asyncio.run(_verify(options))


async def _verify(options: ChosenOptions) -> int:
    from ottla.cli.kafka.output.java_error import log_error
    from ottla.cli.kafka.subcommand.replica_comparison import OffsetMismatchError, ReplicaComparison
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.cluster.cluster_client import ClusterClient
    from ottla.client.config.admin import ADMIN_KEYS
    from ottla.client.config.settings import ClientSettings

    settings = {"bootstrap.servers": options.required_text("broker-list")}
    admin = AsyncAdmin(settings)
    await admin.start(timeout_ms=admin.api_timeout_ms)
    try:
        selection = await _select(admin, options)
    finally:
        await admin.close()
    if not selection.partitions:
        reason = "if specified, is either filtering out all topics or there is no topic."
        log_error(f"No topics found. [topics-include] {reason}", _LOGGER)
        return 1
    cluster = ClusterClient(ClientSettings.of(ADMIN_KEYS, settings))
    await cluster.start()
    verification = Verification(options, cluster, selection, ReplicaComparison(selection.offsets))
    try:
        _say("verification process is started")
        while True:
            await verification.run_round()
    except OffsetMismatchError as error:
        _say(str(error))
        return 1
    finally:
        await cluster.close()


async def _select(admin: "AsyncAdmin", options: ChosenOptions) -> Selection:
    from ottla.cli.kafka.argument.topic_filter import TopicFilter
    from ottla.client.record import TopicPartition

    only = TopicFilter(options.required_text("topics-include"))
    names = [name for name in await admin.list_topics(include_internal=True) if only.allows(name)]
    described = await admin.describe_topics(names)
    partitions = {
        TopicPartition(topic.name, partition.partition): partition.replicas
        for topic in described.values()
        for partition in topic.partitions
    }
    first = options.integer("time")
    listed = await admin.list_offsets(dict.fromkeys(partitions, -1 if first is None else first))
    ids = {topic.name: topic.topic_id for topic in described.values()}
    # A time behind the last record has no offset: nothing is compared before something is written.
    offsets = {partition: max(0, found.offset) for partition, found in listed.items()}
    return Selection(partitions, ids, offsets)


class Verification:
    """Rounds of fetches from all brokers, each followed by a comparison."""

    def __init__(
        self, options: ChosenOptions, cluster: "ClusterClient", selection: Selection, comparison: "ReplicaComparison"
    ) -> None:
        self._options: Final = options
        self._cluster: Final = cluster
        self._selection: Final = selection
        self._comparison: Final = comparison
        self._interval_s: Final = (options.integer("report-interval-ms") or 0) / 1000
        self._last_report = time.monotonic()
        held: dict[int, list[TopicPartition]] = {}
        for partition, replicas in selection.partitions.items():
            for replica in replicas:
                held.setdefault(replica, []).append(partition)
        self._held: Final = held

    async def run_round(self) -> None:
        """Fetches from all brokers at once, compares, and tells."""
        import asyncio

        answers = await asyncio.gather(*(self._fetch(broker) for broker in self._held))
        found = dict(zip(self._held, answers, strict=True))
        self._comparison.begin_round()
        for partition, replicas in self._selection.partitions.items():
            held = {replica: found[replica][partition] for replica in replicas}
            for difference in self._comparison.compare(partition, held):
                _say(difference)
        if time.monotonic() - self._last_report > self._interval_s:
            _say(self._comparison.report())
            self._last_report = time.monotonic()

    async def _fetch(self, broker: int) -> "dict[TopicPartition, ReplicaAnswer]":
        """What a broker holds of its partitions from their offsets on; nothing if it can't be reached."""
        from ottla.cli.kafka.subcommand.replica_comparison import NO_ANSWER
        from ottla.protocol.api_key import ApiKey
        from ottla.protocol.messages.fetch import FetchResponse

        nothing = dict.fromkeys(self._held[broker], NO_ANSWER)
        try:
            connection = await self._cluster.connection(broker)
            version = connection.version_of(ApiKey.FETCH)
            response = await self._cluster.request(broker, self._request(broker, version), version=version)
        except OttlaError:
            import asyncio

            await asyncio.sleep((self._options.integer("max-wait-ms") or 0) / 1000)
            return nothing
        assert isinstance(response, FetchResponse)
        return nothing | self._answers(response)

    def _request(self, broker: int, version: int) -> "FetchRequest":
        from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState

        size = self._options.integer("fetch-size") or 0
        topics: dict[str, FetchTopic] = {}
        for partition in self._held[broker]:
            name = partition.topic
            topic = topics.setdefault(name, FetchTopic(topic=name, topic_id=self._selection.topic_ids[name]))
            topic.partitions.append(
                FetchPartition(
                    partition=partition.partition,
                    fetch_offset=self._comparison.offsets[partition],
                    log_start_offset=0,
                    partition_max_bytes=size,
                )
            )
        has_state = version >= _REPLICA_STATE_SINCE
        return FetchRequest(
            replica_id=-1 if has_state else _DEBUGGING_CONSUMER,
            replica_state=ReplicaState(replica_id=_DEBUGGING_CONSUMER if has_state else -1),
            max_wait_ms=self._options.integer("max-wait-ms") or 0,
            min_bytes=1,
            topics=list(topics.values()),
        )

    def _answers(self, response: "FetchResponse") -> "dict[TopicPartition, ReplicaAnswer]":
        from ottla.cli.kafka.subcommand.replica_comparison import ReplicaAnswer, ReplicaBatch
        from ottla.client.record import TopicPartition
        from ottla.protocol.records.batch import batches

        names = {topic_id: name for name, topic_id in self._selection.topic_ids.items()}
        found: dict[TopicPartition, ReplicaAnswer] = {}
        for topic in response.responses:
            for data in topic.partitions:
                if data.error_code:
                    continue
                records = data.records or b""
                assert isinstance(records, (bytes, bytearray, memoryview))
                held = [ReplicaBatch(batch.last_offset, batch.crc) for batch in batches(records)]
                place = TopicPartition(topic.topic or names[topic.topic_id], data.partition_index)
                found[place] = ReplicaAnswer(data.high_watermark, held)
        return found


def _say(message: str) -> None:
    now = time.time()
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    print(f"{moment},{int(now * 1000) % 1000:03d}: {message}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
