"""Checks whether a reader's Avro schema reads what a writer's wrote, with the verdict of Java's `SchemaCompatibility`.

Names count without their namespaces, and logical types do not count. A pair of types that is met again while it is
being compared counts as compatible. A pair that was compared before gives the same incompatibilities again, with the
place where they were found first: the reports of a registry repeat them as well.
"""

from typing import Final

from ottla.schema.avro.difference import (
    Place,
    ambiguous_field,
    missing_branch,
    missing_default,
    missing_symbols,
    name_mismatch,
    size_mismatch,
    type_mismatch,
)
from ottla.schema.avro.model import Array, Enum, Field, Fixed, Map, Missing, Named, Node, Record, Union
from ottla.schema.error import InvalidSchemaError
from ottla.schema.incompatibility import Incompatibility
from ottla.schema.trampoline import Step, run

_PROMOTIONS: Final = {
    "long": frozenset({"int"}),
    "float": frozenset({"int", "long"}),
    "double": frozenset({"int", "long", "float"}),
    "string": frozenset({"bytes"}),
    "bytes": frozenset({"string"}),
}
"""What else each primitive type reads."""

_FOUND_MAX: Final = 1000
"""Reports are cut here: types that use each other twice would double them at every level."""

_PAIRS_MAX: Final = 1_000_000
"""Comparing two unions costs the product of their branches; beyond this the schemas are refused."""

_ROOT: Final = Place("", "")

_Found = list[Incompatibility]


class _AmbiguousError(Exception):
    """Ends the comparison: Java's checker throws here, and its report consists of this alone."""

    def __init__(self, found: Incompatibility) -> None:
        super().__init__()
        self.found = found


def incompatibilities(reader: Node, writer: Node) -> tuple[Incompatibility, ...]:
    """Why `reader` can't read what `writer` wrote, in the order of the reader's schema; empty when it can."""
    try:
        return tuple(run(_Comparison().compare(reader, writer, _ROOT)))
    except _AmbiguousError as error:
        return (error.found,)


class _Comparison:
    def __init__(self) -> None:
        self._done: dict[tuple[int, int], _Found] = {}
        self._apart: set[tuple[int, int]] = set()
        self._pairs = 0

    def compare(self, reader: Node, writer: Node, place: Place) -> Step[_Found]:
        pair = id(reader), id(writer)
        known = self._done.get(pair)
        if known is not None:
            return known
        self._count()
        if pair in self._apart:
            place = _ROOT
        self._done[pair] = []
        found: _Found
        if reader.kind == writer.kind:
            found = yield self._same_kind(reader, writer, place)
        elif isinstance(writer, Union):
            found = []
            for index, branch in enumerate(writer.branches):
                found += yield self.compare(reader, branch, place.at(str(index)))
        elif isinstance(reader, Union):
            found = yield self._any_branch(reader, writer, place)
        elif writer.kind in _PROMOTIONS.get(reader.kind, ()):
            found = []
        else:
            found = [type_mismatch(reader, writer, place)]
        self._done[pair] = found = found[:_FOUND_MAX]
        return found

    def _reads(self, reader: Node, writer: Node) -> Step[bool]:
        """The verdict alone. What is found on the way has its place counted from these two types, as in Java."""
        if _apart(reader, writer):
            self._count()
            self._apart.add((id(reader), id(writer)))
            return False
        return not (yield self.compare(reader, writer, _ROOT))

    def _count(self) -> None:
        self._pairs += 1
        if self._pairs > _PAIRS_MAX:
            raise InvalidSchemaError("the schemas are too large to be compared")

    def _same_kind(self, reader: Node, writer: Node, place: Place) -> Step[_Found]:
        found: _Found = []
        if isinstance(reader, Named) and isinstance(writer, Named) and not same_name(reader, writer):
            found.append(name_mismatch(reader, writer, place))
        if isinstance(reader, Record) and isinstance(writer, Record):
            found += yield self._fields(reader, writer, place.at("fields"))
        elif isinstance(reader, Array) and isinstance(writer, Array):
            found += yield self.compare(reader.items, writer.items, place.at("items"))
        elif isinstance(reader, Map) and isinstance(writer, Map):
            found += yield self.compare(reader.values, writer.values, place.at("values"))
        elif isinstance(reader, Union) and isinstance(writer, Union):
            for index, branch in enumerate(writer.branches):
                if not (yield self._reads(reader, branch)):
                    found.append(missing_branch(branch, place.at(str(index))))
        elif isinstance(reader, Fixed) and isinstance(writer, Fixed) and reader.size != writer.size:
            found.append(size_mismatch(reader, writer, place))
        elif isinstance(reader, Enum) and isinstance(writer, Enum) and reader.default is None:
            missing = set(writer.symbols).difference(reader.symbols)
            if missing:
                found.append(missing_symbols(reader, tuple(missing), place))
        return found

    def _any_branch(self, reader: Union, writer: Node, place: Place) -> Step[_Found]:
        for branch in reader.branches:
            if (yield self._reads(branch, writer)):
                return []
        return [missing_branch(writer, place)]

    def _fields(self, reader: Record, writer: Record, place: Place) -> Step[_Found]:
        found: _Found = []
        for field in reader.fields:
            matches = _writers_fields(field, writer)
            here = Place(f"{place.reader}/{field.position}", place.writer)
            if len(matches) > 1:
                raise _AmbiguousError(ambiguous_field(field, writer, here))
            if matches:
                there = Place(f"{here.reader}/type", f"{place.writer}/{matches[0].position}/type")
                found += yield self.compare(field.type, matches[0].type, there)
            elif isinstance(field.default, Missing):
                if isinstance(field.type, Enum) and field.type.default is not None:
                    # Java compares the enum with the whole record here, which never matches.
                    found += yield self.compare(field.type, writer, here.at("type"))
                else:
                    found.append(missing_default(field, here))
            if len(found) > _FOUND_MAX:
                break
        return found


def _apart(reader: Node, writer: Node) -> bool:
    """Whether the kinds or the names of two types already rule out that the reader reads the writer."""
    if isinstance(reader, Union) or isinstance(writer, Union):
        return False
    if reader.kind != writer.kind:
        return writer.kind not in _PROMOTIONS.get(reader.kind, ())
    if not isinstance(reader, Named) or not isinstance(writer, Named) or same_name(reader, writer):
        return False
    # A field that matches several of the writer's has to be reported whatever the names are.
    return not (isinstance(reader, Record) and reader.has_field_aliases)


def same_name(reader: Named, writer: Named) -> bool:
    """Whether the reader has the writer's type under the same name or as an alias."""
    if reader.name.simple == writer.name.simple:
        return True
    # An alias without a namespace, of a type that has one, is `.Name` in Java and equals no full name.
    return any(
        alias.full == writer.name.full and (alias.namespace is not None or reader.name.namespace is None)
        for alias in reader.aliases
    )


def _writers_fields(field: Field, writer: Record) -> list[Field]:
    names = (field.name, *field.aliases)
    return [writer.field_by_name[name] for name in names if name in writer.field_by_name]
