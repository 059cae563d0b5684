"""Deliberately broken controllers, images and loaders: for each invariant of the metadata one that it must catch.

As with the quorum's (`canary`), a canary changes one rule for as long as it is entered, and is caught in ordinary runs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ottla.base.ids import Uuid
from ottla.metadata.controller import controller
from ottla.metadata.controller.broker import broker_fencing, broker_heartbeat
from ottla.metadata.controller.broker.broker_heartbeat import BrokerState
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller import Controller
from ottla.metadata.controller.resource import client_quota, producer_id
from ottla.metadata.controller.topic import partition_alteration, topic_creation
from ottla.metadata.controller.topic.partition_change import PartitionChangeBuilder
from ottla.metadata.controller.topic.reassignment_replica import Completed, ReassignmentReplicas
from ottla.metadata.image.cluster import BrokerRegistration
from ottla.metadata.image.metadata_delta import MetadataDelta, apply_records
from ottla.metadata.image.metadata_image import MetadataImage, Provenance
from ottla.metadata.image.partition import PartitionRegistration
from ottla.metadata.image.scram import ScramDelta
from ottla.metadata.image.snapshot import snapshot_records
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.producer_ids import ProducerIdsRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.security import RemoveUserScramCredentialRecord
from ottla.protocol.metadata_log.topic import PartitionChangeRecord
from ottla.testing.simulation.canary import Canary, Sabotage, replacing
from ottla.testing.simulation.metadata import part as metadata_part
from ottla.testing.simulation.metadata.cluster import metadata_scenario
from ottla.testing.simulation.scenario import Scenario

_merge = PartitionRegistration.merge
_first_valid = PartitionChangeBuilder._first_valid
_directories_offline = broker_fencing.directories_offline
_CHAOS_MS = 6000


def _snapshots(seed: int) -> Scenario:
    """Nodes lag behind snapshots."""
    return Scenario(
        seed=seed,
        voters=3,
        brokers=3,
        faults=("crash", "restart", "crash-all"),
        fault_interval_ms=600,
        append_interval_ms=30,
        snapshot_every=7,
        chaos_ms=_CHAOS_MS,
    )


def _calm(seed: int) -> Scenario:
    """A run without faults, in which only operators act."""
    return Scenario(seed=seed, voters=1, brokers=3, append_interval_ms=20, chaos_ms=_CHAOS_MS)


def _lossy(seed: int) -> Scenario:
    """Brokers come and go."""
    return Scenario(
        seed=seed,
        voters=1,
        brokers=4,
        faults=("crash", "crash", "restart", "crash-all"),
        fault_interval_ms=700,
        append_interval_ms=20,
        chaos_ms=_CHAOS_MS,
    )


def _cut_off(seed: int) -> Scenario:
    """Brokers are fenced and return with all that they had, to be the eligible leaders that they were."""
    return Scenario(
        seed=seed,
        voters=1,
        brokers=3,
        faults=("partition", "pause"),
        fault_interval_ms=1000,
        append_interval_ms=20,
        chaos_ms=_CHAOS_MS,
    )


def _ordinary(seed: int) -> Scenario:
    return metadata_scenario(seed, _CHAOS_MS)


def _snapshot_without_configs(image: MetadataImage) -> Iterator[VersionedRecord]:
    return (versioned for versioned in snapshot_records(image) if not isinstance(versioned.record, ConfigRecord))


def _keep_isr(self: ReassignmentReplicas, isr: tuple[int, ...]) -> Completed | None:
    """Drops replicas without asking whether they are in sync."""
    replicas = tuple(replica for replica in self.replicas if replica not in self.removing)
    return Completed(replicas, isr) if set(self.adding) <= set(isr) else None


def _elect_any_replica(self: PartitionChangeBuilder, replicas: tuple[int, ...]) -> Any:
    """Elects as if all replicas were in sync."""
    isr, self.isr = self.isr, self.replicas
    elected = _first_valid(self, replicas)
    self.isr = isr
    return elected


def _elect_uncleanly_in_silence(self: PartitionChangeBuilder, replicas: tuple[int, ...]) -> Any:
    """Elects any live replica if none in sync is alive, and does not mark its records as possibly lost."""
    elected = _first_valid(self, replicas)
    if elected is None:
        elected = _elect_any_replica(self, replicas)
        self.isr = self.isr if elected is None else (elected.node,)
    return elected


def _nothing_moves(*arguments: Any) -> list[VersionedRecord]:
    return []


def _everybody_is_eligible(*arguments: Any) -> bool:
    return True


def _keeping(field: str) -> Sabotage:
    """Changes of partitions leave a field as it was."""

    def merge(self: PartitionRegistration, change: PartitionChangeRecord) -> PartitionRegistration:
        return _merge(self, change)._replace(**{field: getattr(self, field)})

    return replacing(PartitionRegistration, "merge", merge)


def _settle_at_once(self: Controller, offset: int, deadline_ms: int, answer: Any, settle: Callable[[], None]) -> None:
    settle()


def _no_records(records: Sequence[VersionedRecord]) -> Sequence[VersionedRecord]:
    return ()


def _apply_without_configs(
    image: MetadataImage, records: Iterable[MetadataRecord], provenance: Provenance
) -> tuple[MetadataImage, MetadataDelta]:
    return apply_records(image, [record for record in records if not isinstance(record, ConfigRecord)], provenance)


def _half_a_block(broker_id: int, broker_epoch: int, next_producer_id: int) -> ProducerIdsRecord:
    return ProducerIdsRecord(broker_id=broker_id, broker_epoch=broker_epoch, next_producer_id=next_producer_id - 500)


def _always_fenced(*arguments: Any) -> BrokerState:
    return BrokerState.FENCED


def _elect_from_isr_only(self: PartitionChangeBuilder, replicas: tuple[int, ...]) -> Any:
    """Overlooks the eligible leader replicas."""
    elr, self._elr = self._elr, ()
    elected = _first_valid(self, replicas)
    self._elr = elr
    return elected


def _remove_nothing(self: ScramDelta, record: RemoveUserScramCredentialRecord) -> None:
    """Removed users stay."""


def _keep_leading(
    context: ControllerContext, broker: BrokerRegistration, offline: Sequence[Uuid]
) -> list[VersionedRecord]:
    """Writes down that directories failed, and leaves the partitions in them where they are."""
    return _directories_offline(context, broker, offline)[-1:]


def _hear_nothing(self: Controller, broker_id: int, epoch: int, now_ms: int) -> None:
    """Heartbeats count when their turn comes."""


CANARIES: Mapping[str, Canary] = {
    "forgets-configs": Canary(
        "snapshots have no configs",
        "ImageEqualityAtEqualOffsets",
        replacing(metadata_part, "snapshot_records", _snapshot_without_configs),
        _snapshots,
    ),
    "keeps-removed-in-isr": Canary(
        "a completed reassignment leaves its removed replicas in the ISR",
        "IsrSubsetOfReplicas",
        replacing(ReassignmentReplicas, "completed", _keep_isr),
        _calm,
    ),
    "elects-anybody": Canary(
        "elections don't ask who is in sync",
        "LeaderInIsrOrNone",
        replacing(PartitionChangeBuilder, "_first_valid", _elect_any_replica),
        _calm,
    ),
    "lets-the-fenced-lead": Canary(
        "a broker is fenced and keeps its partitions",
        "LeaderIsActive",
        replacing(broker_fencing, "leader_and_isr_updates", _nothing_moves),
        _lossy,
    ),
    "leads-from-failed-directories": Canary(
        "a broker keeps its partitions in a directory that failed",
        "LeaderDirectoryIsOnline",
        replacing(broker_heartbeat, "directories_offline", _keep_leading),
        _calm,
    ),
    "keeps-removed-users": Canary(
        "images keep SCRAM users that were removed",
        "SettingsMatchLog",
        replacing(ScramDelta, "replay_remove", _remove_nothing),
        _calm,
    ),
    "forgets-quotas": Canary(
        "quotas are answered and not written",
        "NoAnsweredSettingLost",
        replacing(client_quota, "bounded", _no_records),
        _calm,
    ),
    "hears-late": Canary(
        "a heartbeat that waits for its turn does not count",
        "OnlySilentBrokersFenced",
        replacing(Controller, "heard", _hear_nothing),
        _calm,
    ),
    "hides-unclean-elections": Canary(
        "an unclean election leaves no mark",
        "ElectedLeaderWasInSync",
        replacing(PartitionChangeBuilder, "_first_valid", _elect_uncleanly_in_silence),
        _lossy,
    ),
    "takes-any-isr": Canary(
        "AlterPartition puts dead brokers into the ISR",
        "IsrMembersAreActive",
        replacing(partition_alteration, "_is_eligible", _everybody_is_eligible),
        _lossy,
    ),
    "keeps-partition-epoch": Canary(
        "a changed partition keeps its epoch",
        "MonotonicPartitionEpoch",
        _keeping("partition_epoch"),
        _calm,
    ),
    "keeps-leader-epoch": Canary(
        "a new leader has its predecessor's epoch", "MonotonicLeaderEpoch", _keeping("leader_epoch"), _lossy
    ),
    "forgets-to-write": Canary(
        "a topic is said to be created, and is not",
        "NoAnsweredTopicLost",
        replacing(topic_creation, "bounded", _no_records),
        _calm,
    ),
    "decides-on-another-image": Canary(
        "the controller does not apply the configs that it writes",
        "ControllerImageMatchesLog",
        replacing(controller, "apply_records", _apply_without_configs),
        _calm,
    ),
    "answers-at-once": Canary(
        "answers don't wait for the quorum",
        "NoAnswerBeforeCommit",
        replacing(Controller, "_settle", _settle_at_once),
        _ordinary,
    ),
    "small-blocks": Canary(
        "the next block of producer ids begins within the last",
        "ProducerIdsGivenOnce",
        replacing(producer_id, "ProducerIdsRecord", _half_a_block),
        _calm,
    ),
    "never-unfences": Canary(
        "brokers stay fenced",
        "AllBrokersReturn",
        replacing(broker_heartbeat, "_next_state", _always_fenced),
        _calm,
    ),
    "overlooks-elr": Canary(
        "an eligible leader that returns is not elected",
        "AllPartitionsLed",
        replacing(PartitionChangeBuilder, "_first_valid", _elect_from_isr_only),
        _cut_off,
    ),
}
