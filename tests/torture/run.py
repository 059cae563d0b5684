"""One run: clients at work, the broker and the clients killed at random, and the history of it all.

Kills, pauses and their times come from the seed; what they hit does not, as processes run as they like.
"""

import random
import shutil
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from confluent_kafka.admin import NewTopic

from tests.clients.server import OTTLA, start_server
from tests.clients.topic import create_with
from tests.kafka.server import Server
from tests.torture.client.task import RESULTS, SESSION_MS, SOURCES, Task
from tests.torture.crew import Part, crew
from tests.torture.ending import admin_client, behind, end_transactions, read_all, undecided
from tests.torture.history import History
from tests.torture.player import Player
from tests.torture.recording import load

PARTITIONS = 3
_SETTINGS = {
    "group_initial_rebalance_delay_ms": "0",
    "group_min_session_timeout_ms": "1000",
    "group_consumer_min_session_timeout_ms": "1000",
    "group_consumer_session_timeout_ms": str(SESSION_MS),
    "group_consumer_min_heartbeat_interval_ms": "200",
    "group_consumer_heartbeat_interval_ms": "500",
    "group_consumer_assignment_interval_ms": "0",
    "offsets_topic_num_partitions": "3",
    "transaction_state_log_num_partitions": "3",
    # Segments that are rolled and cleaned, checkpoints that are written: kills hit all of it.
    "offsets_topic_segment_bytes": "1048576",
    "transaction_state_log_segment_bytes": "1048576",
    "log_cleaner_backoff_ms": "1000",
    "log_cleaner_min_cleanable_ratio": "0.1",
    "log_flush_offset_checkpoint_interval_ms": "500",
    "replica_high_watermark_checkpoint_interval_ms": "200",
}


@dataclass(frozen=True)
class Plan:
    """What to run."""

    seconds: float
    seed: int
    directory: Path
    kind: str = OTTLA


class Run:
    """A broker, its clients, and the one who kills them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.events: Counter[str] = Counter()
        self.histories = plan.directory / "history"
        shutil.rmtree(plan.directory, ignore_errors=True)
        self.histories.mkdir(parents=True)
        self._dice = random.Random(plan.seed)
        self._server: Server | None = None
        self._players = [Player(part, self._task, self.histories) for part in crew(plan.seconds)]

    @property
    def server(self) -> Server:
        """The broker."""
        assert self._server is not None
        return self._server

    def history(self) -> History:
        """Runs, and tells what happened."""
        self._server = start_server(self.plan.kind, self.plan.directory / "broker", **_SETTINGS)
        try:
            for topic in (*SOURCES, RESULTS):
                wanted = NewTopic(topic, PARTITIONS, 1, config={"segment.bytes": "1048576"})
                create_with(admin_client(self.server.bootstrap), wanted)
            for player in self._players:
                player.start()
            self._torment()
            return self._finish()
        finally:
            for player in self._players:
                player.ask_to_stop()
                player.kill()
                player.wait()
            self.server.kill()

    def _task(self, part: Part, name: str) -> Task:
        group = part.group or part.name
        return Task(
            name,
            part.role,
            part.library,
            self.server.bootstrap,
            str(self.histories),
            PARTITIONS,
            identity=group,
            settings=part.settings,
        )

    def _torment(self) -> None:
        deadline = time.monotonic() + self.plan.seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, self._dice.uniform(0.3, 2.5)))
            self._replace_the_ended()
            strike = self._dice.choices(
                (self._kill_broker, self._kill_client, self._stop_client, self._pause_client), (4, 4, 1, 2)
            )[0]
            strike()
        for player in self._players:
            player.resume()

    def _replace_the_ended(self) -> None:
        for player in self._players:
            if player.has_ended:
                self.events["clients that gave up"] += 1
                player.start()

    def _kill_broker(self) -> None:
        self.events["kill -9 of the broker"] += 1
        self.server.kill()
        time.sleep(self._dice.choice((0, 0, 0.5)))
        self.server.start()

    def _kill_client(self) -> None:
        self.events["kill -9 of a client"] += 1
        player = self._dice.choice(self._players)
        player.kill()
        player.start()

    def _stop_client(self) -> None:
        self.events["clients that were stopped"] += 1
        player = self._dice.choice(self._players)
        player.ask_to_stop()
        player.wait()
        player.start()

    def _pause_client(self) -> None:
        """A zombie: the process sleeps while another takes its part, then both go on."""
        self.events["clients that became zombies"] += 1
        player = self._dice.choice(self._players)
        player.pause()
        player.start()
        time.sleep(self._dice.uniform(0.5, 2))
        player.resume()

    def _finish(self) -> History:
        """Stops the producers, lets the groups get to the end, and reads everything."""
        bootstrap = self.server.bootstrap
        self._dismiss([player for player in self._players if player.part.writes_sources])
        final: dict[str, dict[int, str]] = {}
        stuck: dict[str, int] = {}
        for topic in SOURCES:
            stuck |= undecided(bootstrap, topic, PARTITIONS)
            final |= read_all(bootstrap, topic, PARTITIONS)
        groups = {player.part.group for player in self._players if player.part.group}
        late = behind(bootstrap, groups, final, self._replace_the_ended_readers)
        self._dismiss([player for player in self._players if not player.part.writes_sources])
        stuck |= undecided(bootstrap, RESULTS, PARTITIONS)
        final |= read_all(bootstrap, RESULTS, PARTITIONS)
        return replace(load(self.histories), final=final, undecided=stuck, behind=late)

    def _replace_the_ended_readers(self) -> None:
        for player in self._players:
            if not player.part.writes_sources and player.has_ended:
                self.events["clients that gave up"] += 1
                player.start()

    def _dismiss(self, players: list[Player]) -> None:
        for player in players:
            player.ask_to_stop()
        for player in players:
            player.wait()
        ids = [player.part.name for player in players if player.part.has_transactions]
        end_transactions(self.server.bootstrap, ids)
