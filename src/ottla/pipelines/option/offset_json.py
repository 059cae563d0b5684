"""Offsets as JSON, exactly as Spark's Kafka connector writes them: `{"topic":{"0":12,"1":7}}`.

Both the options and the checkpoints of streams have this form.
"""

import json
from collections.abc import Mapping
from typing import Final

from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError

EARLIEST: Final = -2
LATEST: Final = -1

PartitionOffsets = dict[TopicPartition, int]
"""An offset, or a timestamp in milliseconds, for each partition."""


def offsets_of(document: Mapping[str, Mapping[str, int]]) -> PartitionOffsets:
    """The offsets that a document has.

    >>> offsets_of({"orders": {"0": 12}})
    {TopicPartition(topic='orders', partition=0): 12}
    """
    return {
        TopicPartition(topic, int(partition)): int(offset)
        for topic, partitions in document.items()
        for partition, offset in partitions.items()
    }


def document_of(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    """The offsets as a document, in the order of topics and partitions, so that equal offsets have equal texts.

    >>> document_of({TopicPartition("orders", 1): 7, TopicPartition("orders", 0): 12})
    {'orders': {'0': 12, '1': 7}}
    """
    document: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        document.setdefault(topic, {})[str(partition)] = offset
    return document


def parse_offsets(option: str, text: str) -> PartitionOffsets:
    """The offsets that a user gave, each a number; -2 and -1 stand for earliest and latest."""
    example = 'expected JSON such as {"topic":{"0":23,"1":-2}}'
    document = _parse(option, text, example)
    found: PartitionOffsets = {}
    for topic, partitions in document.items():
        if not isinstance(partitions, dict):
            raise OptionError(option, f"{example}, not {text}")
        for partition, offset in partitions.items():
            if not _is_number(offset) or not partition.isdecimal():
                raise OptionError(option, f"{example}; {topic!r} has {json.dumps({partition: offset})}")
            found[TopicPartition(topic, int(partition))] = offset
    if not found:
        raise OptionError(option, f"{example}, not {text}")
    return found


def parse_partitions(option: str, text: str) -> frozenset[TopicPartition]:
    """The partitions that a user gave as `{"topic":[0,1]}`."""
    example = 'expected JSON such as {"topic":[0,1]}'
    document = _parse(option, text, example)
    found: set[TopicPartition] = set()
    for topic, partitions in document.items():
        if not isinstance(partitions, list) or not all(_is_number(number) and number >= 0 for number in partitions):
            raise OptionError(option, f"{example}; {topic!r} has {json.dumps(partitions)}")
        found.update(TopicPartition(topic, number) for number in partitions)
    if not found:
        raise OptionError(option, f"{example}, not {text}")
    return frozenset(found)


def _parse(option: str, text: str, example: str) -> dict[str, object]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise OptionError(option, f"{example}, not {text!r}: {error}") from None
    if not isinstance(document, dict):
        raise OptionError(option, f"{example}, not {text}")
    return document


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
