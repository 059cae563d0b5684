"""The settings of a single group (`kafka-configs.sh --entity-type groups`), and the broker settings they override."""

import re
from typing import Final

from ottla.base.config import ConfigKey, ConfigKeys, Dynamic, Scope, Synonym
from ottla.base.config.check import Check, OneOf, Range
from ottla.base.config.declaration import BOOLEAN, INT, STRING
from ottla.base.config_type import ConfigType

_DURATION: Final = re.compile(r"by_duration:P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?", re.IGNORECASE)


def _group(name: str, kind: ConfigType, default: object, check: Check | None, doc: str) -> ConfigKey:
    return ConfigKey(name, kind, default, check=check, doc=doc, scope=Scope.GROUP, dynamic=Dynamic.CLUSTER_WIDE)


def _limited(name: str, default: int, check: Check, doc: str) -> ConfigKey:
    """A setting whose default is the broker's `group.<name>`."""
    return ConfigKey(name, INT, default, check=check, doc=doc, scope=Scope.GROUP, dynamic=Dynamic.CLUSTER_WIDE,
                     synonyms=(Synonym(f"group.{name}"),))  # fmt: skip


class _OffsetReset:
    """The check of the values of `share.auto.offset.reset`."""

    text: Final = "[latest, earliest, by_duration:PnDTnHnMn.nS]"

    def __call__(self, value: object) -> None:
        """Refuses any other words, and repeats them."""
        if value in ("latest", "earliest") or (isinstance(value, str) and _DURATION.fullmatch(value)):
            return
        raise ValueError(
            f"Invalid value `{value}` for configuration share.auto.offset.reset. The value must be either 'earliest', "
            "'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
        )


GROUP_RESOURCE_KEYS: Final = ConfigKeys((
    _limited("consumer.session.timeout.ms", 45_000, Range(1), "A member that was silent for this long is removed."),
    _limited("consumer.heartbeat.interval.ms", 5_000, Range(1), "Time between two heartbeats that members are told."),
    _limited("consumer.assignment.interval.ms", 1_000, Range(0), "Shortest time between two assignments."),
    _limited("share.session.timeout.ms", 45_000, Range(1), "A share member that was silent for this long is removed."),
    _limited("share.heartbeat.interval.ms", 5_000, Range(1),
             "Time between two heartbeats that share members are told."),
    _limited("share.record.lock.duration.ms", 30_000, Range(1_000),
             "How long a delivered record stays with its consumer before others may get it."),
    _limited("share.delivery.count.limit", 5, Range(2), "How often a record is delivered before it is given up."),
    _limited("share.partition.max.record.locks", 2_000, Range(100),
             "Records of a partition that may be with consumers at once."),
    _group("share.auto.offset.reset", STRING, "latest", _OffsetReset(),
           "Where a share group begins: `latest`, `earliest`, or `by_duration:` and how far back, as `PT1H`."),
    _group("share.isolation.level", STRING, "read_uncommitted", OneOf("read_committed", "read_uncommitted"),
           "Whether records of transactions that are not committed are delivered."),
    _group("share.renew.acknowledge.enable", BOOLEAN, True, None,
           "Whether consumers may ask to keep a record for longer."),
    _limited("share.assignment.interval.ms", 1_000, Range(0),
             "Shortest time between two assignments of a share group."),
    _limited("streams.session.timeout.ms", 45_000, Range(1),
             "A streams member that was silent for this long is removed."),
    _limited("streams.heartbeat.interval.ms", 5_000, Range(1),
             "Time between two heartbeats that streams members are told."),
    _limited("streams.num.standby.replicas", 0, Range(0), "Standby copies of each task's state."),
    _limited("streams.initial.rebalance.delay.ms", 3_000, Range(0),
             "How long a new streams group waits for more members before it first assigns tasks."),
    _limited("streams.assignment.interval.ms", 1_000, Range(0),
             "Shortest time between two assignments of a streams group."),
))  # fmt: skip
