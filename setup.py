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


class BuildWhatCanBeBuilt(build_ext):
    """Goes on without the extensions that do not compile; `optional` alone does not in editable installs."""

    def build_extensions(self) -> None:
        """Builds all, then forgets the ones that could not be built."""
        self.failed: list[Extension] = []
        super().build_extensions()
        self.extensions = [extension for extension in self.extensions if extension not in self.failed]

    def build_extension(self, ext: Extension) -> None:
        """Builds one extension, or says that it could not."""
        try:
            super().build_extension(ext)
        except (BaseError, CCompilerError, OSError):
            self.warn(f"{ext.name} does not compile here: its plain Python twin will serve, slower")
            self.failed.append(ext)


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildWhatCanBeBuilt})
