"""ControllerRegistration: a controller tells its endpoints and the features it supports."""

from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.protocol.errors import InvalidRegistrationError, UnsupportedVersionError
from ottla.protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from ottla.protocol.metadata_log.controller import ControllerEndpoint, ControllerFeature, RegisterControllerRecord
from ottla.protocol.metadata_log.log import VersionedRecord


def register_controller(
    context: ControllerContext, request: ControllerRegistrationRequest
) -> ControllerResult[ControllerRegistrationResponse]:
    """Registers a controller; its latest word counts."""
    if not context.version.supports_controller_registration:
        raise UnsupportedVersionError("The current MetadataVersion is too old to support controller registrations.")
    if request.controller_id < 0:
        raise InvalidRegistrationError(f"Invalid controller id {request.controller_id}: it must not be negative.")
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=False,
        end_points=[
            ControllerEndpoint(name=li.name, host=li.host, port=li.port, security_protocol=li.security_protocol)
            for li in request.listeners
        ],
        features=[
            ControllerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
    )
    return ControllerResult(ControllerRegistrationResponse(), [VersionedRecord(record, 0)])
