"""`ottla pipelines run`: a control process in the foreground."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ottla.cli.connection import client_settings, explained, key_value, run_admin

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.pipelines.runner.control.option import ControlOptions


def run_control_process(options: argparse.Namespace) -> int:
    """Until a signal comes; the exit code."""
    import logging

    from ottla.base.log import configure
    from ottla.pipelines.runner.control.service import run_control
    from ottla.pipelines.session import check_java, check_pyspark

    configure("INFO")
    # Where each of its partitions starts is of no interest here.
    logging.getLogger("ottla.client").setLevel(logging.WARNING)
    with explained(options):
        check_pyspark()
        check_java()
    run_admin(options, _reached)
    with explained(options):
        return run_control(control_options(options))


async def _reached(_admin: "AsyncAdmin", _options: argparse.Namespace) -> int:
    """A broker answers, which `run_admin` has waited for."""
    return 0


def control_options(options: argparse.Namespace) -> "ControlOptions":
    """What the command line says; it is the same for control processes and for tools."""
    from ottla.client.config.admin import ADMIN_KEYS
    from ottla.pipelines.runner.control.option import GROUP, ControlOptions

    client = {name: str(value) for name, value in client_settings(options, ADMIN_KEYS).items()}
    return ControlOptions(
        client=client,
        data=Path(getattr(options, "data", "pipelines")),
        master=getattr(options, "master", "local[*,4]"),
        spark=dict(key_value(text, "--spark") for text in getattr(options, "spark", [])),
        spark_submit=getattr(options, "spark_submit", None),
        group=options.group or GROUP,
    )
