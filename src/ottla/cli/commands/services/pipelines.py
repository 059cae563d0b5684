"""Pipelines that are looked after: run a control process, and tell it what is wanted.

ottla pipelines run --data pipelines                 a control process; several share the work
ottla pipelines create eu --kind copy --definition '{"from": "orders", "to": "orders.eu"}'
ottla pipelines list                                 what is wanted, what is, how fast, how far behind
ottla pipelines show eu                              everything, with the trace of its last failure
ottla pipelines pause eu                             resume, stop and restart likewise
ottla pipelines log eu                               the end of its runner's log
"""

import argparse
from typing import Any, Final

from ottla.cli.connection import add_connection

_ACTIONS: Final = {
    "run": "run a control process, which starts Spark as needed",
    "list": "list pipelines with what they do",
    "show": "print all that is known of a pipeline",
    "create": "make a pipeline, or give one a new definition",
    "pause": "pause a pipeline",
    "resume": "resume a pipeline",
    "stop": "stop a pipeline, so that its position may be changed",
    "restart": "stop a pipeline and start it again, even if it was given up",
    "delete": "delete a pipeline and its checkpoint",
    "log": "print the end of the log of a pipeline's runner",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    made: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION", title="actions")
    actions: dict[str, argparse.ArgumentParser] = {
        name: made.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        for name, summary in _ACTIONS.items()
    }
    for name, action in actions.items():
        add_connection(action)
        action.add_argument("--group", help="the control processes that share the work (default: ottla-pipelines)")
        if name not in {"run", "list"}:
            action.add_argument("name", metavar="NAME", help="the pipeline")
    _add_run(actions["run"])
    actions["create"].add_argument(
        "--kind", required=True, help="what it does: copy, connect, streams, or module:Class"
    )
    actions["create"].add_argument(
        "--definition", default="{}", metavar="JSON", help="its definition as JSON, or @FILE"
    )
    actions["create"].add_argument("--own", action="store_true", help="give it a runner of its own")
    actions["create"].add_argument("--paused", action="store_true", help="don't start it yet")
    actions["log"].add_argument("--lines", type=int, default=50, metavar="N", help="how many lines (default: 50)")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", default="pipelines", metavar="DIR", help="checkpoints, logs and Spark's files (default: pipelines)"
    )
    parser.add_argument("--master", default="local[*,4]", help="where Spark runs (default: local[*,4])")
    parser.add_argument(
        "--spark", metavar="KEY=VALUE", action="append", default=[], help="a setting of Spark, such as its memory"
    )
    parser.add_argument("--spark-submit", metavar="PATH", help="start runners with this spark-submit")


def run(options: argparse.Namespace) -> int:
    """Does it; the exit code."""
    if options.action == "run":
        from ottla.cli.pipelines.control import run_control_process

        return run_control_process(options)
    from ottla.cli.pipelines import change, view

    actions = {
        "list": view.list_pipelines,
        "show": view.show,
        "log": view.log,
        "create": change.create,
        "pause": change.pause,
        "resume": change.resume,
        "stop": change.stop,
        "restart": change.restart,
        "delete": change.delete,
    }
    return actions[options.action](options)
