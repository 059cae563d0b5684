"""Which twin does the work: the compiled one, or the plain Python one.

Every hot module exists twice with one behaviour. `load` picks the compiled twin where it was built, unless the
environment variable `OTTLA_PLAIN` is set. Run as a program it says in one line what this installation has.
"""

import importlib
import importlib.util
import os
from pathlib import Path
from types import ModuleType


def load(compiled: str, plain: str) -> ModuleType:
    """The compiled module if it is there and wanted, else its plain twin."""
    return compiled_module(compiled) or importlib.import_module(plain)


def compiled_module(name: str) -> ModuleType | None:
    """The compiled module if it is there and wanted. One that is there and broken is an error, not a slow day."""
    if os.environ.get("OTTLA_PLAIN"):
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


def compiled_modules() -> dict[str, bool]:
    """Every module that could be compiled, by name, and whether it is; their type stubs tell which there are."""
    package = Path(__file__).parents[1]
    stubs = sorted(path.relative_to(package.parent).with_suffix("") for path in package.rglob("_*.pyi"))
    names = [".".join(stub.parts) for stub in stubs]
    return {name: importlib.util.find_spec(name) is not None for name in names}


if __name__ == "__main__":
    modules = compiled_modules()
    if all(modules.values()):
        print(f"{len(modules)} modules are compiled")
    else:
        absent = len(modules) - sum(modules.values())
        print(f"{absent} of {len(modules)} modules are not compiled: plain Python serves, slower (no C compiler?)")
