"""`kafka-configs --describe`: configs with their synonyms, quotas and SCRAM credentials, as Kafka prints them."""

from collections.abc import Iterable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.config_entity import Entities
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.output.java_error import java_name
from ottla.cli.kafka.subcommand.configs_alter import QUOTA_TYPES
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource
from ottla.client.admin.value.quota import CLIENT_ID, IP, USER, ClientQuotaEntity, QuotaFilterPart
from ottla.metadata.topic_name import check_topic_name
from ottla.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidTopicError,
    ResourceNotFoundError,
    UnsupportedVersionError,
)

_KINDS: Final = {
    "topics": (ConfigResourceType.TOPIC, ConfigSource.DYNAMIC_TOPIC_CONFIG),
    "brokers": (ConfigResourceType.BROKER, ConfigSource.DYNAMIC_BROKER_CONFIG),
    "broker-loggers": (ConfigResourceType.BROKER_LOGGER, ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG),
    "client-metrics": (ConfigResourceType.CLIENT_METRICS, ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG),
    "groups": (ConfigResourceType.GROUP, ConfigSource.DYNAMIC_GROUP_CONFIG),
}
_SHOWN_TYPES: Final = {USER: "user-principal", CLIENT_ID: "client-id", IP: "ip"}


async def describe(admin: AsyncAdmin, entities: Entities, *, everything: bool) -> None:
    """Prints the configs of the entities; with `everything` not only the dynamic ones."""
    kind = entities.types[0]
    if kind in _KINDS:
        await _describe_resources(admin, kind, entities.names[:1], everything=everything)
        return
    await _describe_quotas(admin, entities)
    if kind != "ips" and "clients" not in entities.types and "" not in entities.names:
        await _describe_credentials(admin, entities.names)


async def _describe_resources(admin: AsyncAdmin, kind: str, names: Iterable[str], *, everything: bool) -> None:
    named = list(names)
    if not named:
        named = await _all_names(admin, kind)
    elif not everything and not await _exists(admin, kind, named[0]):
        if kind == "topics":
            _check_topic(named[0])
        print(f"The {kind[:-1]} '{named[0]}' doesn't exist and doesn't have dynamic config.")
        return
    for name in named:
        if name:
            print(f"{'All' if everything else 'Dynamic'} configs for {kind[:-1]} {name} are:")
        else:
            print(f"Default configs for {kind} in the cluster are:")
        await _print_configs(admin, kind, name, everything=everything)


async def _print_configs(admin: AsyncAdmin, kind: str, name: str, *, everything: bool) -> None:
    resource_type, source = _KINDS[kind]
    if kind == "brokers" and not name:
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    resource = ConfigResource(resource_type, name)
    entries = (await admin.describe_configs([resource], include_synonyms=True))[resource]
    for entry in sorted(entries.values()):
        if everything or entry.source is source:
            print(_line(entry))


def _line(entry: ConfigEntry) -> str:
    synonyms = ", ".join(f"{one.source.name}:{one.name}={_shown(one.value)}" for one in entry.synonyms)
    sensitive = str(entry.is_sensitive).lower()
    return f"  {entry.name}={_shown(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def _check_topic(name: str) -> None:
    try:
        check_topic_name(name)
    except InvalidTopicError as error:
        raise ToolError(str(error)) from error


async def _exists(admin: AsyncAdmin, kind: str, name: str) -> bool:
    return not name or name in await _all_names(admin, kind)


async def _all_names(admin: AsyncAdmin, kind: str) -> list[str]:
    if kind == "topics":
        return list(await admin.list_topics(include_internal=True))
    if kind in ("brokers", "broker-loggers"):
        return [*(str(node.id) for node in (await admin.describe_cluster()).nodes), ""]
    if kind == "client-metrics":
        return await admin.list_client_metrics_resources()
    groups = [group.group_id for group in await admin.list_groups()]
    try:
        configured = await admin.list_config_resources([ConfigResourceType.GROUP])
    except (UnsupportedVersionError, ClusterAuthorizationFailedError):
        configured = []
    return list(dict.fromkeys([*groups, *(resource.name for resource in configured)]))


async def _describe_quotas(admin: AsyncAdmin, entities: Entities) -> None:
    if len(entities.names) > len(entities.types):
        raise ToolError("More entity names specified than entity types")
    filters = [
        QuotaFilterPart(QUOTA_TYPES[kind], any_name=True)
        if index >= len(entities.names)
        else QuotaFilterPart(QUOTA_TYPES[kind], entities.names[index] or None)
        for index, kind in enumerate(entities.types)
    ]
    for entity, quotas in (await admin.describe_client_quotas(filters, strict=True)).items():
        values = ", ".join(f"{name}={value}" for name, value in quotas.items())
        print(f"Quota configs for {_entity(entity)} are {values}")


def _entity(entity: ClientQuotaEntity) -> str:
    names = entity.names
    return ", ".join(
        f"the default {shown}" if not names[kind] else f"{shown} '{names[kind]}'"
        for kind, shown in _SHOWN_TYPES.items()
        if kind in names
    )


async def _describe_credentials(admin: AsyncAdmin, users: Iterable[str]) -> None:
    asked = list(users) or None
    errors: dict[str, OttlaError] = {}
    found = await admin.describe_user_scram_credentials(asked, errors=errors)
    for user, infos in found.items():
        listed = ", ".join(f"{info.mechanism.mechanism_name}=iterations={info.iterations}" for info in infos)
        print(f"SCRAM credential configs for user-principal '{user}' are {listed}")
    for user, error in errors.items():
        if not isinstance(error, ResourceNotFoundError):
            reason = f"{java_name(error).rpartition('.')[2]}: {error}"
            print(f"Error retrieving SCRAM credential configs for user-principal '{user}': {reason}")
