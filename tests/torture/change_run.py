"""One run of topics that change: their writers at work, nodes killed, replicas moved, and what is wrong in the end."""

import random
import shutil
import time
from collections import Counter
from contextlib import ExitStack

from tests.clients.server import APACHE
from tests.kafka.cluster import Cluster
from tests.torture.change import SUBJECTS, Subject
from tests.torture.nemesis import Nemesis
from tests.torture.operator import Operator
from tests.torture.plan import Plan
from tests.torture.replica import differences
from tests.torture.watch import Watcher

_NODES = 3
_SETTINGS = {
    "offsets_topic_num_partitions": "2",
    # A producer would make a topic anew that is being deleted.
    "auto_create_topics_enable": "false",
    # Kills hit all of it.
    "log_initial_task_delay_ms": "500",
    "log_retention_check_interval_ms": "700",
    "log_cleaner_backoff_ms": "500",
    "log_flush_offset_checkpoint_interval_ms": "500",
    "replica_high_watermark_checkpoint_interval_ms": "200",
}


class ChangeRun:
    """A cluster of three, and those who write, change and kill."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.events: Counter[str] = Counter()
        shutil.rmtree(plan.directory, ignore_errors=True)
        self._cluster = Cluster(plan.directory / "cluster", _NODES, is_peer=plan.kind == APACHE, **_SETTINGS)

    def wrongs(self) -> list[str]:
        """Runs, and tells what is wrong; nothing, if all promises were kept."""
        cluster, plan = self._cluster, self.plan
        try:
            cluster.start()
            subjects: list[Subject] = [subject(cluster.bootstrap, self.events) for subject in SUBJECTS]
            operator = Operator(cluster, plan.seed, self.events)
            watchers = [Watcher(cluster.bootstrap, kind, subjects, self.events) for kind in ("classic", "consumer")]
            with ExitStack() as reading:
                for watcher in watchers:
                    reading.enter_context(watcher)
                with ExitStack() as writing:
                    for at_work in (operator, *subjects):
                        writing.enter_context(at_work)
                    self._torment()
                    cluster.start()
                operator.settle()
            return self._verdict(subjects, watchers)
        finally:
            cluster.kill()

    def _torment(self) -> None:
        dice = random.Random(self.plan.seed)
        nemesis = Nemesis(self._cluster, dice, self.events)
        deadline = time.monotonic() + self.plan.seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, dice.uniform(0.3, 2.5)))
            nemesis.strike()

    def _verdict(self, subjects: list[Subject], watchers: list[Watcher]) -> list[str]:
        wrong = [text for subject in subjects for text in subject.check()]
        wrong += [text for watcher in watchers for text in watcher.complaints]
        wrong += [
            text for watcher in watchers for subject in subjects for text in watcher.check(subject, subject.found)
        ]
        # Nobody writes any more, and what was written is in the files of those that are killed, too.
        self._cluster.kill()
        compacted = [subject.name for subject in subjects if subject.is_compacted]
        return wrong + [text for text in differences(self._cluster) if text.partition("-")[0] not in compacted]
