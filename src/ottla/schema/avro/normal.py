"""The two forms in which an Avro schema is told only one way: the registry's normalised form, and Avro's own.

The normalised form is JSON that a parser reads once more, so that printing it gives the text of `normalize=true`. The
Parsing Canonical Form keeps only what a decoder needs; fingerprints are digests of it.
"""

from collections.abc import Iterable

from ottla.base.java.order import sort_key
from ottla.schema.avro.default import java_value
from ottla.schema.avro.logical_type import logical_type
from ottla.schema.avro.model import Array, Enum, Field, Fixed, Map, Missing, Named, Node, Props, Record, Union
from ottla.schema.avro.printer import FIELD_DEPTH, check_depth
from ottla.schema.json_text import Json, sorted_keys


def normal_json(node: Node, known: Iterable[str] = ()) -> Json:
    """The schema with full names, sorted properties and aliases; `known` names are used and not defined."""
    return _Normal(set(known)).of(node, 0)


def parsing_form(node: Node) -> str:
    """Avro's Parsing Canonical Form.

    Names are quoted as they are and never escaped, as the specification has it.
    """
    return _ParsingForm().of(node, 0)


class _Normal:
    def __init__(self, known: set[str]) -> None:
        self._known = known

    def of(self, node: Node, depth: int) -> Json:
        check_depth(depth)
        if isinstance(node, Union):
            branches: list[Json] = []
            for branch in node.branches:
                branches.append(self.of(branch, depth + 1))
            return branches
        if isinstance(node, Named):
            return self._named(node, depth)
        fields: dict[str, Json] = {"type": node.kind}
        if isinstance(node, Array):
            fields["items"] = self.of(node.items, depth + 1)
        elif isinstance(node, Map):
            fields["values"] = self.of(node.values, depth + 1)
        elif not node.props:
            return node.kind
        return fields | _logical_first(node) | _sorted(node.props)

    def _named(self, node: Named, depth: int) -> Json:
        if node.name.full in self._known:
            return node.name.full
        self._known.add(node.name.full)
        fields: dict[str, Json] = {"name": node.name.full, "type": node.kind}
        if isinstance(node, Enum):
            fields["symbols"] = list[Json](node.symbols)
        elif isinstance(node, Fixed):
            fields["size"] = node.size
        elif isinstance(node, Record):
            inner: list[Json] = []
            for field in node.fields:
                inner.append(self._field(field, depth))
            fields["fields"] = inner
        fields |= _logical_first(node)
        if node.doc:
            fields["doc"] = node.doc
        if node.aliases:
            written = {
                f".{alias.simple}" if alias.namespace is None and node.name.namespace is not None else alias.full
                for alias in node.aliases
            }
            fields["aliases"] = _sorted_texts(written)
        if isinstance(node, Enum) and node.default is not None:
            fields["default"] = node.default
        return fields | _sorted(node.props)

    def _field(self, field: Field, depth: int) -> Json:
        fields: dict[str, Json] = {
            "name": field.name,
            "type": self.of(field.type, depth + FIELD_DEPTH),
            "order": field.order,
        }
        if field.doc is not None:
            fields["doc"] = field.doc
        if field.aliases:
            fields["aliases"] = _sorted_texts(field.aliases)
        if not isinstance(field.default, Missing):
            default = java_value(field.default, field.type)
            if not isinstance(default, Missing):
                fields["default"] = sorted_keys(default)
        return fields | _sorted(field.props)


class _ParsingForm:
    def __init__(self) -> None:
        self._known: set[str] = set()

    def of(self, node: Node, depth: int) -> str:
        check_depth(depth)
        if isinstance(node, Union):
            return f"[{','.join([self.of(branch, depth + 1) for branch in node.branches])}]"
        if isinstance(node, Array):
            return f'{{"type":"array","items":{self.of(node.items, depth + 1)}}}'
        if isinstance(node, Map):
            return f'{{"type":"map","values":{self.of(node.values, depth + 1)}}}'
        if not isinstance(node, Named):
            return f'"{node.kind}"'
        if node.name.full in self._known:
            return f'"{node.name.full}"'
        self._known.add(node.name.full)
        start = f'{{"name":"{node.name.full}","type":"{node.kind}"'
        if isinstance(node, Enum):
            symbols = ",".join(f'"{symbol}"' for symbol in node.symbols)
            return f'{start},"symbols":[{symbols}]}}'
        if isinstance(node, Fixed):
            return f'{start},"size":{node.size}}}'
        fields = [
            f'{{"name":"{field.name}","type":{self.of(field.type, depth + FIELD_DEPTH)}}}'
            for field in (node.fields if isinstance(node, Record) else ())
        ]
        return f'{start},"fields":[{",".join(fields)}]}}'


def _logical_first(node: Node) -> Props:
    """The attributes of a logical type that is valid for the type it annotates."""
    name = logical_type(node)
    if name is None:
        return {}
    first: Props = {"logicalType": name}
    if name == "decimal":
        first["precision"] = node.props["precision"]
        if node.props.get("scale"):
            first["scale"] = node.props["scale"]
    return first


def _sorted(props: Props) -> Props:
    return {key: sorted_keys(props[key]) for key in sorted(props, key=sort_key)}


def _sorted_texts(texts: Iterable[str]) -> list[Json]:
    ordered: list[str] = sorted(set(texts), key=sort_key)
    return list[Json](ordered)
