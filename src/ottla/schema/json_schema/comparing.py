"""The interface through which the comparison of one kind of node compares the schemas inside of it."""

from typing import Protocol

from ottla.schema.json_schema.change import Change
from ottla.schema.json_schema.node import Node
from ottla.schema.json_schema.pattern import Patterns
from ottla.schema.trampoline import Step

Found = list[tuple[Change, tuple[str, ...]]]
"""Changes that break, each with its path from the nodes that are compared."""


class Comparing(Protocol):
    """Compares the schemas inside of two that are compared, and knows what the policy lets pass."""

    patterns: Patterns

    def compare(self, old: Node | None, new: Node | None) -> Step[Found]:
        """The breaking changes between two schemas; None stands for no schema."""

    def found(self, change: Change, *path: str) -> Found:
        """The change, unless the policy lets it pass."""


def below(found: Found, *path: str) -> Found:
    """The findings with `path` put in front of theirs."""
    return [(change, (*path, *rest)) for change, rest in found]
