"""A new controller's first records: those that begin a log, or the end of its predecessor's open transaction.

The bootstrap records come from formatting (`bootstrap.checkpoint`): the level of every feature, maybe SCRAM users.
"""

from collections.abc import Mapping, Sequence

from ottla.metadata.controller.context import MIN_IN_SYNC_REPLICAS
from ottla.metadata.controller.controller_result import RECORDS_PER_BATCH_MAX
from ottla.metadata.errors import MetadataError
from ottla.metadata.feature import ELIGIBLE_LEADER_REPLICAS_VERSION, default_features
from ottla.metadata.image.config import CLUSTER_DEFAULT
from ottla.metadata.image.feature import FeaturesImage
from ottla.metadata.metadata_version import FEATURE_NAME, LATEST, MetadataVersion
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)


def bootstrap_records(levels: Mapping[str, int] | None = None) -> list[VersionedRecord]:
    """The feature levels of a new cluster, metadata.version first; by default the newest.

    >>> [(record.name, record.feature_level) for record, _ in bootstrap_records({"metadata.version": 20})]
    [('metadata.version', 20)]
    """
    wanted = default_features(LATEST) if levels is None else levels
    if FEATURE_NAME not in wanted:
        raise MetadataError("bootstrap records without a metadata.version")
    names = sorted(wanted, key=lambda name: (name != FEATURE_NAME, name))
    return [
        VersionedRecord(FeatureLevelRecord(name=name, feature_level=wanted[name]), 0) for name in names if wanted[name]
    ]


def activation_records(
    features: FeaturesImage, bootstrap: Sequence[VersionedRecord], min_isr: str, *, in_transaction: bool
) -> list[VersionedRecord]:
    """The records upon becoming active: `features` as committed, `in_transaction` if one was begun and not ended."""
    if features.metadata_version is not None:
        return _abort(features.version) if in_transaction else []
    levels = {record.name: record.feature_level for record, _ in bootstrap if isinstance(record, FeatureLevelRecord)}
    if FEATURE_NAME not in levels:
        raise MetadataError("the metadata log is empty, and there are no bootstrap records to begin it with")
    version = MetadataVersion(levels[FEATURE_NAME])
    records = [*_abort(version)] if in_transaction else []
    beginning = list(bootstrap)
    if levels.get(ELIGIBLE_LEADER_REPLICAS_VERSION.name, 0):
        # Eligible leader replicas need one minimum that every controller agrees on.
        minimum = ConfigRecord(
            resource_type=CLUSTER_DEFAULT.type, resource_name="", name=MIN_IN_SYNC_REPLICAS, value=min_isr
        )
        beginning.append(VersionedRecord(minimum, 0))
    if not version.supports_transactions:
        if len(beginning) > RECORDS_PER_BATCH_MAX:
            raise MetadataError(
                f"{len(beginning)} bootstrap records: metadata.version {version} has no transactions, so that no more "
                f"than {RECORDS_PER_BATCH_MAX} can be written at once"
            )
        return [*records, *beginning]
    return [*records, *transaction("Bootstrap records", beginning)]


def transaction(name: str, records: Sequence[VersionedRecord]) -> list[VersionedRecord]:
    """`records` between brackets: a reader of the log takes all of them or none (KIP-868)."""
    begin = VersionedRecord(BeginTransactionRecord(name=name), 0)
    return [begin, *records, VersionedRecord(EndTransactionRecord(), 0)]


def is_transaction(records: Sequence[VersionedRecord]) -> bool:
    """Whether `records` are between brackets already, perhaps behind the abort of another transaction."""
    return any(isinstance(record, BeginTransactionRecord) for record, _ in records[:2])


def _abort(version: MetadataVersion) -> list[VersionedRecord]:
    if not version.supports_transactions:
        raise MetadataError(f"a transaction was begun, but metadata.version {version} has none")
    return [VersionedRecord(AbortTransactionRecord(reason="Controller failover"), 0)]
