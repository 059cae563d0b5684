"""One run: clients at work, brokers and clients killed at random, and the history of it all.

With several nodes every record is on all of them and safe on two, and an operator moves replicas around meanwhile.
Kills, pauses and their times come from the seed; what they hit does not, as processes run as they like.
"""

import random
import shutil
import time
from collections import Counter
from dataclasses import replace

from confluent_kafka.admin import NewTopic

from tests.clients.feature import set_transaction_version
from tests.clients.server import APACHE
from tests.clients.topic import create_with
from tests.kafka.cluster import Cluster, Node
from tests.torture.client.task import RESULTS, SESSION_MS, SOURCES, Task
from tests.torture.crew import Part, crew
from tests.torture.ending import admin_client, behind, end_transactions, read_all, undecided
from tests.torture.history import History
from tests.torture.nemesis import Nemesis
from tests.torture.operator import Operator
from tests.torture.plan import Plan
from tests.torture.player import Player
from tests.torture.recording import load
from tests.torture.replica import differences
from tests.torture.secure_node import SecureNode

PARTITIONS = 3
_BEGIN_SECONDS = 60.0
SETTINGS = {
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


class Run:
    """A cluster, its clients, and the one who kills them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.events: Counter[str] = Counter()
        self.histories = plan.directory / "history"
        shutil.rmtree(plan.directory, ignore_errors=True)
        self.histories.mkdir(parents=True)
        self._dice = random.Random(plan.seed)
        node_class = SecureNode if plan.is_secure else Node
        self._cluster = Cluster(
            plan.directory / "cluster", plan.nodes, is_peer=plan.kind == APACHE, node_class=node_class, **SETTINGS
        )
        self._nemesis = Nemesis(self._cluster, self._dice, self.events)
        self._players = [Player(part, self._task, self.histories) for part in crew(plan.seconds, is_own=plan.is_own)]

    def history(self) -> History:
        """Runs, and tells what happened."""
        try:
            self._cluster.start()
            if self.plan.has_old_transactions:
                set_transaction_version(self._cluster.nodes[0].address, 1)
            for topic in (*SOURCES, RESULTS):
                wanted = NewTopic(topic, PARTITIONS, self.plan.nodes, config={"segment.bytes": "1048576"})
                create_with(admin_client(self._cluster.bootstrap), wanted)
            for player in self._players:
                player.start()
            operator = Operator(self._cluster, self.plan.seed, self.events)
            if self.plan.nodes > 1:
                with operator:
                    self._torment()
            else:
                self._torment()
            self._cluster.start()
            self._let_all_begin()
            operator.settle()
            history = self._finish()
            # Nobody writes any more, and what was written is in the files of those that are killed, too.
            self._cluster.kill()
            return replace(history, replica_differences=differences(self._cluster))
        finally:
            for player in self._players:
                player.ask_to_stop()
                player.kill()
                player.wait()
            self._cluster.kill()

    def _task(self, part: Part, name: str) -> Task:
        group = part.group or part.name
        return Task(
            name,
            part.role,
            part.library,
            self._cluster.bootstrap,
            str(self.histories),
            PARTITIONS,
            identity=group,
            settings=part.settings,
            # Everything is written on every node, and these processes share the machine with them.
            slowness=1 if self.plan.nodes == 1 else 10,
        )

    def _torment(self) -> None:
        deadline = time.monotonic() + self.plan.seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, self._dice.uniform(0.3, 2.5)))
            self._replace_the_ended()
            clients = (self._kill_client, self._stop_client, self._pause_client)
            brokers = 4 if self.plan.nodes == 1 else 12
            self._dice.choices((self._nemesis.strike, *clients), (brokers, 4, 1, 2))[0]()
        for player in self._players:
            player.resume()

    def _let_all_begin(self) -> None:
        """On a machine that is busy it may take longer until each client has done something."""
        deadline = time.monotonic() + _BEGIN_SECONDS
        while time.monotonic() < deadline and not all(map(self._has_done_something, self._players)):
            self._replace_the_ended()
            time.sleep(0.2)

    def _has_done_something(self, player: Player) -> bool:
        paths = self.histories.glob(f"{player.part.name}.*.jsonl")
        return any(b'"end":"ok"' in path.read_bytes() for path in paths)

    def _replace_the_ended(self) -> None:
        for player in self._players:
            if player.has_ended:
                self.events[f"clients of {player.part.library} that gave up"] += 1
                player.start()

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
        bootstrap = self._cluster.bootstrap
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
                self.events[f"clients of {player.part.library} that gave up"] += 1
                player.start()

    def _dismiss(self, players: list[Player]) -> None:
        for player in players:
            player.ask_to_stop()
        for player in players:
            player.wait()
        ids = [player.part.name for player in players if player.part.has_transactions]
        end_transactions(self._cluster.bootstrap, ids)
