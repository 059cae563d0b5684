"""The house rules that a machine can hold: see CONTRIBUTING.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
COMPILED_SOURCES = sorted((ROOT / "src").rglob("*.pyx"))
LINES_MAX = 500
FUNCTION_LINES_MAX = 70
DOCSTRING_LINES_MAX = 14
REFUSED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "tools"}


def identify(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES + COMPILED_SOURCES, ids=identify)
def test_files_are_short(path: Path) -> None:
    assert path.read_text().count("\n") <= LINES_MAX


@pytest.mark.parametrize("path", SOURCES + COMPILED_SOURCES, ids=identify)
def test_files_say_what_they_own(path: Path) -> None:
    text = path.read_text()
    docstring = ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else _leading_docstring(text)
    assert docstring, "no module docstring"
    assert docstring.count("\n") < DOCSTRING_LINES_MAX


@pytest.mark.parametrize("path", SOURCES, ids=identify)
def test_functions_are_short(path: Path) -> None:
    long = [
        f"{node.name} ({node.end_lineno - node.lineno} lines)"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.end_lineno is not None
        and node.end_lineno - node.lineno > FUNCTION_LINES_MAX
    ]
    assert not long


@pytest.mark.parametrize("path", COMPILED_SOURCES, ids=identify)
def test_compiled_functions_are_short(path: Path) -> None:
    long = [f"{name} ({lines} lines)" for name, lines in _compiled_functions(path) if lines > FUNCTION_LINES_MAX]
    assert not long


@pytest.mark.parametrize("path", COMPILED_SOURCES, ids=identify)
def test_compiled_modules_have_a_type_stub_or_are_only_for_c(path: Path) -> None:
    """`ottla.base.accelerated` finds by the stubs what there is to compile."""
    assert path.with_suffix(".pyi").exists() or path.with_suffix(".pxd").exists()


@pytest.mark.parametrize("path", SOURCES, ids=identify)
def test_names_say_what_is_inside(path: Path) -> None:
    assert not REFUSED_NAMES & {part.removesuffix(".py") for part in path.relative_to(ROOT / "src").parts}


@pytest.mark.parametrize("path", [path for path in SOURCES if path.name == "__init__.py"], ids=identify)
def test_packages_have_no_logic_in_their_front_door(path: Path) -> None:
    allowed = (ast.Expr, ast.Import, ast.ImportFrom, ast.Assign)
    body = ast.parse(path.read_text()).body
    assert all(isinstance(node, allowed) or _is_for_type_checkers(node) for node in body)


@pytest.mark.parametrize("path", SOURCES, ids=identify)
def test_nothing_is_left_unfinished(path: Path) -> None:
    assert not re.findall(r"\b(TODO|FIXME|XXX|NotImplementedError)\b", path.read_text())


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
