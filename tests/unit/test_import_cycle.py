"""No module imports itself through others, imports for type checkers included: see CONTRIBUTING.md.

A class that is cut over several files which reach into each other is still one class. The cycles that remain are
listed; the list may only shrink: a module that left its cycle leaves the list.
"""

import ast
from collections.abc import Iterator, Mapping, Set
from functools import cache
from typing import Final

from tests.unit.test_tidy import ROOT, SOURCES, tree

REMAINING: Final = (
    # For types alone: a stream makes tables, and a table streams.
    {
        "ottla.streams.dsl.cogrouped",
        "ottla.streams.dsl.grouped",
        "ottla.streams.dsl.kstream",
        "ottla.streams.dsl.ktable",
        "ottla.streams.dsl.windowed",
    },
)


def test_no_module_imports_itself_through_others() -> None:
    new = [sorted(cycle) for cycle in _our_cycles() if not any(cycle <= known for known in REMAINING)]
    assert not new, "move what they share into a module below them"


def test_remaining_cycles_are_listed_as_they_are() -> None:
    found = set().union(*_our_cycles())
    over = sorted(set().union(*REMAINING) - found)
    assert not over, "these are in no cycle any more: take them off the list"


def test_cycles_are_found() -> None:
    """Two through each other, three in a ring, one that leads into a ring, one that imports nothing."""
    graph = {"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"e"}, "e": {"c"}, "f": {"a"}, "g": set[str]()}
    assert sorted(map(sorted, _cycles(graph))) == [["a", "b"], ["c", "d", "e"]]


@cache
def _our_cycles() -> list[set[str]]:
    paths = {path.relative_to(ROOT / "src").with_suffix(""): path for path in SOURCES}
    modules = {".".join(name.parts).removesuffix(".__init__"): path for name, path in paths.items()}
    return _cycles({name: set(_imported(tree(path), modules.keys())) - {name} for name, path in modules.items()})


def _imported(module: ast.Module, known: Set[str]) -> Iterator[str]:
    """The modules of ours that are imported anywhere in a module; `from package import module` means the module."""
    for node in _statements(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in known else node.module for name in names)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements, at any depth; expressions hold no imports and are most of a tree."""
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(node, block, ()):
            yield inner
            yield from _statements(inner)


def _cycles(graph: Mapping[str, Set[str]]) -> list[set[str]]:
    """Modules that reach each other: with a module, all others that it reaches and that reach it."""
    graph = _without_ends(graph)
    reached = {name: _reached(graph, name) for name in graph}
    cycles: list[set[str]] = []
    for name in graph:
        if name in reached[name] and not any(name in cycle for cycle in cycles):
            cycles.append({other for other in reached[name] if name in reached[other]})
    return cycles


def _without_ends(graph: Mapping[str, Set[str]]) -> dict[str, Set[str]]:
    """Leaves out, again and again, modules that import none or are imported by none of those that are left."""
    left = dict(graph)
    while True:
        imported = set[str]().union(*left.values())
        inner = left.keys() & imported
        kept = {name: left[name] & inner for name in inner if left[name] & inner}
        if len(kept) == len(left):
            return kept
        left = kept


def _reached(graph: Mapping[str, Set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += graph[name]
    return reached
