"""The files that a file imports, directly or not: those that references resolve and those that are built in."""

from collections.abc import Mapping
from functools import cache

from ottla.schema.protobuf.descriptor import builtin
from ottla.schema.protobuf.descriptor import reader as descriptor_reader
from ottla.schema.protobuf.element import File
from ottla.schema.protobuf.source import parse_source


def dependencies(file: File, resolved: Mapping[str, str]) -> dict[str, File]:
    """The files by import path, each after those that it imports. An import that is found nowhere is left out."""
    found: dict[str, File] = {}
    entered: set[str] = set()
    # A stack instead of recursion: a chain of imports may be long.
    stack: list[tuple[str, File | None]] = [(path, None) for path in reversed(_imports(file))]
    while stack:
        path, finished = stack.pop()
        if finished is not None:
            found[path] = finished
        elif path not in entered:
            entered.add(path)
            imported = parse_source(resolved[path]) if path in resolved else built_in(path)
            if imported is not None:
                stack.append((path, imported))
                stack.extend((inner, None) for inner in reversed(_imports(imported)))
    return found


@cache
def built_in(path: str) -> File | None:
    """The built-in file of that path."""
    descriptor = builtin.descriptor(path)
    return None if descriptor is None else descriptor_reader.read(descriptor)


def _imports(file: File) -> tuple[str, ...]:
    return (*file.imports, *file.public_imports)
