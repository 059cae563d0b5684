"""The house rules that a machine can hold: see CONTRIBUTING.md. A test for each rule, which lists the offenders."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
COMPILED_SOURCES = sorted((ROOT / "src").rglob("*.pyx"))
LINES_MAX = 500
FUNCTION_LINES_MAX = 70
DOCSTRING_LINES_MAX = 14
REFUSED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "tools"}


def test_there_are_sources_to_look_at() -> None:
    assert len(SOURCES) > 1_000
    assert len(COMPILED_SOURCES) > 10


def test_files_are_short() -> None:
    lines = {path: path.read_text().count("\n") for path in SOURCES + COMPILED_SOURCES}
    assert not [f"{identify(path)}: {count} lines" for path, count in lines.items() if count > LINES_MAX]


def test_files_say_what_they_own() -> None:
    said = {path: ast.get_docstring(tree(path)) for path in SOURCES}
    said |= {path: _leading_docstring(path.read_text()) for path in COMPILED_SOURCES}
    assert not [identify(path) for path, docstring in said.items() if not docstring], "no module docstring"
    long = [identify(path) for path, docstring in said.items() if (docstring or "").count("\n") >= DOCSTRING_LINES_MAX]
    assert not long, f"docstrings of more than {DOCSTRING_LINES_MAX} lines"


def test_functions_are_short() -> None:
    functions = [(path, *found) for path in SOURCES for found in _functions(path)]
    functions += [(path, *found) for path in COMPILED_SOURCES for found in _compiled_functions(path)]
    assert not [
        f"{identify(path)}: {name}, {lines} lines" for path, name, lines in functions if lines > FUNCTION_LINES_MAX
    ]


def test_compiled_modules_have_a_type_stub_or_are_only_for_c() -> None:
    """`ottla.base.accelerated` finds by the stubs what there is to compile."""
    assert not [
        identify(path)
        for path in COMPILED_SOURCES
        if not path.with_suffix(".pyi").exists() and not path.with_suffix(".pxd").exists()
    ]


def test_names_say_what_is_inside() -> None:
    parts = {path: {part.removesuffix(".py") for part in path.relative_to(ROOT / "src").parts} for path in SOURCES}
    assert not [identify(path) for path, names in parts.items() if REFUSED_NAMES & names]


def test_packages_have_no_logic_in_their_front_door() -> None:
    allowed = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign)
    assert not [
        identify(path)
        for path in SOURCES
        if path.name == "__init__.py"
        and not all(isinstance(node, allowed) or _is_for_type_checkers(node) for node in tree(path).body)
    ]


def test_nothing_is_left_unfinished() -> None:
    unfinished = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
    assert not [identify(path) for path in SOURCES if unfinished.search(path.read_text())]


def identify(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno is not None:
            yield node.name, node.end_lineno - node.lineno


def _is_for_type_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _leading_docstring(text: str) -> str:
    found = re.match(r'"""(.*?)"""', text, re.DOTALL)
    return found.group(1) if found else ""


def _compiled_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Name and length of each function of a `.pyx`, told by indentation: `ast` can't read them."""
    name, start, indent, last = "", 0, -1, 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if indent >= 0 and depth <= indent and not line.lstrip().startswith(")"):
            yield name, last - start
            indent = -1
        head = re.match(r"\s*(?:cdef|cpdef|def)\b.*?(\w+)\(.*", line)
        if indent < 0 and head and not line.rstrip().endswith(";"):
            name, start, indent = head.group(1), number, depth
        last = number
    if indent >= 0:
        yield name, last - start
