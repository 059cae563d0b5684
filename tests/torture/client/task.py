"""What a client of a run is told to do, and the bookkeeping that all of them share."""

import json
import random
import signal
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from tests.torture.history import Outcome
from tests.torture.recording import Recorder

SOURCES = ("plain", "transactional")
"""Topics that producers write and groups read."""
RESULTS = "results"
"""The topic that transformers write."""
SESSION_MS = 4_000
TRANSACTION_MS = 10_000
_HANG_SECONDS = 20


@dataclass(frozen=True)
class Task:
    """One client: `name` is that of the process, and stands before every value that it writes."""

    name: str
    role: str
    library: str
    bootstrap: str
    directory: str
    partitions: int
    identity: str = ""
    """Transactional id, or group."""
    settings: dict[str, str] = field(default_factory=dict)
    """Of the client library, as the library spells them."""
    slowness: int = 1
    """How much longer than otherwise it pauses: who reads has to keep up."""

    def text(self) -> str:
        """For a command line."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "Task":
        """The counterpart of `text`."""
        return cls(**json.loads(text))


class Work:
    """A task under way: what to write next, how fast, until when."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.recorder = Recorder(Path(task.directory), task.name)
        self.dice = random.Random(task.name)
        self.is_over = False
        self._number = 0
        self._pending: list[tuple[int, str, int, str]] = []
        self.positions: dict[str, int] = {}
        """What was polled and not committed yet: the offset behind it, by partition."""
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.is_over = True

    def goes_on(self) -> bool:
        """Whether there is more to do. A library that hangs from here on ends the process: another takes its part."""
        signal.alarm(_HANG_SECONDS)
        return not self.is_over

    def value(self) -> str:
        """A value that nobody else writes."""
        self._number += 1
        return f"{self.task.name}/{self._number}"

    def partition(self) -> int:
        """Where to write next."""
        return self.dice.randrange(self.task.partitions)

    def pause(self) -> float:
        """Seconds until the next batch or transaction."""
        return self.dice.choice((0.002, 0.005, 0.01, 0.03)) * self.task.slowness

    def failed(self, error: object) -> None:
        """A client's complaint, for the verdict."""
        self.recorder.note("error", text=f"{type(error).__name__}: {error}"[:300])

    # What consumers saw

    def assigned(self, topic_partitions: list[tuple[str, int]]) -> None:
        """Partitions whose next record is where the group has committed."""
        names = [f"{topic}-{index}" for topic, index in topic_partitions]
        if names:
            self.recorder.note("assigned", group=self.task.identity, partitions=names)

    def polled(self, topic: str, index: int, offset: int, value: bytes) -> None:
        """A record was handed over; told in one line with its neighbours."""
        name = f"{topic}-{index}"
        self._pending.append((time.monotonic_ns(), name, offset, value.decode()))
        self.positions[name] = offset + 1

    def tell_polls(self) -> None:
        """Writes down what was polled: before anything is committed or taken away."""
        if self._pending:
            dirty = self.task.settings.get("isolation.level") == "read_uncommitted"
            self.recorder.note("poll", records=self._pending, **{"committed": False} if dirty else {})
            self._pending = []

    def begin_commit(self, transaction: str | None = None) -> int:
        """Offsets of everything that was polled are about to be committed."""
        self.tell_polls()
        more = {} if transaction is None else {"transaction": transaction}
        return self.recorder.begin("commit", group=self.task.identity, offsets=self.positions, **more)

    def end_commit(self, operation: int, outcome: Outcome) -> None:
        """What came of it. Of what nobody knows whether it was committed the next commit takes care, if the partitions
        are still ours then: nothing more may come to be polled, and the group is to get to the end."""
        self.recorder.end(operation, outcome)
        if outcome is not Outcome.UNKNOWN:
            self.positions = {}
