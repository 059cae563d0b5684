"""From a JSON document to its graph of nodes.

References are followed when the whole document is read, one after the other, so that cycles and long chains need no
stack; a target that is referred to twice is one node.
"""

from collections.abc import Mapping

from ottla.schema.json_schema import classic, modern
from ottla.schema.json_schema.keyword import Keywords, wrong_kind
from ottla.schema.json_schema.node import Anything, Node, Nothing, Reference
from ottla.schema.json_schema.reference import References, Scope
from ottla.schema.json_text import Json
from ottla.schema.trampoline import Step, run


def load(document: Json, resolved: Mapping[str, str]) -> Node:
    """The graph, or InvalidSchemaError; `resolved` are the texts of referenced documents by name."""
    return Loader(References(document, resolved)).load()


class Loader:
    """Reads one document; the readers of classic and modern drafts call it back for schemas inside of theirs."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._waiting: list[tuple[Reference, str, Scope, str]] = []
        self._targets: dict[tuple[int, str], Node] = {}
        self.draft = references.draft

    def load(self) -> Node:
        root = run(self.schema(self._references.document, self._references.root, "#"))
        while self._waiting:
            reference, text, scope, path = self._waiting.pop()
            content, inside = self._references.find(text, scope, path)
            key = id(content), inside._base_uri
            if key not in self._targets:
                self._targets[key] = run(self.schema(content, inside, text))
            reference.target = self._targets[key]
        return root

    def schema(self, value: Json, scope: Scope, path: str) -> Step[Node]:
        """The node of one schema."""
        node: Node
        if isinstance(value, bool):
            node = Anything() if value else Nothing()
        elif isinstance(value, dict):
            read = modern.read if self.draft.is_modern else classic.read
            node = yield read(self, Keywords(value, path), self._references.inside(value, scope))
        else:
            raise wrong_kind("boolean or object", value, path)
        node.source = value
        return node

    def refer(self, keywords: Keywords, name: str, scope: Scope) -> Reference:
        """The node of a reference; what it leads to is found later."""
        node = Reference()
        self._waiting.append((node, keywords.text(name) or "", scope, keywords.at(name)))
        return node
