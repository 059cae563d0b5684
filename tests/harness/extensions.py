"""Fails where the extensions should have been compiled and were not: the plain twins would pass the tests, slower.

`python -m tests.harness.extensions` is a part of `make test`. Where no C compiler is found, or the environment asks for
the plain twins (`OTTLA_PLAIN`, `OTTLA_NO_EXTENSIONS`), nothing is expected.
"""

import importlib
import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping

from ottla.base.accelerated import compiled_modules


def complaint(compiled: Mapping[str, bool], compiler: str | None, environment: Mapping[str, str]) -> str | None:
    """What is wrong, if the `compiler` should have made every module."""
    if compiler is None or environment.get("OTTLA_PLAIN") or environment.get("OTTLA_NO_EXTENSIONS"):
        return None
    missing = [name for name, is_there in compiled.items() if not is_there]
    if not missing:
        return None
    return (
        f"{len(missing)} of {len(compiled)} extensions are missing, although there is a compiler ({compiler}): "
        f"{', '.join(missing)}; build/extensions.log says why, `rm .venv/.built` has them built again"
    )


def find_compiler() -> str | None:
    """The C compiler that Python's own build names, if it is installed."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(named.split()[0])


def main() -> int:
    """Looks whether the modules are there, and loads them."""
    compiled = compiled_modules()
    problem = complaint(compiled, find_compiler(), os.environ)
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1
    for name in (name for name, is_there in compiled.items() if is_there):
        importlib.import_module(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
