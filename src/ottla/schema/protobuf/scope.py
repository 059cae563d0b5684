"""Resolves names: the types and extensions of a file and of its imports, by their full names.

A name is looked up in the innermost scope first: `B` in message `p.A` is `p.A.B`, else `p.B`, else `B`. With a leading
dot, `.p.B`, it is full.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.protobuf.element import EnumType, Extend, Field, File, Group, Message
from ottla.schema.reference import Reference

LOCAL: Final = Reference("", "", -1)
"""Stands for the file itself where types are asked for the reference that they come from."""


@frozen
class TypeInfo:
    """A type and where it comes from; `reference` is None for built-in files."""

    full_name: str
    package: str
    element: Message | EnumType | Group
    reference: Reference | None

    @property
    def local_name(self) -> str:
        """The name without its package."""
        return self.full_name[len(self.package) + 1 :] if self.package else self.full_name


@frozen
class ExtensionInfo:
    """An extension field, and the scope in which its type is looked for."""

    full_name: str
    extendee: str
    field: Field
    scope: tuple[str, ...]
    file: File


class Scope:
    """The names that a file can use."""

    def __init__(self, file: File, dependencies: Mapping[str, File], references: Sequence[Reference] = ()) -> None:
        by_name = {reference.name: reference for reference in references}
        self.file: Final = file
        self.package: Final = file.package or ""
        self.types: Final[dict[str, TypeInfo]] = {}
        self.extensions: Final[dict[str, ExtensionInfo]] = {}
        for path, dependency in dependencies.items():
            self._collect(dependency, by_name.get(path))
        self._collect(file, LOCAL)

    def resolve(self, name: str, inside: Sequence[str]) -> str | None:
        """The full name of a type that is named within a message; `inside` is package and messages, outermost first."""
        return _found(self.types, name, inside)

    def resolve_extension(self, name: str, inside: Sequence[str]) -> str | None:
        """The full name of an extension."""
        return _found(self.extensions, name, inside)

    def type(self, name: str, inside: Sequence[str]) -> TypeInfo | None:
        """The type of that name."""
        full_name = self.resolve(name, inside)
        return None if full_name is None else self.types[full_name]

    def root(self) -> tuple[str, ...]:
        """The scope of the file's own types, which is its package."""
        return package_scope(self.package)

    def _collect(self, file: File, reference: Reference | None) -> None:
        package = file.package or ""
        inside = package_scope(package)
        for full_name, element in types_of(file):
            self.types[full_name] = TypeInfo(full_name, package, element, reference)
        for scope, extend in _extends_of(file.extends, file.messages, inside):
            for field in extend.fields:
                full_name = ".".join((*scope, field.name))
                self.extensions[full_name] = ExtensionInfo(full_name, extend.name, field, scope, file)


def package_scope(package: str | None) -> tuple[str, ...]:
    """A package's parts.

    >>> package_scope("a.b"), package_scope("")
    (('a', 'b'), ())
    """
    return tuple(package.split(".")) if package else ()


def types_of(file: File) -> Iterator[tuple[str, Message | EnumType | Group]]:
    """Every type that the file defines with its full name, outer ones first."""
    prefix = f"{file.package}." if file.package else ""
    for message in file.messages:
        yield from _types_in(message, prefix)
    for enum in file.enums:
        yield prefix + enum.name, enum


def _types_in(message: Message, prefix: str) -> Iterator[tuple[str, Message | EnumType | Group]]:
    yield prefix + message.name, message
    inner = f"{prefix}{message.name}."
    for group in (*message.groups, *(group for oneof in message.oneofs for group in oneof.groups)):
        yield inner + group.name, group
    for nested in message.messages:
        yield from _types_in(nested, inner)
    for enum in message.enums:
        yield inner + enum.name, enum


def _extends_of(
    extends: Iterable[Extend], messages: Iterable[Message], inside: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Extend]]:
    for extend in extends:
        yield inside, extend
    for message in messages:
        yield from _extends_of(message.extends, message.messages, (*inside, message.name))


def _found(table: Mapping[str, object], name: str, inside: Sequence[str]) -> str | None:
    if name.startswith("."):
        return name[1:] if name[1:] in table else None
    for length in range(len(inside), -1, -1):
        candidate = ".".join((*inside[:length], name))
        if candidate in table:
            return candidate
    return None
