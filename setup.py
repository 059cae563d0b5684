"""Builds the optional C extensions: every `.pyx` below `src`.

A machine without a C compiler installs the package all the same; the plain Python twins then do the work.
Set `OTTLA_NO_EXTENSIONS=1` to leave the extensions out on purpose.
"""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

SOURCES = sorted(Path("src").rglob("*.pyx"))
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}


def extensions() -> list[Extension]:
    """One extension per `.pyx` file, named after its place in the package."""
    if os.environ.get("OTTLA_NO_EXTENSIONS"):
        return []
    from Cython.Build import cythonize

    modules = [
        Extension(
            ".".join(source.relative_to("src").with_suffix("").parts),
            [str(source)],
            extra_compile_args=["-O3", "-fno-strict-aliasing"],
        )
        for source in SOURCES
    ]
    built: list[Extension] = cythonize(
        modules, compiler_directives=DIRECTIVES, build_dir="build/cython", quiet=True, nthreads=CORES
    )
    return built


class BuildAllOrNone(build_ext):
    """Goes on without extensions if one does not compile: they build upon each other."""

    def finalize_options(self) -> None:
        """Compiles as many modules at a time as there are cores, unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or CORES

    def build_extensions(self) -> None:
        """Builds all, or says why there are none."""
        try:
            super().build_extensions()
        except (BaseError, CCompilerError, OSError) as error:
            self.warn(f"nothing is compiled here, plain Python will serve, slower: {error}")
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []


if __name__ == "__main__":
    # A process that translates a module may import this file anew.
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildAllOrNone})
