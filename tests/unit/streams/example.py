"""The programs of `examples/streams` as modules, by name."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Final

PROGRAMS: Final = Path(__file__).parents[3] / "examples" / "streams"


def example(name: str) -> ModuleType:
    """The module of a program."""
    spec = importlib.util.spec_from_file_location(f"streams_example_{name}", PROGRAMS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
