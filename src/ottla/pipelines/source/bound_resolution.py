"""Turns where reading shall begin or end into offsets, by asking the brokers."""

from collections.abc import Collection, Mapping

from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.offset_bound import NoMatch, OffsetBound
from ottla.pipelines.option.offset_json import EARLIEST, LATEST, PartitionOffsets
from ottla.pipelines.source.topic_catalog import TopicCatalog


def resolve(bound: OffsetBound, partitions: Collection[TopicPartition], catalog: TopicCatalog) -> PartitionOffsets:
    """The offset for each partition. Raises `OptionError` if the option does not fit the partitions there are."""
    if bound.everywhere is not None:
        return _resolve_ends(dict.fromkeys(partitions, bound.everywhere), catalog)
    if bound.offsets is not None:
        _check_complete(bound, bound.offsets, partitions)
        return _resolve_ends(bound.offsets, catalog)
    times_ms = bound.timestamps_ms
    if times_ms is None:
        assert bound.timestamp_ms is not None
        times_ms = dict.fromkeys(partitions, bound.timestamp_ms)
    else:
        _check_complete(bound, times_ms, partitions)
    found = catalog.at_times(times_ms)
    unmatched = sorted(partition for partition, offset in found.items() if offset < 0)
    if unmatched and bound.no_match is NoMatch.ERROR:
        raise OptionError(
            bound.option,
            f"{unmatched[0]} has no record of {times_ms[unmatched[0]]} or later; "
            "startingOffsetsByTimestampStrategy=latest begins at the end then",
        )
    return {**found, **catalog.latest(unmatched)}


def _resolve_ends(offsets: Mapping[TopicPartition, int], catalog: TopicCatalog) -> PartitionOffsets:
    """Offsets as they are, EARLIEST and LATEST as what they are now."""
    return {
        **{partition: offset for partition, offset in offsets.items() if offset >= 0},
        **catalog.earliest([partition for partition, offset in offsets.items() if offset == EARLIEST]),
        **catalog.latest([partition for partition, offset in offsets.items() if offset == LATEST]),
    }


def _check_complete(
    bound: OffsetBound, given: Mapping[TopicPartition, int], partitions: Collection[TopicPartition]
) -> None:
    missing = sorted(set(partitions) - given.keys())
    unknown = sorted(given.keys() - set(partitions))
    if missing:
        raise OptionError(bound.option, f"says nothing about {', '.join(map(str, missing))}: name every partition")
    if unknown:
        raise OptionError(bound.option, f"names {', '.join(map(str, unknown))}, which is not read")
