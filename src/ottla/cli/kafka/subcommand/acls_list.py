"""`kafka-acls --list`: the entries of resources, or of principals."""

from collections.abc import Mapping, Sequence

from ottla.cli.kafka.argument.option import ChosenOptions
from ottla.cli.kafka.subcommand.acls_wish import in_order, principals, resources, shown_entry, shown_resource
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.acl import AccessControlEntry, AclBinding, AclBindingFilter, ResourcePattern


async def print_acls(admin: AsyncAdmin, options: ChosenOptions) -> None:
    """Prints what the named resources have, or all resources."""
    named = resources(options)
    filters = [AclBindingFilter(one.type, one.name, one.pattern_type) for one in named] or [AclBindingFilter()]
    found: list[AclBinding] = []
    for which in filters:
        found += await admin.describe_acls(which)
    entries: dict[ResourcePattern, list[AccessControlEntry]] = {}
    for pattern, entry in dict.fromkeys(found):
        entries.setdefault(pattern, []).append(entry)
    asked = principals(options, "principal")
    if not asked:
        _print(entries)
    for principal in asked:
        print(f"ACLs for principal `{principal}`")
        _print({one: [entry for entry in those if entry.principal == principal] for one, those in entries.items()})


def _print(entries: Mapping[ResourcePattern, Sequence[AccessControlEntry]]) -> None:
    for resource, those in sorted(entries.items()):
        if those:
            listed = "\n".join(f"\t{shown_entry(entry)}" for entry in in_order(those))
            print(f"Current ACLs for resource `{shown_resource(resource)}`:\n{listed}\n")
