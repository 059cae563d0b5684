"""The program of a runner: `python -m ottla.pipelines.runner.host.program`, or this file given to spark-submit.

It does what its control process says, and ends when that is gone: then another one is about to start what ran here.
"""

import logging
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.base.errors import OttlaError
from ottla.pipelines.runner.checkpoint_lock import CheckpointLock
from ottla.pipelines.runner.host.hosted_query import HostedQuery, trigger_of
from ottla.pipelines.runner.host.link import ControlLink
from ottla.pipelines.runner.kind import Place
from ottla.pipelines.runner.message import LOG_VARIABLE
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.pipelines.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log: Final = logging.getLogger(__name__)
_TURN_SECONDS: Final = 0.1
_IDLE_TURN_SECONDS: Final = 0.5
_END_TURNS_MAX: Final = 150


class RunnerHost:
    """The main loop."""

    def __init__(self, link: ControlLink, spark: "SparkSession", settings: Mapping[str, Any]) -> None:
        self._link: Final = link
        self._spark: Final = spark
        self._root: Final = Path(settings["checkpoints"])
        self._cluster: Final[Mapping[str, str]] = settings["cluster"]
        self._secrets: Final[Mapping[str, Mapping[str, str]]] = settings.get("secrets", {})
        self._log: Final = Path(os.environ.get(LOG_VARIABLE, ""))
        self._queries: Final[dict[str, HostedQuery]] = {}

    def run(self) -> None:
        """Until the control process says so, or is gone."""
        is_quiet = True
        while True:
            try:
                told = self._link.next(_IDLE_TURN_SECONDS if is_quiet else _TURN_SECONDS)
            except ConnectionError as error:
                _log.warning("Ending: %s", error)
                break
            if told.get("do") == "end":
                break
            self._do(told)
            is_quiet = not self._look()
        self._end_all()

    def _do(self, told: Mapping[str, Any]) -> None:
        if told.get("do") == "start":
            self._start(PipelineSpec.from_json(told["name"], told["spec"].encode()), told["run"])
        elif told.get("do") == "stop":
            query = self._queries.get(told["name"])
            if query is not None and query.run == told["run"]:
                query.stop()
        elif told.get("do") == "restart":
            query = self._queries.get(told["name"])
            if query is not None and query.run == told["run"]:
                query.restart_parts(told["parts"])

    def _start(self, spec: PipelineSpec, run: int) -> None:
        checkpoint = self._root / spec.place
        try:
            trigger, trouble = trigger_of(spec.name, spec.definition), None
        except OttlaError as error:
            trigger, trouble = "", error
        place = Place(
            name=spec.name, definition=spec.definition, checkpoint=checkpoint, cluster=self._cluster, trigger=trigger,
            part_restarts=spec.part_restarts, secrets=self._secrets_of(spec.name),
        )  # fmt: skip
        query = HostedQuery(spec, run, place)
        try:
            if trouble is not None:
                raise trouble
            query.start(self._spark, CheckpointLock(checkpoint, self._log))
        except Exception as error:  # noqa: BLE001  (an edge: kinds are anybody's code, and the control process decides)
            _log.warning("%s did not start", spec.name, exc_info=error)
            self._link.send(query.failed(error))
        else:
            self._queries[spec.name] = query

    def _secrets_of(self, name: str) -> dict[str, str]:
        known = (secrets for prefix, secrets in self._secrets.items() if name.startswith(prefix))
        return {setting: value for secrets in known for setting, value in secrets.items()}

    def _look(self) -> bool:
        """Tells what has become of the queries; whether some are between two states."""
        for query in list(self._queries.values()):
            for report in query.reports():
                self._link.send(report)
            if query.is_over:
                del self._queries[query.name]
        return any(query.is_changing for query in self._queries.values())

    def _end_all(self) -> None:
        """Every query after its micro-batch, all at the same time."""
        for query in self._queries.values():
            query.stop()
        for _ in range(_END_TURNS_MAX):
            self._look()
            if not self._queries:
                return
            time.sleep(_TURN_SECONDS)


def main() -> int:
    """Runs until the end; the exit code."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    # Ctrl-C in a terminal is for the control process, which ends its runners in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        link = ControlLink()
        settings: dict[str, Any] = {}
        while settings.get("do") != "welcome":
            settings = link.next(_IDLE_TURN_SECONDS)
        spark = session(f"ottla-{link.name}", master=settings["master"], settings=settings["spark"])
        spark.sparkContext.setLogLevel("WARN")
        link.send({"say": "up"})
        RunnerHost(link, spark, settings).run()
        spark.stop()
    except (OttlaError, OSError) as error:
        print(f"ottla: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
