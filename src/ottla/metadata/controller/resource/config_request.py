"""The two requests that alter configs: IncrementalAlterConfigs names changes, AlterConfigs names what shall remain."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from ottla.metadata.acl.config_right import check_config_right
from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult, bounded, message_of
from ottla.metadata.controller.resource.config_alteration import ConfigChange, alter_configs_of, splittable_value
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import (
    ApiError,
    InvalidConfigError,
    InvalidRequestError,
    UnknownServerError,
    UnsupportedVersionError,
)
from ottla.protocol.messages import alter_configs as legacy
from ottla.protocol.messages import incremental_alter_configs as incremental
from ottla.protocol.metadata_log.log import VersionedRecord

SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3
_OPERATIONS: Final = {SET, DELETE, APPEND, SUBTRACT}
_OPERATION_NAMES: Final = {APPEND: "APPEND", SUBTRACT: "SUBTRACT"}
_STORED: Final = frozenset(ResourceType) - {ResourceType.BROKER_LOGGER}

AnyResource = incremental.AlterConfigsResource | legacy.AlterConfigsResource
Res = TypeVar("Res", incremental.AlterConfigsResource, legacy.AlterConfigsResource)
Result = tuple[Res, int, str | None]


def incremental_alter_configs(
    context: ControllerContext, request: incremental.IncrementalAlterConfigsRequest, caller: Caller
) -> ControllerResult[incremental.IncrementalAlterConfigsResponse]:
    """Sets, deletes, appends to and subtracts from single configs. Loggers are the broker's own and never come here."""
    operations = {config.config_operation for resource in request.resources for config in resource.configs}
    if not operations <= _OPERATIONS:
        raise UnknownServerError
    records: list[VersionedRecord] = []

    def alter(resource: incremental.AlterConfigsResource) -> None:
        _check_keys(resource, {config.name for config in resource.configs if config.config_operation != DELETE})
        change = ConfigChange(_resource(resource), through_broker=caller.through_broker)
        values = {config.name: _new_value(context, change.resource, config) for config in resource.configs}
        records.extend(alter_configs_of(context, change, values))

    response = incremental.IncrementalAlterConfigsResponse(
        responses=[
            incremental.AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource, code, message in _altered(request.resources, alter, caller)
        ]
    )
    return ControllerResult(response) if request.validate_only else ControllerResult(response, bounded(records))


def alter_configs(
    context: ControllerContext, request: legacy.AlterConfigsRequest, caller: Caller
) -> ControllerResult[legacy.AlterConfigsResponse]:
    """Gives resources exactly the named configs; what is not named is removed."""
    records: list[VersionedRecord] = []

    def alter(resource: legacy.AlterConfigsResource) -> None:
        _check_keys(resource, {config.name for config in resource.configs})
        change = ConfigChange(_resource(resource), through_broker=caller.through_broker)
        values = {config.name: config.value for config in resource.configs}
        removed = sorted(context.image.configs_of(change.resource).keys() - values.keys())
        records.extend(alter_configs_of(context, change, values, removed=removed))

    response = legacy.AlterConfigsResponse(
        responses=[
            legacy.AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource, code, message in _altered(request.resources, alter, caller)
        ]
    )
    return ControllerResult(response) if request.validate_only else ControllerResult(response, bounded(records))


def _altered(resources: list[Res], alter: Callable[[Res], None], caller: Caller) -> Iterator["Result[Res]"]:
    """The result of each resource; one that is named twice is refused once and not altered."""
    counts = Counter(_resource(resource) for resource in resources)
    for resource in resources:
        count = counts.pop(_resource(resource), 0)
        if not count:
            continue
        try:
            if resource.resource_type not in _STORED:
                raise UnsupportedVersionError(f"Unknown resource type {resource.resource_type}.")
            if count > 1:
                raise InvalidRequestError("Duplicate resource.")
            try:
                check_config_right(caller.may, AclOperation.ALTER_CONFIGS, _resource(resource))
            except ApiError as error:
                # Spelt out, unlike other errors: what the caller may not do is no matter of the value.
                yield resource, error.code, error.message
                continue
            alter(resource)
        except ApiError as error:
            yield resource, error.code, message_of(error)
        else:
            yield resource, 0, None


def _check_keys(resource: AnyResource, valued: set[str]) -> None:
    """Every key once, and those that are set have a value."""
    if len({config.name for config in resource.configs}) < len(resource.configs):
        raise InvalidRequestError("Error due to duplicate config keys")
    nulls = [config.name for config in resource.configs if config.value is None and config.name in valued]
    if nulls:
        raise InvalidRequestError(f"Null value not supported for : {', '.join(nulls)}")


def _resource(resource: AnyResource) -> ConfigResource:
    return ConfigResource(resource.resource_type, resource.resource_name)


def _new_value(context: ControllerContext, resource: ConfigResource, config: incremental.AlterableConfig) -> str | None:
    operation = config.config_operation
    if operation == SET:
        return config.value
    if operation == DELETE:
        return None
    if not context.ports.schema.is_list(resource, config.name):
        raise InvalidConfigError(
            f"Can't {_OPERATION_NAMES[operation]} to key {config.name} because its type is not LIST."
        )
    default = context.ports.schema.default(resource, config.name)
    parts = splittable_value(context.image.configs_of(resource), default, config.name)
    given = _split(config.value or "")
    if operation == APPEND:
        present = set(parts)
        return ",".join([*parts, *(value for value in dict.fromkeys(given) if value not in present)])
    return ",".join(_without(parts, given))


def _split(value: str) -> list[str]:
    """The parts of a list as Java splits it: empty ones at the end don't count, but nothing at all is one part."""
    return value.rstrip(",").split(",") if value.strip(",") or not value else []


def _without(parts: list[str], given: list[str]) -> list[str]:
    """`parts` with each of `given` taken away once, from the front."""
    taken = Counter(given)
    left = []
    for part in parts:
        if taken[part]:
            taken[part] -= 1
        else:
            left.append(part)
    return left
