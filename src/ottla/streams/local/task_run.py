"""One task of the application at work: raw records wait per partition, the engine takes them by time.

Of each partition at most one record is decoded ahead. A task with several partitions waits for records that are known
to be on the brokers before it goes on without them (`max.task.idle.ms`), so that their times decide the order.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.streams.engine.error_handler import InputRecord, OutputRecord
from ottla.streams.engine.store.spec import LoggedChange, StoreSpec
from ottla.streams.engine.store.state_map import StateMap
from ottla.streams.engine.task import Task, TaskPlan
from ottla.streams.host.application import Application
from ottla.streams.host.kept_time import times_to_text
from ottla.streams.host.task_share import TaskId
from ottla.streams.local.record_column import columns_of
from ottla.streams.local.record_sender import RecordSender
from ottla.streams.local.task_store import COMMIT, TaskStores
from ottla.streams.serde import Serde
from ottla.streams.state.local_state import Times

_log = logging.getLogger(__name__)

_FEW: Final = 4
"""So many records are not worth columns."""

Lag = Callable[[TopicPartition], int | None]
"""How many records of a partition the consumer has not fetched yet; None: not known."""


@dataclass(frozen=True)
class TaskPorts:
    """The services that a task needs of its process."""

    application: Application
    sender: RecordSender
    global_stores: Mapping[str, Any]
    partition_count: Callable[[str], int]
    lag: Lag
    idle_ms_max: int = 0


class _Host:
    """The engine's view of the process."""

    def __init__(self, run: "TaskRun", ports: TaskPorts) -> None:
        self._run = run
        self._sender = ports.sender
        self._logs = {store: ports.sender.logger(place) for store, place in run.stores.changelogs.items()}
        self._name = str(run.task)
        self.partition_count = ports.partition_count

    def state_map(self, store: StoreSpec) -> StateMap:
        """The bytes of a store."""
        return self._run.stores.state_map(store)

    def log_change(self, store: str, change: LoggedChange) -> None:
        """A change goes to the changelog's partition of the same number."""
        self._logs[store](change)

    def send(self, record: OutputRecord) -> None:
        """A record goes to its topic."""
        self._sender.send(record, self._run.current, self._name)

    def wall_clock_ms(self) -> int:
        """The time."""
        return time.time_ns() // 1_000_000

    def request_commit(self) -> None:
        """A processor wants a commit soon."""
        self._run.wants_commit = True


class TaskRun:
    """A task; it processes once `start` has been called."""

    def __init__(self, task: TaskId, stores: TaskStores, ports: TaskPorts) -> None:
        application = ports.application
        self.task: Final = task
        self.stores: Final = stores
        self.places: Final = application.places_of(task)
        self.wants_commit = False
        self.is_running = False
        self.current: InputRecord | None = None
        self.processed_records = 0
        self._lag: Final = ports.lag
        self._idle_ms_max: Final = ports.idle_ms_max
        self._idle_since_ms: int | None = None
        self._queues: Final[dict[TopicPartition, deque[Any]]] = {place: deque() for place in self.places}
        self._held: Final[dict[TopicPartition, int]] = {}
        self._committed: dict[TopicPartition, int] = {}
        self._has_changed = False
        stage = next(one for one in application.stages if one.number == task.stage)
        plan = TaskPlan(
            application.topology,
            stage.nodes,
            application.application_id,
            str(task),
            application.configuration,
            ports.global_stores,
        )
        self.engine: Final = Task(plan, _Host(self, ports))
        self._sender: Final = ports.sender
        self._serdes: Final = self._column_serdes()

    def _column_serdes(self) -> tuple[Serde[Any], Serde[Any]] | None:
        """The serdes that decode its one partition as columns; None if records have to be read singly."""
        if len(self.places) != 1 or self._sender.asks_handler:
            return None
        return self.engine.serdes_of(self.places[0].topic)

    def start(self, times: Times) -> None:
        """Begins to process: its stores are complete."""
        for sink in self.engine.sinks:
            if sink.topic is not None and not self._sender.asks_handler:
                sink.write_to(self._sender.writer(sink.topic, str(self.task)))
        self.engine.assign(self.places)
        self.engine.open()
        self.engine.set_times(times.get(str(self.task), {}))
        self.is_running = True

    def add(self, place: TopicPartition, records: Any) -> None:
        """Takes records of a partition."""
        self._queues[place].extend(records)

    def waiting(self, place: TopicPartition) -> int:
        """The number of records of a partition that wait."""
        return len(self._queues[place])

    def process(self, records_max: int) -> int:
        """Processes at most `records_max` records; the number. A smaller one means that it may take no more now."""
        if not self.is_running:
            return 0
        count = self._process_lone(records_max) if len(self.places) == 1 else self._process_merged(records_max)
        if count:
            self._has_changed = True
            self.processed_records += count
        return count

    def _process_lone(self, records_max: int) -> int:
        """Records of one partition need no merging."""
        place, process_one = self.places[0], self.engine.process_one
        queue = self._queues[place]
        count = min(len(queue), records_max)
        records = [queue.popleft() for _ in range(count)]
        columns = None if self._serdes is None or count < _FEW else columns_of(place, records, self._serdes)
        if columns is not None:
            self.current = None
            self.engine.process_columns(columns)
            return count
        for record in records:
            self.current = record
            process_one(record)
        return count

    def _process_merged(self, records_max: int) -> int:
        engine, count = self.engine, 0
        while count < records_max and self._fill() and self._may_go_on():
            engine.process_next()
            engine.punctuate_stream_time()
            count += 1
        return count

    def punctuate_clock(self, now_ms: int) -> None:
        """Fires the punctuations that are due by the clock."""
        due = self.next_punctuation_ms()
        if due is not None and due <= now_ms:
            self.current = None
            self.engine.punctuate_clock(now_ms)
            self._has_changed = True

    def next_punctuation_ms(self) -> int | None:
        """The time of the next punctuation by the clock."""
        return self.engine.next_clock_punctuation() if self.is_running else None

    def offsets(
        self, positions: Mapping[TopicPartition, int], commit_id: int
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets to commit; empty if nothing has changed."""
        if not self.is_running:
            return {}
        found = {place: self._next_offset(place, positions) for place in self.places}
        known = {place: offset for place, offset in found.items() if offset is not None}
        if not self._has_changed and known == self._committed:
            return {}
        commit = {COMMIT: {"": (commit_id,)}}
        metadata = times_to_text({**self.times(), **commit}) or times_to_text(commit)
        given = {}
        for place, offset in sorted(known.items()):
            given[place] = OffsetAndMetadata(offset, metadata)
            metadata = ""
        return given

    def committed(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Notes that these offsets are committed."""
        self._committed = {place: found.offset for place, found in offsets.items()}
        self._has_changed = self.wants_commit = False

    def times(self) -> Times:
        """The numbers that are kept with the stores."""
        return {str(self.task): self.engine.times()}

    def close(self) -> None:
        """Ends it; what was not committed is forgotten."""
        try:
            if self.is_running:
                self.is_running = False
                self.engine.close()
        except Exception:  # noqa: BLE001  (an edge: a user's `close` may raise anything, and the task ends all the same)
            _log.exception("task %s: a processor could not be closed", self.task)
        finally:
            self.stores.close()

    def _fill(self) -> bool:
        """Decodes the heads; false: nothing waits."""
        engine, is_any = self.engine, False
        for place, queue in self._queues.items():
            while queue and engine.lacks(*place):
                self.current = record = queue.popleft()
                self._held[place] = record.offset
                engine.enqueue(record)
                self._has_changed = True
            is_any = is_any or not engine.lacks(*place)
        return is_any

    def _may_go_on(self) -> bool:
        """Whether no record with a smaller time can come any more, or it has been waited for long enough."""
        if len(self.places) == 1 or self._idle_ms_max < 0:
            return True
        empty = [place for place in self.places if self.engine.lacks(*place)]
        lags = [self._lag(place) for place in empty]
        if any(lag != 0 for lag in lags):
            return False
        if not empty or not self._idle_ms_max:
            self._idle_since_ms = None
            return True
        now_ms = time.monotonic_ns() // 1_000_000
        self._idle_since_ms = self._idle_since_ms or now_ms
        return now_ms - self._idle_since_ms >= self._idle_ms_max

    def _next_offset(self, place: TopicPartition, positions: Mapping[TopicPartition, int]) -> int | None:
        if not self.engine.lacks(*place):
            return self._held[place]
        queue = self._queues[place]
        return queue[0].offset if queue else positions.get(place)
