"""`kafka-configs --alter`: which API a change belongs to, and Kafka's words when it belongs to none."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ottla.cli.kafka.argument.config_entity import Entities
from ottla.cli.kafka.argument.option import ToolError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import AlterConfigOp, AlterConfigOpType, ConfigResource, ConfigResourceType
from ottla.client.admin.value.quota import (
    CLIENT_ID,
    IP,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    EntityPart,
    QuotaFilterPart,
)
from ottla.client.admin.value.scram import (
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from ottla.protocol.scram import SCRAM_MECHANISMS

_RESOURCES: Final = {
    "topics": ConfigResourceType.TOPIC,
    "brokers": ConfigResourceType.BROKER,
    "broker-loggers": ConfigResourceType.BROKER_LOGGER,
    "client-metrics": ConfigResourceType.CLIENT_METRICS,
    "groups": ConfigResourceType.GROUP,
}
QUOTA_TYPES: Final = {"users": USER, "clients": CLIENT_ID, "ips": IP}
_QUOTAS: Final = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
_IP_QUOTAS: Final = ("connection_creation_rate",)
_MECHANISMS: Final = {mechanism.mechanism_name: mechanism for mechanism in SCRAM_MECHANISMS}
_CREDENTIAL: Final = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)")
_ITERATIONS_DEFAULT: Final = 4096
_ITERATIONS_MIN: Final = 4096


class Changes(NamedTuple):
    """Configs to set and configs to remove."""

    added: Mapping[str, str]
    removed: Sequence[str]

    @property
    def names(self) -> list[str]:
        """All that are named."""
        return [*self.added, *self.removed]


async def alter(admin: AsyncAdmin, entities: Entities, changes: Changes) -> None:
    """Makes the changes and says so."""
    kind, name = entities.types[0], entities.names[0]
    if kind in _RESOURCES:
        await _alter_resource(admin, ConfigResource(_RESOURCES[kind], name), changes)
    elif kind == "ips":
        unknown = [config for config in changes.names if config not in _IP_QUOTAS]
        if unknown:
            raise ToolError(
                "Only connection quota configs can be added for 'ips' using --bootstrap-server. "
                f"Unexpected config names: {','.join(unknown)}"
            )
        await _alter_quotas(admin, entities, changes)
    else:
        _check_user(entities, changes)
        if any(config in _QUOTAS for config in changes.names):
            await _alter_quotas(admin, entities, changes)
        else:
            await _alter_credentials(admin, name, changes)
    if name:
        print(f"Completed updating config for {kind[:-1]} {name}.")
    else:
        print(f"Completed updating default config for {kind} in the cluster.")


async def _alter_resource(admin: AsyncAdmin, resource: ConfigResource, changes: Changes) -> None:
    present = (await admin.describe_configs([resource]))[resource]
    if resource.type is ConfigResourceType.BROKER_LOGGER:
        invalid = [name for name in (*changes.removed, *changes.added) if name not in present]
        if invalid:
            raise ToolError(f"Invalid broker logger(s): {','.join(invalid)}")
    ops = [AlterConfigOp(name, "", AlterConfigOpType.DELETE) for name in changes.removed]
    ops += [AlterConfigOp(name, value) for name, value in changes.added.items()]
    await admin.incremental_alter_configs({resource: ops})


def _check_user(entities: Entities, changes: Changes) -> None:
    for verb, names in (("added", list(changes.added)), ("deleted", changes.removed)):
        if entities.types[0] == "clients" or len(entities.types) == 2:
            unknown = [name for name in names if name not in _QUOTAS]
            allowed, kind = "quota", "clients"
        else:
            unknown = [name for name in names if name not in _QUOTAS and name not in _MECHANISMS]
            allowed, kind = "quota and SCRAM credential", "users"
        if unknown:
            raise ToolError(
                f"Only {allowed} configs can be {verb} for '{kind}' using --bootstrap-server. "
                f"Unexpected config names: {unexpected(unknown, verb)}"
            )
    if any(name in _MECHANISMS for name in changes.names):
        if "" in entities.names:
            raise ToolError(
                "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials "
                "using --bootstrap-server."
            )
        if any(name in _QUOTAS for name in changes.names):
            raise ToolError(
                "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' "
                "using --bootstrap-server."
            )


def unexpected(names: Sequence[str], verb: str) -> str:
    """The names as Kafka 4.3 prints them: collections of Scala's, by their kind."""
    return f"{'Set' if verb == 'added' else 'ArrayBuffer'}({', '.join(names)})"


async def _alter_quotas(admin: AsyncAdmin, entities: Entities, changes: Changes) -> None:
    parts = [
        EntityPart(QUOTA_TYPES[kind], name or None) for kind, name in zip(entities.types, entities.names, strict=True)
    ]
    filters = [QuotaFilterPart(kind, name) for kind, name in parts]
    present = next(iter((await admin.describe_client_quotas(filters, strict=True)).values()), {})
    invalid = [name for name in changes.removed if name not in present]
    if invalid:
        raise ToolError(f"Invalid config(s): {','.join(invalid)}")
    values: dict[str, float | None] = {name: _number(name, value) for name, value in changes.added.items()}
    values.update(dict.fromkeys(changes.removed))
    await admin.alter_client_quotas([ClientQuotaAlteration(ClientQuotaEntity(parts), values)])


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ToolError(f"Cannot parse quota configuration value for {name}: {value}") from None


async def _alter_credentials(admin: AsyncAdmin, user: str, changes: Changes) -> None:
    """One mechanism after the other: a server takes only one change per user at a time."""
    credentials = [_credential(user, name, text) for name, text in changes.added.items()]
    for name in changes.removed:
        await admin.alter_user_scram_credentials([UserScramCredentialDeletion(user, _MECHANISMS[name])])
    for credential in credentials:
        await admin.alter_user_scram_credentials([credential])


def _credential(user: str, name: str, text: str) -> UserScramCredentialUpsertion:
    found = _CREDENTIAL.fullmatch(text)
    if found is None:
        raise ToolError(f"Invalid credential property {name.replace('-', '_')}={text}")
    given, password = found.groups()
    iterations = _ITERATIONS_DEFAULT if given in (None, "-1") else int(given or 0)
    if iterations < _ITERATIONS_MIN:
        raise ToolError(f"Iterations {iterations} is less than the minimum {_ITERATIONS_MIN} required for {name}")
    return UserScramCredentialUpsertion(user, _MECHANISMS[name], password.encode(), iterations)
