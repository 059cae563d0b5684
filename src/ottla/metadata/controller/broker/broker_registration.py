"""BrokerRegistration: a broker joins, fenced, with a new epoch; its earlier life is cleaned up after.

A broker id belongs to one process at a time: while the session of another incarnation lives, a newcomer is refused,
unless that incarnation is shutting down, or was given leave to stop and so has no session any more. A broker that was
not shut down cleanly (its previous epoch is not the registered one) may have lost what it acknowledged and leaves the
eligible leader replicas (KIP-966).
"""

from collections.abc import Mapping

from ottla.metadata.controller.broker.broker_fencing import shut_down
from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.directory_id import is_reserved
from ottla.metadata.feature import KRAFT_VERSION
from ottla.metadata.image.cluster import BrokerRegistration
from ottla.metadata.metadata_version import FEATURE_NAME
from ottla.protocol.errors import (
    BrokerIdNotRegisteredError,
    DuplicateBrokerRegistrationError,
    InconsistentClusterIdError,
    InvalidRegistrationError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from ottla.protocol.metadata_log.broker import BrokerEndpoint, BrokerFeature, RegisterBrokerRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.versions import VersionRange

_CLEAN_SHUTDOWN_KNOWN_SINCE = 3


def register_broker(
    context: ControllerContext, request: BrokerRegistrationRequest, caller: Caller
) -> ControllerResult[BrokerRegistrationResponse]:
    """Registers a broker, or amends the registration of the same incarnation."""
    if request.cluster_id != context.settings.cluster_id:
        raise InconsistentClusterIdError(
            f"Expected cluster ID {context.settings.cluster_id}, but got cluster ID {request.cluster_id}"
        )
    if request.broker_id < 0:
        # -1 stands for "no leader" in partitions.
        raise InvalidRegistrationError(f"Invalid broker id {request.broker_id}: it must not be negative.")
    existing = context.image.cluster.brokers.get(request.broker_id)
    _check_incarnation(context, request, existing)
    if request.is_migrating_zk_broker:
        raise BrokerIdNotRegisteredError("Controller does not support registering ZK brokers.")
    if context.version.supports_directory_assignment:
        _check_directories(context, request)
    record = _record(request)
    _check_features(context, request)
    if not context.version.supports_directory_assignment:
        record.log_dirs = []
    records: list[VersionedRecord] = []
    if existing is not None and existing.incarnation_id == request.incarnation_id:
        record.broker_epoch = existing.epoch
        record.fenced = existing.fenced
        record.in_controlled_shutdown = existing.in_controlled_shutdown
    else:
        clean = (
            caller.api_version >= _CLEAN_SHUTDOWN_KNOWN_SINCE
            and existing is not None
            and existing.epoch == request.previous_broker_epoch
        )
        records = shut_down(context, request.broker_id, clean=clean)
        record.broker_epoch = context.ports.quorum.end_offset()
    # The registration comes last: if only a part of the clean-up gets written, the broker registers again.
    records.append(VersionedRecord(record, context.version.register_broker_record_version))
    return ControllerResult(BrokerRegistrationResponse(broker_epoch=record.broker_epoch), records)


def _check_incarnation(
    context: ControllerContext, request: BrokerRegistrationRequest, existing: BrokerRegistration | None
) -> None:
    if existing is None or existing.incarnation_id == request.incarnation_id:
        return
    own = (context.settings.node_id, context.settings.broker_incarnation_id)
    if (request.broker_id, request.incarnation_id) == own:
        # It is the broker of this very process: the one that was registered under its id died with the process before.
        return
    if existing.in_controlled_shutdown:
        # It was stopping, and who starts a broker on the same directories has waited for that.
        return
    if context.sessions.is_alive(existing.id, existing.epoch, context.now_ms):
        raise DuplicateBrokerRegistrationError(
            "Another broker is registered with that broker id. If the broker was recently restarted this should "
            "self-resolve once the heartbeat manager expires the broker's session."
        )


def _check_directories(context: ControllerContext, request: BrokerRegistrationRequest) -> None:
    if not request.log_dirs:
        raise InvalidRegistrationError("No directories specified in request")
    if any(is_reserved(directory) for directory in request.log_dirs):
        raise InvalidRegistrationError("Reserved directory ID in request")
    wanted = set(request.log_dirs)
    if len(wanted) != len(request.log_dirs):
        raise InvalidRegistrationError("Duplicate directory ID in request")
    for broker in context.image.cluster.brokers.values():
        taken = wanted.intersection(broker.directories)
        if taken and broker.id != request.broker_id:
            raise InvalidRegistrationError(f"Broker {broker.id} is already registered with directory {min(taken)}")


def _check_features(context: ControllerContext, request: BrokerRegistrationRequest) -> None:
    """Every finalized level must be one that the broker supports; what it does not name it supports at 0 only."""
    supported = {f.name: VersionRange(f.min_supported_version, f.max_supported_version) for f in request.features}
    finalized: Mapping[str, int] = {
        **context.image.features.levels(),
        KRAFT_VERSION.name: context.ports.quorum.kraft_version(),
    }
    for name, levels in supported.items():
        _check_feature(name, levels, finalized.get(name, 0))
    if FEATURE_NAME not in supported:
        raise InvalidRegistrationError(f"Request features do not contain '{FEATURE_NAME}'")
    for name, level in finalized.items():
        if level and name not in supported:
            _check_feature(name, VersionRange(0, 0), level)


def _check_feature(name: str, levels: VersionRange, finalized: int) -> None:
    if not levels.includes(finalized):
        raise UnsupportedVersionError(
            f"Unable to register because the broker does not support finalized version {finalized} of {name}. The "
            f"broker wants a version between {levels.lowest} and {levels.highest}, inclusive."
        )


def _record(request: BrokerRegistrationRequest) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        rack=request.rack,
        end_points=[
            BrokerEndpoint(name=li.name, host=li.host, port=li.port, security_protocol=li.security_protocol)
            for li in request.listeners
        ],
        features=[
            BrokerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
        log_dirs=list(request.log_dirs),
    )
