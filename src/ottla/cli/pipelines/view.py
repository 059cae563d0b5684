"""`ottla pipelines list`, `show` and `log`."""

import argparse
import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ottla.cli.connection import explained
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import moment_text
from ottla.cli.output.style import Style
from ottla.cli.output.table import table
from ottla.cli.pipelines.control import control_options
from ottla.pipelines.runner.catalog import Entry, PipelineCatalog
from ottla.pipelines.runner.status import PipelineStatus


def list_pipelines(options: argparse.Namespace) -> int:
    """Prints a line for each."""
    with explained(options):
        found = asyncio.run(PipelineCatalog(control_options(options)).entries())
    if options.json:
        print_document([_document(entry) for entry in found.values()])
    elif found:
        headers = ["Name", "Kind", "Wanted", "State", "Rows/s", "Lag", "Failures", "Runner"]
        print(table(headers, [_row(entry) for entry in found.values()], Style.of()))
    else:
        print("There are no pipelines yet: `ottla pipelines create NAME --kind copy --definition JSON` makes one")
    return 0


def show(options: argparse.Namespace) -> int:
    """Prints all that is known."""
    entry = _entry(options)
    if options.json:
        print_document(_document(entry))
        return 0
    for name, value in _document(entry).items():
        if name == "status":
            _print_status(value)
        else:
            print(f"{name}: {json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value}")
    return 0


def log(options: argparse.Namespace) -> int:
    """Prints the end of the runner's log, where it is on this machine, or else the trace of the last failure."""
    status = _entry(options).status
    path = _log_path(options, status)
    if path is not None:
        print("\n".join(path.read_text(errors="replace").splitlines()[-options.lines :]))
    elif status is not None and status.trace:
        print(status.trace)
    else:
        print("It has no runner whose log is below --data on this machine, and no failure")
    return 0


def _log_path(options: argparse.Namespace, status: PipelineStatus | None) -> Path | None:
    if status is None or status.runner is None:
        return None
    path = control_options(options).runners / status.control / f"{status.runner}.log"
    return path if path.exists() else None


def _entry(options: argparse.Namespace) -> Entry:
    with explained(options):
        return asyncio.run(PipelineCatalog(control_options(options)).entry(options.name))


def _row(entry: Entry) -> list[object]:
    spec, status = entry.spec, entry.status
    if status is None:
        return [spec.name, spec.kind, spec.wanted.value, None, None, None, None, None]
    progress = status.progress
    state, failures = status.state.value, status.failures
    return [
        spec.name, spec.kind, spec.wanted.value, state, progress.get("rows_per_s"), progress.get("lag"), failures,
        status.runner,
    ]  # fmt: skip


def _document(entry: Entry) -> dict[str, Any]:
    found = {"name": entry.spec.name, **json.loads(entry.spec.to_json())}
    found["status"] = None if entry.status is None else json.loads(entry.status.to_json())
    return found


def _print_status(status: Mapping[str, Any] | None) -> None:
    if status is None:
        print("status: no control process has looked after it yet")
        return
    print(f"state: {status['state']} since {moment_text(status['since_ms'])}")
    for name in ("control", "runner", "failures", "progress"):
        value = status[name]
        print(f"{name}: {json.dumps(value) if isinstance(value, dict) else value}")
    if status["trace"]:
        print(f"trace:\n{status['trace']}")
