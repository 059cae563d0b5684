"""The meaning of a record's timestamp."""

from enum import IntEnum

NO_TIMESTAMP = -1
"""The timestamp of a record that has none."""


class TimestampType(IntEnum):
    """Whether the producer set the timestamps, or the broker when it appended the batch."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1
