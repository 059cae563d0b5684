"""The interface through which the readers of single schema objects use the loader of a whole document."""

from typing import Protocol

from ottla.schema.json_schema.draft import Draft
from ottla.schema.json_schema.keyword import Keywords
from ottla.schema.json_schema.node import Node, Reference
from ottla.schema.json_schema.reference import Scope
from ottla.schema.json_text import Json
from ottla.schema.trampoline import Step


class Loading(Protocol):
    """Reads the schemas that lie inside of one, and follows its references."""

    draft: Draft

    def schema(self, value: Json, scope: Scope, path: str) -> Step[Node]:
        """The node of a schema."""

    def refer(self, keywords: Keywords, name: str, scope: Scope) -> Reference:
        """The node of the reference in a keyword."""
