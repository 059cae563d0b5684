"""`ottla configs set` and `unset`: changes settings and shows what they were before."""

import argparse
import difflib
import re
from typing import Final

from ottla.cli.commands.configs.show import resource_of, shown
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.style import Style, Tone, Toned
from ottla.cli.output.table import table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import (
    AlterConfigOp,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
)

_CHANGE: Final = re.compile(r"([^=+\-][^=]*?)([+-]?)=(.*)", re.DOTALL)
_OPERATIONS: Final = {
    "": AlterConfigOpType.SET,
    "+": AlterConfigOpType.APPEND,
    "-": AlterConfigOpType.SUBTRACT,
}


def parse_change(text: str) -> AlterConfigOp:
    """The change that `KEY=VALUE`, `KEY+=ITEM` or `KEY-=ITEM` stands for.

    >>> parse_change("cleanup.policy+=compact")
    AlterConfigOp(name='cleanup.policy', value='compact', op_type=<AlterConfigOpType.APPEND: 2>)
    """
    found = _CHANGE.fullmatch(text)
    if found is None:
        raise CommandError(f"{text}: it must have the form KEY=VALUE, KEY+=ITEM or KEY-=ITEM")
    return AlterConfigOp(found[1].strip(), found[3], _OPERATIONS[found[2]])


async def change(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Changes settings, and prints them before and after."""
    if options.action == "set":
        operations = [parse_change(text) for text in options.changes]
    else:
        operations = [AlterConfigOp(name, None, AlterConfigOpType.DELETE) for name in options.keys]
    resource = await resource_of(admin, options)
    before = await _entries(admin, resource)
    _check_names(operations, before, resource)
    await admin.incremental_alter_configs({resource: operations}, validate_only=options.dry_run)
    after = before if options.dry_run else await _entries(admin, resource)
    names = list(dict.fromkeys(operation.name for operation in operations))
    if options.json:
        print_document(
            {
                "dry_run": options.dry_run,
                "configs": [
                    {"name": name, "before": _value(before.get(name)), "after": _value(after.get(name))}
                    for name in names
                ],
            }
        )
    elif options.dry_run:
        print(f"That could be done: {', '.join(names)}.")
    else:
        rows = [[Toned(name, Tone.NAME), shown(before.get(name)), shown(after.get(name))] for name in names]
        print(table(["Setting", "Before", "Now"], rows, Style.of()))
    return 0


async def _entries(admin: AsyncAdmin, resource: ConfigResource) -> dict[str, ConfigEntry]:
    return dict((await admin.describe_configs([resource]))[resource])


def _value(entry: ConfigEntry | None) -> str | None:
    return None if entry is None or entry.is_sensitive else entry.value


def _check_names(operations: list[AlterConfigOp], known: dict[str, ConfigEntry], resource: ConfigResource) -> None:
    """Only topics list every name that they can have; elsewhere the cluster is left to judge."""
    if resource.type is not ConfigResourceType.TOPIC:
        return
    for operation in operations:
        if known and operation.name not in known:
            near = difflib.get_close_matches(operation.name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "`ottla config docs --of topic` explains them all"
            raise CommandError(f"topics have no setting {operation.name}; {hint}")
