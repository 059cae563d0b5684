"""Where a config's value comes from, by its number on the wire (KIP-226)."""

from enum import IntEnum


class ConfigSource(IntEnum):
    """The sources that DescribeConfigs and CreateTopics name."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8
