"""One run: a phase of churn to warm up, quiet, an equal phase, quiet, and what the nodes hold after both.

After each phase the clients are gone, the topics deleted, and what expires has had its time.
"""

import os
import random
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka.admin import NewTopic

from ottla.cli.node.object_count import VARIABLE
from tests.clients.client import confluent
from tests.clients.topic import create_with
from tests.kafka.cluster import Cluster
from tests.soak.apart import Apart
from tests.soak.connections import FULL, IDLE, Connections
from tests.soak.elections import Elections
from tests.soak.members import Groups, Transactions
from tests.soak.sample import Sample, Sampler
from tests.soak.settings import Settings
from tests.soak.topics import Topics
from tests.soak.verdict import grown, line
from tests.soak.worker import Worker
from tests.torture.client.task import RESULTS, SOURCES, Task
from tests.torture.crew import Part, crew
from tests.torture.ending import admin_client
from tests.torture.plan import Plan
from tests.torture.player import Player
from tests.torture.run import PARTITIONS, SETTINGS

_QUIET_SHARE, _QUIET_SECONDS_MAX = 0.3, 240.0
_SHRINKING_SECONDS = 120.0
"""How much longer than the first quiet the second may take until all is back."""
_SAMPLE_SECONDS = 15.0
_STRIKE_SECONDS = (0.5, 4.0)
_SLOWNESS = 20
_FULL_RECORDS = 4_000
_EXPIRING = {
    "auto_create_topics_enable": "false",
    # Soon full: what is bounded is to reach its bound in the warm-up.
    "max_incremental_fetch_session_cache_slots": "40",
    "connections_max_idle_ms": "20000",
    "log_initial_task_delay_ms": "500",
    "log_retention_check_interval_ms": "2000",
    "log_segment_delete_delay_ms": "500",
    "log_cleaner_delete_retention_ms": "1000",
    "log_roll_ms": "10000",
    "offsets_retention_minutes": "1",
    "offsets_retention_check_interval_ms": "2000",
    "transactional_id_expiration_ms": "15000",
    "transaction_remove_expired_transaction_cleanup_interval_ms": "2000",
    "transaction_abort_timed_out_transaction_cleanup_interval_ms": "2000",
    "producer_id_expiration_ms": "15000",
    "producer_id_expiration_check_interval_ms": "2000",
    "metadata_log_max_snapshot_interval_ms": "10000",
    "metadata_log_segment_ms": "10000",
    "metadata_max_retention_ms": "10000",
}
_NEEDED = (
    "topics created",
    "topics deleted",
    "topics made anew at once",
    "partitions added",
    "policies changed",
    "idempotent producers",
    "offsets committed",
    "transactions committed",
    "quotas changed",
    "configs of a broker changed",
    "polls that were abandoned",
)
"""A run without these would prove nothing."""
_COMPLAINT = re.compile(r"\] (?:FATAL|ERROR) |^Traceback ")


class SoakRun:
    """A cluster, those who keep it busy, and what its nodes held."""

    def __init__(self, plan: Plan, say: Callable[[str], None] = print) -> None:
        self.plan = plan
        self.events: Counter[str] = Counter()
        self._counting = threading.Lock()
        self.samples: list[Sample] = []
        self.moments: dict[str, list[Sample]] = {}
        """What the nodes held at the times that count."""
        self._say = say
        self._dice = random.Random(plan.seed)
        shutil.rmtree(plan.directory, ignore_errors=True)
        self._counts = plan.directory / "counts"
        self._sampler = Sampler(self._counts)
        self._cluster = Cluster(plan.directory / "cluster", plan.nodes, **SETTINGS | _EXPIRING)
        self._quiet_seconds = min(plan.seconds / 2 * _QUIET_SHARE, _QUIET_SECONDS_MAX)

    def wrongs(self) -> list[str]:
        """Runs, and tells what is wrong: what grew, and what the nodes complained about."""
        os.environ[VARIABLE] = str(self._counts)
        wrong: list[str] = []
        try:
            self._cluster.start()
            self._look("after the start")
            wrong += self._phase("warm-up")
            self._rest()
            before = self._look("after the warm-up")
            wrong += self._phase("churn")
            wrong += self._rest_until_back(before)
            for node in self._cluster.nodes:
                if not node.is_running:
                    wrong.append(f"{node.name} ended by itself")
            self._cluster.stop()
        finally:
            self._cluster.kill()
            del os.environ[VARIABLE]
        return wrong + self._complaints() + [f"there were no {what}" for what in _NEEDED if not self.events[what]]

    # Churn

    def _phase(self, name: str) -> list[str]:
        """Keeps the cluster busy for its time and takes everything away; what went wrong with the workers."""
        self._say(f"{name}: {self._busy_seconds():.0f} s, then {self._quiet_seconds:.0f} s of quiet")
        bootstrap, plan = self._cluster.bootstrap, self.plan
        self._create_topics()
        workers: list[Worker | Apart] = [
            *(Apart(kind, bootstrap, plan.seed, self._count) for kind in (Topics, Groups, Transactions)),
            Settings(bootstrap, plan.seed, self._count),
            Connections(bootstrap, plan.seed, self._count),
        ]
        if plan.nodes > 1:
            workers.append(Elections(self._cluster, plan.seed, self._count))
        histories = plan.directory / "history"
        histories.mkdir()
        players = [Player(part, self._task, histories) for part in crew(0)]
        try:
            with ExitStack() as stack:
                for player in players:
                    player.start()
                for worker in workers:
                    stack.enter_context(worker)
                self._torment(players)
        finally:
            for player in players:
                player.ask_to_stop()
            for player in players:
                player.wait()
        shutil.rmtree(histories)
        self._look(f"at the end of the {name}")
        self._delete_topics()
        return [worker.failure for worker in workers if worker.failure is not None]

    def _count(self, what: str) -> None:
        with self._counting:
            self.events[what] += 1

    def _busy_seconds(self) -> float:
        return self.plan.seconds / 2 - self._quiet_seconds

    def _torment(self, players: list[Player]) -> None:
        """Samples, and has clients die, stop and freeze, until the time is over."""
        deadline = time.monotonic() + self._busy_seconds()
        next_sample = time.monotonic() + _SAMPLE_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, self._dice.uniform(*_STRIKE_SECONDS)))
            self._dice.choice((self._kill, self._stop, self._revive))(self._dice.choice(players))
            if time.monotonic() > next_sample:
                next_sample = time.monotonic() + _SAMPLE_SECONDS
                self._sample()

    def _kill(self, player: Player) -> None:
        self._count("kill -9 of a client")
        player.kill()
        player.start()

    def _stop(self, player: Player) -> None:
        self._count("clients that were stopped")
        player.ask_to_stop()
        player.wait()
        player.start()

    def _revive(self, player: Player) -> None:
        if player.has_ended:
            self._count("clients that gave up")
            player.start()

    def _task(self, part: Part, name: str) -> Task:
        return Task(
            name,
            part.role,
            part.library,
            self._cluster.bootstrap,
            str(self.plan.directory / "history"),
            PARTITIONS,
            identity=part.group or part.name,
            settings=part.settings,
            slowness=_SLOWNESS,
        )

    def _create_topics(self) -> None:
        admin, nodes = admin_client(self._cluster.bootstrap), self.plan.nodes
        config = {"segment.bytes": "1048576", "segment.ms": "5000", "retention.ms": "30000"}
        for name in (*SOURCES, RESULTS):
            create_with(admin, NewTopic(name, PARTITIONS, nodes, config=config))
        for name in (IDLE, FULL):
            create_with(admin, NewTopic(name, 2, nodes))
        client = confluent.producer(self._cluster.bootstrap, message_timeout_ms=30_000)
        for number in range(_FULL_RECORDS):
            client.produce(FULL, bytes(1_000), partition=number % 2)
        assert not client.flush(30), "the full topic could not be written"

    def _delete_topics(self) -> None:
        """All but the internal ones."""
        admin = admin_client(self._cluster.bootstrap)
        names = [name for name in admin.list_topics(timeout=30).topics if not name.startswith("__")]
        for future in admin.delete_topics(names, request_timeout=30).values():
            future.result()

    # Quiet

    def _rest(self) -> None:
        deadline = time.monotonic() + self._quiet_seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _SAMPLE_SECONDS))
            self._sample()

    def _rest_until_back(self, before: list[Sample]) -> list[str]:
        """Rests as long as before, and longer while anything is more than it was; what stays so."""
        self._rest()
        deadline = time.monotonic() + min(_SHRINKING_SECONDS, self._quiet_seconds * 2)
        while True:
            after = self._look("at the end")
            more = [text for old, new in zip(before, after, strict=True) for text in grown(old, new)]
            if not more or time.monotonic() > deadline:
                return more
            time.sleep(_SAMPLE_SECONDS / 3)

    def _look(self, moment: str) -> list[Sample]:
        self.moments[moment] = self._sample()
        return self.moments[moment]

    def _sample(self) -> list[Sample]:
        found = [self._sampler.sample(node) for node in self._cluster.nodes]
        for sample in found:
            self._say(line(sample))
        self.samples += found
        return found

    # The end

    def _complaints(self) -> list[str]:
        """The lines of the nodes' logs that tell of a fault of their own, ten at the most of each."""
        found = []
        for node in self._cluster.nodes:
            lines = (node.directory / "server.log").read_text(errors="replace").splitlines()
            found += [f"{node.name}: {text}" for text in lines if _COMPLAINT.search(text)][:10]
        return found


def keep_reports(directory: Path) -> None:
    """Removes the nodes' data, and leaves their logs."""
    for logs in directory.glob("cluster/*/logs*"):
        shutil.rmtree(logs)
