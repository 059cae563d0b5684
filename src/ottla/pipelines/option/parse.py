"""All options of a read or a write, read once: what a user gave becomes one typed value, or an error that names it.

Nothing here asks a broker: whether topics exist, and what their offsets are, is found out when the query runs.
"""

import logging
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from ottla.base.frozen import frozen
from ottla.pipelines.option.client_setting import reader_settings, writer_settings
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.format import ColumnFormat, parse_formats
from ottla.pipelines.option.name import Use, check_names
from ottla.pipelines.option.offset_bound import (
    ENDING,
    STARTING_BATCH,
    STARTING_STREAM,
    NoMatch,
    OffsetBound,
    check_order,
    parse_bound,
    refuse,
)
from ottla.pipelines.option.offset_json import EARLIEST, LATEST
from ottla.pipelines.option.subscription import Subscription, parse_subscription
from ottla.pipelines.option.value import boolean, choice, number, number_or, span_ms

_log = logging.getLogger(__name__)

_STREAM_ONLY: Final = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
_ISOLATION_LEVELS: Final = ("read_committed", "read_uncommitted")


@frozen
class Splitting:
    """The options that cut ranges of offsets into tasks."""

    min_partitions: int | None = None
    max_records: int | None = None


@frozen
class Admission:
    """The options that bound a micro-batch."""

    max_offsets: int | None = None
    min_offsets: int | None = None
    delay_ms_max: int = 900_000


@frozen
class ReadOptions:
    """The parsed options of a batch or stream read."""

    subscription: Subscription
    start: OffsetBound
    end: OffsetBound
    settings: dict[str, str] = field(repr=False)
    """Of the Kafka client, by Kafka's names; may hold secrets."""
    is_committed_only: bool
    fails_on_data_loss: bool
    splitting: Splitting
    admission: Admission
    has_headers: bool
    group_id: str | None
    poll_timeout_ms: int
    offset_retries: int
    offset_retry_pause_ms: int
    metadata_age_ms_max: int
    formats: tuple[ColumnFormat, ...] = ()


@frozen
class WriteOptions:
    """Everything that the options of a batch or stream write say."""

    settings: dict[str, str] = field(repr=False)
    """Of the Kafka client, by Kafka's names; may hold secrets."""
    topic: str | None
    is_exactly_once: bool
    transactional_id_prefix: str
    formats: tuple[ColumnFormat, ...] = ()


def parse_batch_read(options: Mapping[str, str]) -> ReadOptions:
    """The options of `spark.read`."""
    given = _lowered(options, Use.BATCH_READ)
    for name in _STREAM_ONLY:
        if name.lower() in given:
            # As Spark's connector does: the same options may serve a stream and a batch.
            _log.warning("option %s has no effect in a batch read", name)
    parsed = _read_options(given, parse_bound(given, STARTING_BATCH, _no_match(given)))
    refuse(parsed.start, LATEST)
    refuse(parsed.end, EARLIEST)
    check_order(parsed.start, parsed.end)
    return parsed


def parse_stream_read(options: Mapping[str, str]) -> ReadOptions:
    """The options of `spark.readStream`."""
    given = _lowered(options, Use.STREAM_READ)
    return _read_options(given, parse_bound(given, STARTING_STREAM, _no_match(given)))


def parse_batch_write(options: Mapping[str, str]) -> WriteOptions:
    """The options of `DataFrame.write`."""
    return _write_options(_lowered(options, Use.BATCH_WRITE))


def parse_stream_write(options: Mapping[str, str]) -> WriteOptions:
    """The options of `DataFrame.writeStream`."""
    return _write_options(_lowered(options, Use.STREAM_WRITE))


def _lowered(options: Mapping[str, str], use: Use) -> dict[str, str]:
    check_names(options, use)
    return {name.lower(): value for name, value in options.items()}


def _read_options(given: Mapping[str, str], start: OffsetBound) -> ReadOptions:
    subscription = parse_subscription(given)
    settings = reader_settings(given)
    is_committed_only = _take_isolation_level(given, settings)
    group_id = _take_group(given, settings)
    settings.setdefault("client.id", given.get("groupidprefix", "spark-kafka-source"))
    return ReadOptions(
        subscription=subscription,
        start=start,
        end=parse_bound(given, ENDING, NoMatch.LATEST),
        settings=settings,
        is_committed_only=is_committed_only,
        fails_on_data_loss=boolean(given, "failOnDataLoss", default=True),
        splitting=Splitting(number(given, "minPartitions"), number(given, "maxRecordsPerPartition")),
        admission=_admission(given),
        has_headers=boolean(given, "includeHeaders", default=False),
        group_id=group_id,
        poll_timeout_ms=number_or(given, "kafkaConsumer.pollTimeoutMs", 120_000, minimum=1),
        offset_retries=number_or(given, "fetchOffset.numRetries", 3),
        offset_retry_pause_ms=number_or(given, "fetchOffset.retryIntervalMs", 10),
        metadata_age_ms_max=_metadata_age_ms_max(given),
        formats=parse_formats(given, subscription.only_topic),
    )


def _no_match(given: Mapping[str, str]) -> NoMatch:
    return NoMatch(choice(given, "startingOffsetsByTimestampStrategy", ("error", "latest")))


def _take_isolation_level(given: Mapping[str, str], settings: dict[str, str]) -> bool:
    """`isolation.level`, or the Kafka setting of that name, which leaves `settings`: whether it is read_committed."""
    ours = given.get("isolation.level")
    kafkas = settings.pop("isolation.level", None)
    if ours is not None and kafkas is not None and ours.strip().lower() != kafkas.strip().lower():
        raise OptionError("isolation.level", f"{ours!r} contradicts kafka.isolation.level {kafkas!r}")
    level = choice({"isolation.level": ours or kafkas or _ISOLATION_LEVELS[0]}, "isolation.level", _ISOLATION_LEVELS)
    return level == "read_committed"


def _take_group(given: Mapping[str, str], settings: dict[str, str]) -> str | None:
    """The group to commit to. `kafka.group.id` alone commits nothing, as with Spark's connector: no group is joined."""
    group_id = given.get("group.id")
    kafkas = settings.pop("group.id", None)
    if group_id is not None and not group_id.strip():
        raise OptionError("group.id", "is empty")
    if group_id is not None and kafkas is not None and group_id != kafkas:
        raise OptionError("group.id", f"{group_id!r} contradicts kafka.group.id {kafkas!r}")
    return group_id


def _admission(given: Mapping[str, str]) -> Admission:
    most, least = number(given, "maxOffsetsPerTrigger"), number(given, "minOffsetsPerTrigger")
    if most is not None and least is not None and least > most:
        raise OptionError("minOffsetsPerTrigger", f"{least} is more than maxOffsetsPerTrigger {most}")
    return Admission(most, least, span_ms(given, "maxTriggerDelay", "15m"))


def _metadata_age_ms_max(given: Mapping[str, str]) -> int:
    name = "partition.metadata.cache.ttl.ms"
    age_ms = number_or(given, name, -1, minimum=-1)
    if age_ms == 0:
        raise OptionError(name, "must be positive, or -1 to look every time")
    return age_ms


def _write_options(given: Mapping[str, str]) -> WriteOptions:
    topic = given.get("topic")
    if topic is not None and not topic.strip():
        raise OptionError("topic", "is empty")
    return WriteOptions(
        settings=writer_settings(given),
        topic=None if topic is None else topic.strip(),
        is_exactly_once=boolean(given, "exactlyOnce", default=False),
        transactional_id_prefix=given.get("transactionalidprefix", "ottla"),
        formats=parse_formats(given, None if topic is None else topic.strip()),
    )
