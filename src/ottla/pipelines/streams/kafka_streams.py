"""`KafkaStreams`: runs a topology until it is closed, as one query of Spark.

A thread starts the query, looks after it, and deletes what repartition topics no longer need. A query that ends by
itself is started again; one that does so over and over ends the instance with the state ERROR.
"""

import errno
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.base.errors import OttlaError
from ottla.pipelines.failure import reason
from ottla.pipelines.runner.checkpoint_lock import CheckpointHeldError, CheckpointLock
from ottla.pipelines.streams.purge import RepartitionPurge
from ottla.pipelines.streams.query import ApplicationQuery
from ottla.pipelines.streams.setting import StreamsSettings
from ottla.pipelines.streams.store_query import SparkStores
from ottla.pipelines.supervised_query import QueryFailedError, SupervisedQuery
from ottla.streams.engine.topology import Topology
from ottla.streams.errors import ProcessingError, RecordDecodeError, RecordEncodeError, StreamsError
from ottla.streams.host.application import Application
from ottla.streams.host.lacking_right import right_in, with_right
from ottla.streams.host.run_state import IllegalStateError, RunState
from ottla.streams.lifecycle import Lifecycle
from ottla.streams.local.failure import FailureResponse
from ottla.streams.local.query.place import KeyQueryMetadata, StreamsMetadata
from ottla.streams.local.query.reader import QueryableStoreType, StreamsNotRunningError
from ottla.streams.serving import Serving, served
from ottla.streams.state.errors import StateUnwritableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_log = logging.getLogger(__name__)
_TURN_S: Final = 0.2
_STANDBY_S: Final = 1.0
_AGAIN_S: Final = 1.0
_GRACE_S: Final = 30.0
_LOOK_S: Final = 15.0
_STOP_PAUSE_S: Final = 0.02

DRIVER_SETTINGS: Final = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
"""For a session that runs applications alone: its JVM plans and no more. Java's second compiler took 2 µs of CPU of
each of the first million records, and gave nothing back."""

_OF_USER: Final = (ProcessingError, RecordDecodeError, RecordEncodeError)

FailureHandler = Callable[[Exception], FailureResponse | None]


class KafkaStreams(Lifecycle):
    """A topology at work.

    streams = KafkaStreams(builder.build(), {"application.id": "shop", "bootstrap.servers": "localhost:9092"})
    streams.start()
    streams.wait()
    """

    def __init__(self, topology: Topology, config: Mapping[str, Any], *, spark: "SparkSession | None" = None) -> None:
        """`spark` is the session to run in; without one it makes or takes the active one when it starts."""
        self._settings: Final = StreamsSettings.of(config)
        super().__init__(self._settings.application_id)
        self._topology: Final = topology
        self._config: Final = dict(config)
        self._query: Final = ApplicationQuery(topology, config, self._settings)
        self._spark = spark
        self._supervised: SupervisedQuery | None = None
        self._lock: CheckpointLock | None = None
        self._failure_handlers: Final[list[FailureHandler]] = []
        self._closing: Final = threading.Event()
        self._next_look_s = 0.0
        self._thread = threading.Thread(target=self._run, name=f"streams-{self._settings.application_id}", daemon=True)
        self._lacking = ""
        """The right that it lacks, once it has ended for it."""
        self._serving: Serving | None = None
        self._stores: Final = SparkStores(
            topology, self._config, self._settings.state_dir / "state", lambda: self.application
        )

    @property
    def topology(self) -> Topology:
        return self._topology

    @property
    def configuration(self) -> Mapping[str, Any]:
        return self._config

    @property
    def application(self) -> Application:
        """The application as it is on the cluster: its tasks and topics; known when it is RUNNING."""
        if self._query.application is None:
            raise IllegalStateError(f"the cluster has not been looked at: the state is {self._state.value}")
        return self._query.application

    def set_uncaught_exception_handler(self, handler: FailureHandler) -> None:
        """Is called with what would end the instance; to be set before `start`.

        `REPLACE_THREAD` as the answer: it begins again from what is committed. Any other one: it ends.
        """
        self._check_created("set_uncaught_exception_handler")
        self._failure_handlers.append(handler)

    def start(self) -> None:
        """Starts it and returns; the state tells how far it is. An instance starts once."""
        self._check_created("start")
        self._serving = served(self, self._config)
        self._move(RunState.REBALANCING)
        self._thread.start()

    def close(self, timeout_s: float | None = None) -> bool:
        """Ends it after the micro-batch that is under way; False: the time was over before."""
        if self._state is RunState.NOT_RUNNING:
            return True
        if self._state is not RunState.PENDING_SHUTDOWN:
            self._move(RunState.PENDING_SHUTDOWN)
        self._closing.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)
            if self._thread.is_alive():
                return False
        if self._serving is not None:
            self._serving.close()
            self._serving = None
        self._stores.close()
        if self._state is RunState.PENDING_SHUTDOWN:
            self._move(RunState.NOT_RUNNING)
        return True

    def clean_up(self) -> None:
        """Deletes the local state; it is restored from changelogs when the application starts again."""
        self._check_ended()
        shutil.rmtree(self._settings.state_dir / "state", ignore_errors=True)

    def metrics(self) -> dict[str, Any]:
        """Spark's figures of the last micro-batch: rows, durations, offsets; empty before the first."""
        progress = None if self._supervised is None else self._supervised.progress()
        return {} if progress is None else dict(progress)

    def store(
        self,
        name: str,
        store_type: QueryableStoreType | None = None,
        *,
        partition: int | None = None,
        stale: bool = False,
    ) -> Any:
        """A store as the last micro-batch left it, to be read from any thread: its partitions on this machine.

        `stale` changes nothing: there are no copies.
        """
        self._check_running()
        return self._stores.store(name, store_type, partition)

    def query_metadata_for_key(self, store: str, key: Any) -> KeyQueryMetadata:
        """The partition of a key; the driver's `application.server` has all of them."""
        self._check_running()
        return self._stores.of_key(store, key)

    def streams_metadata_for_store(self, store: str) -> list[StreamsMetadata]:
        """The driver, if it has an `application.server`."""
        self._check_running()
        return self._stores.of_store(store)

    def metadata_for_all_streams_clients(self) -> list[StreamsMetadata]:
        """The driver, if it has an `application.server`."""
        self._check_running()
        return self._stores.places().all()

    def _check_running(self) -> None:
        if self._state not in (RunState.RUNNING, RunState.REBALANCING):
            raise StreamsNotRunningError(f"KafkaStreams is not running. State is {self._state.value}.")

    def _run(self) -> None:
        try:
            while self._goes_on():
                _log.warning("%s begins again from what is committed", self._settings.application_id)
                self._closing.wait(_AGAIN_S)
        finally:
            if self._lock is not None:
                self._lock.release()

    def _goes_on(self) -> bool:
        """Works until it is closed or fails; whether it is to begin again."""
        try:
            if self._lock is not None or self._wait_for_turn():
                self._work()
        except Exception as error:  # noqa: BLE001  (an edge: the thread of an application, whose owner wants to know)
            return self._begins_again(error)
        return False

    def _work(self) -> None:
        spark = self._session()
        self._supervised = SupervisedQuery(
            lambda: self._start_query(spark),
            is_permanent=self._is_permanent,
            is_passing=is_of_disk,
            pause=self._pause,
        )
        purge = RepartitionPurge(self._settings)
        try:
            self._supervised.start(meanwhile=self._raise_if_closing)
            self._move_unless_closing(RunState.RUNNING)
            while not self._closing.wait(_TURN_S):
                self._supervised.check()
                if self._query.application is not None:
                    purge.turn(self._query.application)
                self._look_at_topics()
        finally:
            purge.close()
            self._stop(self._supervised)

    def _look_at_topics(self) -> None:
        """Now and then; brokers that are away are the query's business."""
        if time.monotonic() < self._next_look_s:
            return
        self._next_look_s = time.monotonic() + _LOOK_S
        try:
            self._query.check()
        except StreamsError:
            raise
        except OttlaError as error:
            _log.info("%s: the internal topics cannot be looked at: %s", self._settings.application_id, error)

    def _start_query(self, spark: "SparkSession") -> "StreamingQuery":
        """Waits for brokers that are away: the query before may have ended for that reason."""
        while True:
            try:
                return self._query.start(spark)
            except OttlaError as error:
                if not getattr(error, "retriable", False) or self._closing.is_set():
                    raise
                _log.warning("%s does not start yet: %s", self._settings.application_id, error)
                self._closing.wait(_STANDBY_S)

    def _wait_for_turn(self) -> bool:
        """Waits as a standby while another instance on this machine has the application; False: it was closed."""
        settings = self._settings
        settings.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        while not self._closing.is_set():
            try:
                self._lock = CheckpointLock(settings.checkpoint, settings.state_dir / "holder")
            except CheckpointHeldError as error:
                _log.info("Standing by: %s", error)
                self._closing.wait(_STANDBY_S)
            else:
                return True
        return False

    def _session(self) -> "SparkSession":
        if self._spark is None:
            from ottla.pipelines.session import session

            self._spark = session(self._settings.application_id, settings=DRIVER_SETTINGS)
        return self._spark

    def _stop(self, supervised: SupervisedQuery) -> None:
        """Between two micro-batches if it can: what is under way would be repeated by the next start."""
        deadline = time.monotonic() + _GRACE_S
        while supervised.is_busy() and time.monotonic() < deadline:
            time.sleep(_STOP_PAUSE_S)
        supervised.stop()

    def _is_permanent(self, text: str) -> bool:
        """Whether a restart would meet an error again."""
        self._lacking = right_in(text, self._settings.application_id)
        return bool(self._lacking) or is_of_user(text)

    def _explained(self, error: Exception) -> Exception:
        """With the right that the application lacks, if it is that which ends it."""
        if self._lacking and isinstance(error, QueryFailedError):
            return QueryFailedError(f"{error} {self._lacking}")
        return with_right(error, self._settings.application_id)

    def _pause(self, seconds: float) -> None:
        self._closing.wait(seconds)
        self._raise_if_closing()

    def _raise_if_closing(self) -> None:
        if self._closing.is_set():
            raise _ClosedError("closed while it was starting, or starting again")

    def _begins_again(self, error: Exception) -> bool:
        """Asks the handlers what a failure means; it ends unless one of them says otherwise."""
        if isinstance(error, _ClosedError) or self._closing.is_set():
            return False
        error = self._explained(error)
        text = str(error) if isinstance(error, OttlaError) else reason(error)
        _log.error("%s fails: %s", self._settings.application_id, text)
        answers = [handler(error) for handler in self._failure_handlers]
        if FailureResponse.REPLACE_THREAD in answers:
            if self._state is RunState.RUNNING:
                self._move(RunState.REBALANCING)
            return True
        self.failure = error
        self._move(RunState.PENDING_ERROR)
        self._move(RunState.ERROR)
        return False

    def _move_unless_closing(self, state: RunState) -> None:
        if not self._closing.is_set():
            self._move(state)


def is_of_user(text: str) -> bool:
    """Whether an error of a query comes from a record and what the topology does with it: it would come again.

    >>> is_of_user("… ottla.streams.errors.ProcessingError: KSTREAM-MAP-0000000001 failed on the record of in-0 …")
    True
    """
    return any(f"{kind.__module__}.{kind.__name__}" in text for kind in _OF_USER)


def is_of_disk(text: str) -> bool:
    """Whether an error of a query comes from a disk that is full: the records wait until there is room.

    >>> is_of_disk("… ottla.streams.state.errors.StateUnwritableError: the state cannot be written: No space …")
    True
    """
    # The second is what Java says of the checkpoint.
    return any(sign in text for sign in (f".{StateUnwritableError.__name__}: ", os.strerror(errno.ENOSPC)))


class _ClosedError(OttlaError):
    """It was closed before it had started."""
