"""Finds the topology in a Python file, or runs the file as a program."""

import runpy
import sys
from pathlib import Path
from typing import Any

from ottla.cli.output.advice import CommandError


def topology_in(text: str) -> Any:
    """The topology of `FILE[:NAME]`: a function without arguments, a topology, or a builder; by default what is there.

    A function may answer with a pair of topology and configuration, as pipelines have it.
    """
    from ottla.streams import StreamsBuilder, Topology

    path, _, name = text.partition(":")
    if not Path(path).is_file():
        raise CommandError(f"there is no file {path}: give a Python file with a topology in it")
    sys.path.insert(0, str(Path(path).resolve().parent))
    names = runpy.run_path(path)
    for candidate in [name] if name else ["topology", "builder", *names]:
        found = names.get(candidate)
        if callable(found) and (name or candidate == "topology") and not isinstance(found, type):
            found = found()
        if isinstance(found, tuple) and found:
            found = found[0]
        if isinstance(found, StreamsBuilder):
            found = found.build()
        if isinstance(found, Topology):
            return found
    what = f"{name} in {path} is no topology" if name else f"{path} has no topology"
    raise CommandError(f"{what}: give a function that returns one as FILE:NAME, by default one that is called topology")


def run_program(path: str, arguments: list[str]) -> int:
    """Runs a file as `python FILE` would."""
    if not Path(path).is_file():
        raise CommandError(f"there is no file {path}")
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).resolve().parent))
    runpy.run_path(path, run_name="__main__")
    return 0
