"""Builds the optional C extensions: every `.pyx` below `src`.

A machine without a C compiler installs the package all the same; the plain Python twins then do the work.
Set `OTTLA_NO_EXTENSIONS=1` to leave the extensions out on purpose.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

SOURCES = sorted(Path("src").rglob("*.pyx"))
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}


def extensions() -> list[Extension]:
    """One optional extension per `.pyx` file, named after its place in the package."""
    if os.environ.get("OTTLA_NO_EXTENSIONS"):
        return []
    from Cython.Build import cythonize

    modules = [
        Extension(
            ".".join(source.relative_to("src").with_suffix("").parts),
            [str(source)],
            extra_compile_args=["-O3", "-fno-strict-aliasing"],
            optional=True,
        )
        for source in SOURCES
    ]
    built: list[Extension] = cythonize(modules, compiler_directives=DIRECTIVES, build_dir="build/cython", quiet=True)
    return built


setup(ext_modules=extensions())
