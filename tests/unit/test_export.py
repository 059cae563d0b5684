"""The public names of docs/EXPORTS.md: each is there, and the documentation imports nothing else."""

import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from ottla.protocol.api_key import ApiKey
from tests.unit.test_tidy import ROOT, SOURCES

PAGE: Final = ROOT / "docs/EXPORTS.md"
READ: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").rglob("*.py")))
MESSAGES: Final = "ottla.protocol.messages."
_BLOCK: Final = re.compile(r"```text\n(.*?)```", re.DOTALL)
_ENTRY: Final = re.compile(r"^(ottla[\w.]*):((?:.*)(?:\n +.*)*)", re.MULTILINE)
_FROM: Final = re.compile(r"^[>. ]*from (ottla[\w.]*) import (\([^)]*\)|[^\n#]*)", re.MULTILINE)
_WHOLE: Final = re.compile(r"^[>. ]*import (ottla[\w.]*)", re.MULTILINE)


@cache
def exports() -> dict[str, frozenset[str]]:
    found = "\n".join(_BLOCK.findall(PAGE.read_text()))
    return {module: frozenset(_names(text)) for module, text in _ENTRY.findall(found)}


def test_there_are_exports() -> None:
    assert {"ottla.client", "ottla.testing", "ottla.streams", "ottla.protocol.definition"} <= exports().keys()
    assert {"Producer", "Consumer", "WakeupError"} <= exports()["ottla.client"]


def test_public_names_are_there() -> None:
    assert not [f"{module}: {name}" for module, name in _absent(without="ottla.pipelines")]


def test_public_names_of_pipelines_are_there() -> None:
    pytest.importorskip("pyspark", reason="the pipelines need pyspark: pip install ottla[spark]")
    assert not [f"{module}: {name}" for module, name in _absent(within="ottla.pipelines")]


def test_the_documentation_imports_public_names_only() -> None:
    """Messages are public by a rule: there is a module for each call."""
    others = [
        f"{path.relative_to(ROOT)}: {module} {name}".rstrip()
        for path in READ
        for module, name in _imports(path.read_text())
        if not _is_public(module, name)
    ]
    assert not others, "list them in docs/EXPORTS.md, or teach a public name instead"


def test_imports_are_seen_in_the_documentation() -> None:
    text = ">>> from ottla.client import Producer, TopicPartition as Place\n    import ottla.testing\n"
    assert set(_imports(f"{text}from ottla.a import (\n    B,\n    C,\n)\n")) == {
        ("ottla.client", "Producer"),
        ("ottla.client", "TopicPartition"),
        ("ottla.testing", ""),
        ("ottla.a", "B"),
        ("ottla.a", "C"),
    }
    assert sum(1 for path in READ for _ in _imports(path.read_text())) > 50


def test_loggers_that_stay_have_modules_that_log() -> None:
    """A package is a logger's name as soon as a module below it has a logger."""
    _, _, loggers = PAGE.read_text().partition("## Loggers")
    named = re.findall(r"`(ottla[\w.]*)`", loggers)
    assert len(named) > 10
    logging = {_module(path) for path in SOURCES if "getLogger(__name__)" in path.read_text()}
    assert not [name for name in named if not any(module.startswith(f"{name}.") for module in logging)]


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)


def _absent(within: str = "ottla", without: str = "-") -> Iterator[tuple[str, str]]:
    for module, names in exports().items():
        if module.startswith(within) and not module.startswith(without):
            found = importlib.import_module(module)
            yield from ((module, name) for name in sorted(names) if not hasattr(found, name))


def _imports(text: str) -> Iterator[tuple[str, str]]:
    for module, names in _FROM.findall(text):
        yield from ((module, name) for name in _names(names.strip("()")))
    yield from ((module, "") for module in _WHOLE.findall(text))


def _names(text: str) -> list[str]:
    return [name.split(" as ")[0].strip() for name in text.replace("\n", " ").split(",") if name.strip()]


def _is_public(module: str, name: str) -> bool:
    if module.startswith(MESSAGES):
        return module.removeprefix(MESSAGES).upper() in ApiKey.__members__ and name.endswith(("Request", "Response"))
    if name in ("", "*"):
        return module == "ottla" or module in exports()
    return name in exports().get(module, ()) or f"{module}.{name}" in exports()
