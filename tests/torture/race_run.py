"""One run of two nodes whose threads change over where they hardly ever do, under all kinds of churn."""

import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

from tests.kafka.cluster import Cluster, Node
from tests.torture.plan import Plan
from tests.torture.race import CHURNS, complaints, create_steady

_PATIENCE_SECONDS = 90.0
_NODES = 2
"""A leader and a follower of everything."""
_SETTINGS = {
    "auto_create_topics_enable": "false",
    "group_initial_rebalance_delay_ms": "0",
    # All that is done every now and then is done all the time.
    "log_initial_task_delay_ms": "500",
    "log_retention_check_interval_ms": "50",
    "log_cleaner_backoff_ms": "50",
    "log_cleaner_threads": "2",
    "log_flush_scheduler_interval_ms": "50",
    "log_flush_offset_checkpoint_interval_ms": "50",
    "log_flush_start_offset_checkpoint_interval_ms": "50",
    "replica_high_watermark_checkpoint_interval_ms": "50",
    "log_flush_interval_ms": "100",
    "metadata_log_max_record_bytes_between_snapshots": "20000",
    # The machine may be busy, and the nodes are slow: silence is not death.
    "controller_quorum_election_timeout_ms": "1000",
    "controller_quorum_fetch_timeout_ms": "4000",
    "broker_session_timeout_ms": "30000",
    "replica_lag_time_max_ms": "60000",
}


class RacingNode(Node):
    """A node whose threads meet all the time."""

    def _serve_command(self) -> Sequence[str]:
        return [sys.executable, "-m", "tests.torture.racing_node", str(self.config)]


class RaceRun:
    """The nodes, and those who keep them busy."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.events: Counter[str] = Counter()
        shutil.rmtree(plan.directory, ignore_errors=True)
        self._cluster = Cluster(plan.directory / "cluster", _NODES, node_class=RacingNode, **_SETTINGS)

    def _goes_on(self, seconds: float) -> bool:
        """On a machine that is busy it may take longer until each churn has done something."""
        did_all = {churn.__name__ for churn in CHURNS} <= set(self.events)
        return seconds < (self.plan.seconds if did_all else self.plan.seconds + _PATIENCE_SECONDS)

    def wrongs(self) -> list[str]:
        """Runs, and tells what is wrong; nothing, if both nodes lived through it without a complaint."""
        cluster, plan = self._cluster, self.plan
        try:
            cluster.start()
            create_steady(cluster)
            begun = time.monotonic()
            with ExitStack() as stack:
                for churn in CHURNS:
                    stack.enter_context(churn(cluster, plan.seed, self.events))
                while all(node.is_running for node in cluster.nodes) and self._goes_on(time.monotonic() - begun):
                    time.sleep(0.1)
            wrong = [f"{node.name} ended by itself" for node in cluster.nodes if not node.is_running]
            if not wrong:
                cluster.stop()
            return wrong + [f"{node.name}: {line}" for node in cluster.nodes for line in complaints(node.lines())]
        finally:
            cluster.kill()
