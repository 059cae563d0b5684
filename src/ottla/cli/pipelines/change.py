"""`ottla pipelines create`, `pause`, `resume`, `stop`, `restart` and `delete`."""

import argparse
import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ottla.cli.connection import explained
from ottla.cli.output.advice import CommandError
from ottla.cli.pipelines.control import control_options
from ottla.pipelines.runner.catalog import PipelineCatalog
from ottla.pipelines.runner.kind import kind_of
from ottla.pipelines.runner.spec import Isolation, PipelineSpec, Wanted


def create(options: argparse.Namespace) -> int:
    """Writes a definition."""
    spec = PipelineSpec(
        name=options.name,
        kind=options.kind,
        definition=_definition(options.definition),
        wanted=Wanted.PAUSED if options.paused else Wanted.RUNNING,
        isolation=Isolation.OWN if options.own else Isolation.SHARED,
    )
    with explained(options):
        if ":" not in spec.kind:  # A class of the user's may be only where runners are.
            kind_of(spec.kind).check(spec.definition)
        made = asyncio.run(_catalog(options).define(spec))
    print(f"Pipeline {made.name}, version {made.version}: {made.wanted.value}")
    return 0


def pause(options: argparse.Namespace) -> int:
    """Lets it rest."""
    return _want(options, Wanted.PAUSED)


def resume(options: argparse.Namespace) -> int:
    """Lets it run."""
    return _want(options, Wanted.RUNNING)


def stop(options: argparse.Namespace) -> int:
    """Stops it."""
    return _want(options, Wanted.STOPPED)


def restart(options: argparse.Namespace) -> int:
    """Starts it again."""
    return _change(options, lambda spec: replace(spec, restart=spec.restart + 1), "is to start again")


def delete(options: argparse.Namespace) -> int:
    """Lets its control process remove it."""
    with explained(options):
        asyncio.run(_catalog(options).delete(options.name))
    print(f"Pipeline {options.name} is to be deleted")
    return 0


def _want(options: argparse.Namespace, wanted: Wanted) -> int:
    return _change(options, lambda spec: replace(spec, wanted=wanted), f"is to be {wanted.value}")


def _change(options: argparse.Namespace, change: Callable[[PipelineSpec], PipelineSpec], words: str) -> int:
    with explained(options):
        asyncio.run(_catalog(options).change(options.name, change))
    print(f"Pipeline {options.name} {words}")
    return 0


def _catalog(options: argparse.Namespace) -> PipelineCatalog:
    return PipelineCatalog(control_options(options))


def _definition(text: str) -> dict[str, Any]:
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except OSError as error:
            raise CommandError(f"--definition {text}: {error.strerror}; give a file that exists") from None
    try:
        found = json.loads(text)
    except ValueError as error:
        raise CommandError(f"--definition: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise CommandError('--definition: has to be a JSON object, such as {"from": "a", "to": "b"}')
    return found
