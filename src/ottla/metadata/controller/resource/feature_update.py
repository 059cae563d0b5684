"""UpdateFeatures: raising and lowering the finalized levels, all of a request or none.

Any error is INVALID_UPDATE_VERSION for the whole request. Up to v1 success comes with a result for each feature, whose
message is the text "NONE", as in Kafka. KIP-584, KIP-778, KIP-1022.
"""

from collections.abc import Mapping
from typing import Final

from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.controller.resource.config_alteration import elr_safety_records
from ottla.metadata.feature import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    FEATURES,
    KRAFT_VERSION,
    NOT_SUPPORTED,
    supported_features,
)
from ottla.metadata.metadata_version import (
    FEATURE_NAME,
    LATEST,
    MINIMUM,
    MetadataVersion,
    metadata_changed_between,
)
from ottla.protocol.errors import ApiError, InvalidUpdateVersionError
from ottla.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.record import NoOpRecord
from ottla.protocol.versions import VersionRange

UPGRADE: Final = 1
SAFE_DOWNGRADE: Final = 2
UNSAFE_DOWNGRADE: Final = 3
_RESULTS_UP_TO = 1


def update_features(
    context: ControllerContext, request: UpdateFeaturesRequest, caller: Caller
) -> ControllerResult[UpdateFeaturesResponse]:
    """Finalizes levels that every node of the cluster supports."""
    updates = {update.feature: update for update in request.feature_updates}
    proposed = {**context.image.features.levels(), **{u.feature: u.max_version_level for u in updates.values()}}
    records: list[VersionedRecord] = []
    try:
        for update in updates.values():
            records += _update(context, update, proposed)
        if KRAFT_VERSION.name in updates and not request.validate_only:
            # The quorum's own, and not undone by a refusal: only once all the others are found right.
            _upgrade_kraft_version(context, updates[KRAFT_VERSION.name], validate_only=False)
    except ApiError as error:
        message = f"The update failed for all features since the following feature had an error: {error.message}"
        return ControllerResult(UpdateFeaturesResponse(error_code=error.code, error_message=message))
    response = UpdateFeaturesResponse(error_message=None)
    if caller.api_version <= _RESULTS_UP_TO:
        response.results = [
            UpdatableFeatureResult(feature=update.feature, error_message="NONE") for update in request.feature_updates
        ]
    if request.validate_only:
        return ControllerResult(response)
    elr = updates.get(ELIGIBLE_LEADER_REPLICAS_VERSION.name)
    if elr is not None and elr.max_version_level > 0:
        records = [*elr_safety_records(context), *records]
    return ControllerResult(response, records)


def _update(context: ControllerContext, update: FeatureUpdateKey, proposed: Mapping[str, int]) -> list[VersionedRecord]:
    """The record of one update, if it may be made."""
    name, level = update.feature, update.max_version_level
    direction = _direction(update)
    if direction not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        raise _refusal(update, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _refusal(update, "A feature version cannot be less than 0.")
    _check_supported(context, update)
    is_kraft = name == KRAFT_VERSION.name
    current = context.ports.quorum.kraft_version() if is_kraft else context.image.features.level(name)
    if level < current and direction == UPGRADE:
        raise _refusal(
            update,
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        )
    if level > current and direction != UPGRADE:
        raise _refusal(update, "Can't downgrade to a newer version.")
    if is_kraft:
        return _check_kraft_version(context, update, current)
    if name == FEATURE_NAME:
        _check_metadata_version(context.version, level, direction)
    elif name not in FEATURES:
        raise _refusal(update, f"Feature {name} not found.")
    else:
        reason = FEATURES[name].why_refused(level, proposed)
        if reason is not None:
            raise _refusal(update, reason)
    return [VersionedRecord(FeatureLevelRecord(name=name, feature_level=level), 0)]


def _direction(update: FeatureUpdateKey) -> int:
    """Version 0 of the request knows a flag only, which stands for the safe downgrade."""
    return SAFE_DOWNGRADE if update.allow_downgrade else update.upgrade_type


def _refusal(update: FeatureUpdateKey, reason: str) -> InvalidUpdateVersionError:
    return InvalidUpdateVersionError(
        f"Invalid update version {update.max_version_level} for feature {update.feature}. {reason}"
    )


def _check_supported(context: ControllerContext, update: FeatureUpdateKey) -> None:
    """Every registered broker and every voter must be able to work at the level."""
    name = update.feature
    nodes = {f"Local controller {context.settings.node_id}": supported_features().get(name, NOT_SUPPORTED)}
    for broker_id, broker in sorted(context.image.cluster.brokers.items()):
        nodes[f"Broker {broker_id}"] = broker.supported_features.get(name, NOT_SUPPORTED)
    others = sorted(context.image.cluster.controllers.items())
    if context.version.supports_controller_registration:
        for controller_id, controller in others:
            if controller_id != context.settings.node_id:
                nodes[f"Controller {controller_id}"] = controller.supported_features.get(name, NOT_SUPPORTED)
    for node, levels in nodes.items():
        _check_levels(update, node, levels)
    known = {context.settings.node_id, *context.image.cluster.controllers}
    if context.version.supports_controller_registration:
        for voter in sorted(context.ports.quorum.voter_ids()):
            if voter not in known:
                raise _refusal(update, f"controller {voter} has not registered, and may not support this feature")


def _check_levels(update: FeatureUpdateKey, node: str, levels: VersionRange) -> None:
    if levels.includes(update.max_version_level):
        return
    if levels.highest == 0:
        raise _refusal(update, f"{node} does not support this feature.")
    raise _refusal(update, f"{node} only supports versions {levels}")


def _check_kraft_version(context: ControllerContext, update: FeatureUpdateKey, current: int) -> list[VersionedRecord]:
    if _direction(update) != UPGRADE:
        if update.max_version_level != current:
            raise _refusal(update, "Can't downgrade the version of this feature.")
        return []
    _upgrade_kraft_version(context, update, validate_only=True)
    # The quorum writes the level itself, as a control record; this one is there to be waited for.
    return [VersionedRecord(NoOpRecord(), 0)]


def _upgrade_kraft_version(context: ControllerContext, update: FeatureUpdateKey, *, validate_only: bool) -> None:
    if _direction(update) == UPGRADE:
        level = update.max_version_level
        context.ports.quorum.upgrade_kraft_version(context.epoch, level, validate_only=validate_only)


def _check_metadata_version(current: MetadataVersion, level: int, direction: int) -> None:
    if not MINIMUM <= level <= LATEST:
        raise InvalidUpdateVersionError(
            f"Invalid metadata.version {level}. Valid versions are from {MINIMUM:d} to {LATEST:d}."
        )
    if level >= current or not metadata_changed_between(MetadataVersion(level), current):
        return
    reason = (
        "Unsafe metadata downgrade is not supported in this version."
        if direction == UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata information."
    )
    raise InvalidUpdateVersionError(f"Unsupported metadata.version downgrade from {current:d} to {level}. {reason}")
