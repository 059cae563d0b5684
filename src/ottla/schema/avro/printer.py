"""A graph of Avro types as text, with Java's order of attributes: the canonical text of a registry.

Each named type is written in full where it is used first and by name after that. Names that other texts define are
passed in and are not written in full at all.
"""

from collections.abc import Iterable
from typing import Final

from ottla.schema.avro.model import Array, Enum, Field, Fixed, Map, Missing, Named, Node, Props, Record, Union
from ottla.schema.error import InvalidSchemaError
from ottla.schema.json_text import NESTING_MAX, write_json, write_string

FIELD_DEPTH: Final = 3
"""A field's type stands within the field, the list of fields and the record."""


def print_schema(node: Node, known: Iterable[str] = ()) -> str:
    """The text of the schema; `known` are full names that the reader of the text knows."""
    printer = _Printer(set(known))
    printer.write(node, None, 0)
    return "".join(printer.parts)


def check_depth(depth: int) -> None:
    """Raises InvalidSchemaError where brackets in a text are nested too deep."""
    if depth > NESTING_MAX:
        raise InvalidSchemaError(f"nested deeper than {NESTING_MAX} levels")


class _Printer:
    def __init__(self, known: set[str]) -> None:
        self.parts: list[str] = []
        self._known = known

    def write(self, node: Node, namespace: str | None, depth: int) -> None:
        """Types in a row, each used by the one before it, nest in the text, which may get too deep to be read again."""
        check_depth(depth)
        add = self.parts.append
        if isinstance(node, Named):
            self._named(node, namespace, depth)
        elif isinstance(node, Union):
            for index, branch in enumerate(node.branches):
                add("," if index else "[")
                self.write(branch, namespace, depth + 1)
            add("]" if node.branches else "[]")
        elif isinstance(node, Array):
            add('{"type":"array","items":')
            self.write(node.items, namespace, depth + 1)
            self._close(node.props)
        elif isinstance(node, Map):
            add('{"type":"map","values":')
            self.write(node.values, namespace, depth + 1)
            self._close(node.props)
        elif node.props:
            add(f'{{"type":"{node.kind}"')
            self._close(node.props)
        else:
            add(f'"{node.kind}"')

    def _named(self, node: Named, namespace: str | None, depth: int) -> None:
        if node.name.full in self._known:
            self.parts.append(write_string(node.name.within(namespace)))
            return
        self._known.add(node.name.full)
        kind = "error" if isinstance(node, Record) and node.is_error else node.kind
        self.parts.append(f'{{"type":"{kind}","name":{write_string(node.name.simple)}')
        if node.name.namespace != namespace:
            self.parts.append(f',"namespace":{write_string(node.name.namespace or "")}')
        if node.doc is not None:
            self.parts.append(f',"doc":{write_string(node.doc)}')
        if isinstance(node, Record):
            self.parts.append(',"fields":[')
            for index, field in enumerate(node.fields):
                self._field(field, node.name.namespace, index, depth)
            self.parts.append("]")
        elif isinstance(node, Enum):
            self.parts.append(f',"symbols":[{",".join(map(write_string, node.symbols))}]')
            if node.default is not None:
                self.parts.append(f',"default":{write_string(node.default)}')
        elif isinstance(node, Fixed):
            self.parts.append(f',"size":{node.size}')
        self._props(node.props)
        if node.aliases:
            aliases = (write_string(alias.within(node.name.namespace)) for alias in node.aliases)
            self.parts.append(f',"aliases":[{",".join(aliases)}]')
        self.parts.append("}")

    def _field(self, field: Field, namespace: str | None, index: int, depth: int) -> None:
        self.parts.append(f'{"," if index else ""}{{"name":{write_string(field.name)},"type":')
        self.write(field.type, namespace, depth + FIELD_DEPTH)
        if field.doc is not None:
            self.parts.append(f',"doc":{write_string(field.doc)}')
        if not isinstance(field.default, Missing):
            self.parts.append(f',"default":{write_json(field.default)}')
        if field.order != "ascending":
            self.parts.append(f',"order":"{field.order}"')
        if field.aliases:
            self.parts.append(f',"aliases":[{",".join(map(write_string, field.aliases))}]')
        self._close(field.props)

    def _props(self, props: Props) -> None:
        self.parts.extend(f",{write_string(key)}:{write_json(value)}" for key, value in props.items())

    def _close(self, props: Props) -> None:
        self._props(props)
        self.parts.append("}")
