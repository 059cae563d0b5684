"""`kafka-acls --add` and `--remove`, and what they print and ask."""

from collections.abc import Sequence

from ottla.cli.kafka.argument.option import ChosenOptions
from ottla.cli.kafka.subcommand.acls_wish import pattern_type, shown_entry, shown_resource, wishes
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclBinding,
    AclBindingFilter,
    PatternType,
    ResourcePattern,
)


async def add(admin: AsyncAdmin, options: ChosenOptions) -> None:
    """Adds what is not there yet."""
    how = pattern_type(options)
    if how not in (PatternType.LITERAL, PatternType.PREFIXED):
        options.fail(f"A '--resource-pattern-type' value of '{how.name}' is not valid when adding acls.")
    wanted = wishes(options)
    if not all(wanted.values()):
        options.fail("You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.")
    for resource, entries in wanted.items():
        present = set(await admin.describe_acls(_filter(resource)))
        missing = [entry for entry in entries if AclBinding(resource, entry) not in present]
        for entry in entries:
            if entry not in missing:
                print(f"Acl (pattern={shown_resource(resource)}, entry={shown_entry(entry)}) already exists.")
        if missing:
            listed = "\n".join(f"\t{shown_entry(entry)}" for entry in missing)
            print(f"Adding ACLs for resource `{shown_resource(resource)}`: \n {listed}\n")
            await admin.create_acls(AclBinding(resource, entry) for entry in missing)


async def remove(admin: AsyncAdmin, options: ChosenOptions) -> None:
    """Removes entries, or all that a resource has; asks first unless `--force` is given."""
    for resource, entries in wishes(options).items():
        if options.has("force") or _is_confirmed(resource, entries):
            filters = [_filter(resource, entry) for entry in entries] or [_filter(resource)]
            await admin.delete_acls(filters)


def _is_confirmed(resource: ResourcePattern, entries: Sequence[AccessControlEntry]) -> bool:
    if entries:
        listed = "\n".join(f"\t{shown_entry(entry)}" for entry in entries)
        print(f"Are you sure you want to remove ACLs: \n {listed}")
        print(f" from resource filter `{shown_resource(resource)}`? (y/n)")
    else:
        print(f"Are you sure you want to delete all ACLs for resource filter `{shown_resource(resource)}`? (y/n)")
    try:
        return input().strip().lower() == "y"
    except EOFError:
        return False


def _filter(resource: ResourcePattern, entry: AccessControlEntry | None = None) -> AclBindingFilter:
    of_resource = AclBindingFilter(resource.type, resource.name, resource.pattern_type)
    if entry is None:
        return of_resource
    return of_resource._replace(
        principal=entry.principal, host=entry.host, operation=entry.operation, permission=entry.permission
    )
