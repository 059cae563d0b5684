"""What a call of `kafka-acls` is about: resources, and the entries it means for each."""

from collections.abc import Iterable, Sequence
from typing import Final

from ottla.cli.kafka.argument.option import ChosenOptions, ToolError
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)

CLUSTER: Final = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster", PatternType.LITERAL)

_RESOURCES: Final = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
    "delegation-token": ResourceType.DELEGATION_TOKEN,
    "user-principal": ResourceType.USER,
}
_Op = AclOperation
_SUPPORTED: Final = {
    ResourceType.TOPIC: {
        _Op.READ, _Op.WRITE, _Op.CREATE, _Op.DESCRIBE, _Op.DELETE, _Op.ALTER, _Op.DESCRIBE_CONFIGS, _Op.ALTER_CONFIGS
    },
    ResourceType.GROUP: {_Op.READ, _Op.DESCRIBE, _Op.DELETE, _Op.DESCRIBE_CONFIGS, _Op.ALTER_CONFIGS},
    ResourceType.CLUSTER: {
        _Op.CREATE, _Op.CLUSTER_ACTION, _Op.DESCRIBE_CONFIGS, _Op.ALTER_CONFIGS, _Op.IDEMPOTENT_WRITE, _Op.ALTER,
        _Op.DESCRIBE,
    },
    ResourceType.TRANSACTIONAL_ID: {_Op.DESCRIBE, _Op.WRITE, _Op.TWO_PHASE_COMMIT},
    ResourceType.DELEGATION_TOKEN: {_Op.DESCRIBE},
    ResourceType.USER: {_Op.CREATE_TOKENS, _Op.DESCRIBE_TOKENS},
}  # fmt: skip

Wishes = dict[ResourcePattern, list[AccessControlEntry]]
"""The entries that are meant for each resource."""


def pattern_type(options: ChosenOptions) -> PatternType:
    """How names are meant."""
    text = options.required_text("resource-pattern-type")
    found = PatternType.__members__.get(text.upper(), PatternType.UNKNOWN)
    if found is PatternType.UNKNOWN:
        raise ToolError(f"Cannot parse argument '{text}' of option resource-pattern-type")
    return found


def resources(options: ChosenOptions) -> list[ResourcePattern]:
    """The resources that are named."""
    how = pattern_type(options)
    found = [
        ResourcePattern(kind, name.strip(), how)
        for option, kind in _RESOURCES.items()
        for name in options.texts(option)
    ]
    if how is PatternType.LITERAL and (options.has("cluster") or options.has("idempotent")):
        found.append(CLUSTER)
    return list(dict.fromkeys(found))


def principals(options: ChosenOptions, name: str) -> list[str]:
    """Who is named by an option."""
    found = [text.strip() for text in options.texts(name)]
    for text in found:
        if ":" not in text:
            raise ToolError(f"expected a string in format principalType:principalName but got {text}")
    return list(dict.fromkeys(found))


def wishes(options: ChosenOptions) -> Wishes:
    """What is to be added or removed; no entries for a resource mean all that it has."""
    found = resources(options)
    if not found:
        options.fail(
            "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
            "--delegation-token <Delegation Token ID>"
        )
    wanted: Wishes = {}
    if not options.has("producer") and not options.has("consumer"):
        entries = _entries(options, [_operation(text) for text in options.texts("operation") or ["All"]])
        wanted = dict.fromkeys(found, entries)
    if options.has("producer"):
        needs = {ResourceType.TOPIC: (_Op.CREATE, _Op.DESCRIBE, _Op.WRITE),
                 ResourceType.TRANSACTIONAL_ID: (_Op.DESCRIBE, _Op.WRITE)}  # fmt: skip
        wanted = {one: _entries(options, needs[one.type]) for one in found if one.type in needs}
        if options.has("idempotent"):
            wanted[CLUSTER] = _entries(options, [_Op.IDEMPOTENT_WRITE])
    if options.has("consumer"):
        reads = {ResourceType.TOPIC: (_Op.DESCRIBE, _Op.READ), ResourceType.GROUP: (_Op.READ,)}
        for one in found:
            if one.type in reads:
                both = [*wanted.get(one, []), *_entries(options, reads[one.type])]
                wanted[one] = in_order(dict.fromkeys(both))
    _check_operations(options, wanted)
    return wanted


def _operation(text: str) -> AclOperation:
    """`DescribeConfigs`, `describe_configs` or `DESCRIBE_CONFIGS`; what is none of them is UNKNOWN."""
    pascal = {operation.name.title().replace("_", ""): operation for operation in AclOperation}
    name = text.strip()
    found = pascal.get(name) or AclOperation.__members__.get(name.upper(), AclOperation.UNKNOWN)
    if found is AclOperation.ANY:
        raise ToolError("operation must not be ANY")
    return found


def _entries(options: ChosenOptions, operations: Sequence[AclOperation]) -> list[AccessControlEntry]:
    found = [
        AccessControlEntry(principal, operation, permission, host.strip())
        for who, where, permission in (
            ("allow-principal", "allow-host", AclPermissionType.ALLOW),
            ("deny-principal", "deny-host", AclPermissionType.DENY),
        )
        for principal in principals(options, who)
        for operation in operations
        for host in options.texts(where) or ["*"]
    ]
    return in_order(dict.fromkeys(found))


def in_order(entries: Iterable[AccessControlEntry]) -> list[AccessControlEntry]:
    """By principal, host and the operation's name."""
    return sorted(entries, key=lambda entry: (entry.principal, entry.host, entry.operation.name, entry.permission))


def _check_operations(options: ChosenOptions, wanted: Wishes) -> None:
    for resource, entries in wanted.items():
        allowed = {*_SUPPORTED[resource.type], AclOperation.ALL}
        if any(entry.operation not in allowed for entry in entries):
            listed = ", ".join(operation.name for operation in sorted(allowed))
            options.fail(f"ResourceType {resource.type.name} only supports operations [{listed}]")


def shown_resource(resource: ResourcePattern) -> str:
    """As Kafka prints it."""
    kind, how = resource.type.name, resource.pattern_type.name
    return f"ResourcePattern(resourceType={kind}, name={resource.name}, patternType={how})"


def shown_entry(entry: AccessControlEntry) -> str:
    """As Kafka prints it."""
    return (
        f"(principal={entry.principal}, host={entry.host}, operation={entry.operation.name}, "
        f"permissionType={entry.permission.name})"
    )
