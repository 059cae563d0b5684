"""Who may do what: rules listed, added and removed, and which rule decides.

ottla acls list
ottla acls add alice write orders
ottla acls add --deny --host 10.0.0.7 'User:*' read 'group:app-*'
ottla acls explain alice write orders
"""

import argparse
from typing import TYPE_CHECKING

from ottla.cli.connection import add_actions, run_admin

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.admin.value.acl import AclBinding

_RESOURCE = "orders, topic:ord*, group:app, txn:id, cluster"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    actions = add_actions(
        parser,
        {
            "list": "list the rules of all principals, or of one",
            "add": "allow something, or deny it",
            "remove": "take a rule away",
            "explain": "show which rule allows or denies an operation",
        },
    )
    actions["list"].add_argument("principal", nargs="?", help="alice or User:alice")
    for name in ("add", "remove"):
        _add_rule(actions[name])
        actions[name].add_argument("--deny", action="store_true", help="a rule that denies, which wins over any other")
        actions[name].add_argument("--host", default="*", help="the client's address (default: any)")
    explain = actions["explain"]
    _add_rule(explain)
    explain.add_argument("--host", default="127.0.0.1", help="the address that the client comes from")
    explain.add_argument("--super-users", default="", metavar="LIST", help="as in the brokers' file: super.users")
    explain.add_argument(
        "--allow-everyone-if-no-acl-found", action="store_true", help="as in the brokers' file, if it is true there"
    )


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code, which with `explain` is 3 for what is not allowed."""
    return run_admin(options, {"list": _list, "add": _add, "remove": _remove, "explain": _explain}[options.action])


def _add_rule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("principal", help="alice or User:alice; 'User:*' for all users")
    parser.add_argument("operation", help="read, write, create, delete, alter, describe, all, ...")
    parser.add_argument("resource", help=_RESOURCE)


async def _list(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.commands.security.acls_rule import principal_of, sentence
    from ottla.cli.output.document import print_document
    from ottla.client.admin.value.acl import AclBindingFilter

    principal = None if options.principal is None else principal_of(options.principal)
    found = sorted(await admin.describe_acls(AclBindingFilter(principal=principal)))
    if options.json:
        print_document({"acls": [_document(binding) for binding in found]})
        return 0
    for binding in found:
        print(sentence(binding))
    return 0


async def _add(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.commands.security.acls_rule import sentence

    binding = _binding(options)
    await admin.create_acls([binding])
    print(f"Added: {sentence(binding)}")
    return 0


async def _remove(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.commands.security.acls_rule import sentence
    from ottla.client.admin.value.acl import AclBindingFilter

    pattern, entry = _binding(options)
    which = AclBindingFilter(
        pattern.type,
        pattern.name,
        pattern.pattern_type,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission,
    )
    removed = (await admin.delete_acls([which]))[which]
    for binding in removed:
        print(f"Removed: {sentence(binding)}")
    if not removed:
        print("There is no such rule.")
    return 0 if removed else 1


async def _explain(admin: "AsyncAdmin", options: argparse.Namespace) -> int:
    from ottla.cli.commands.security.acls_rule import (
        decided,
        explanation,
        operation_of,
        principal_of,
        resource_of,
        settings_of,
    )
    from ottla.cli.output.document import print_document
    from ottla.metadata.acl.decision import Question

    pattern, principal = resource_of(options.resource), principal_of(options.principal)
    question = Question(principal, options.host, operation_of(options.operation), pattern.type, pattern.name)
    settings = settings_of(options.super_users, str(options.allow_everyone_if_no_acl_found))
    decision = decided(await admin.describe_acls(), settings, question)
    if options.json:
        print_document({"allowed": decision.is_allowed, "because": explanation(decision)})
    else:
        print(f"{'allowed' if decision.is_allowed else 'not allowed'}: {explanation(decision)}")
    return 0 if decision.is_allowed else 3


def _binding(options: argparse.Namespace) -> "AclBinding":
    from ottla.cli.commands.security.acls_rule import operation_of, principal_of, resource_of
    from ottla.client.admin.value.acl import AccessControlEntry, AclBinding, AclPermissionType

    permission = AclPermissionType.DENY if options.deny else AclPermissionType.ALLOW
    entry = AccessControlEntry(
        principal_of(options.principal), operation_of(options.operation), permission, options.host
    )
    return AclBinding(resource_of(options.resource), entry)


def _document(binding: "AclBinding") -> dict[str, str]:
    pattern, entry = binding
    return {
        "resource_type": pattern.type.name,
        "resource_name": pattern.name,
        "pattern_type": pattern.pattern_type.name,
        "principal": entry.principal,
        "host": entry.host,
        "operation": entry.operation.name,
        "permission": entry.permission.name,
    }
