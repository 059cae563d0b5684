"""A broker that is away for a minute under a runner's queries: they wait or are started again, by themselves."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.pipelines.runner.spec import PipelineSpec, Wanted
from ottla.pipelines.runner.status import State
from tests.clients.server import kinds, start_server
from tests.integration.pipelines.committed import wait_for_markers
from tests.integration.pipelines.control_process import ControlRun
from tests.integration.pipelines.test_control import arrived, produce
from tests.kafka.server import Server

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")
pytestmark = [pytest.mark.long, pytest.mark.skipif(shutil.which("java") is None, reason="needs Java to run Spark")]
_AWAY_S = 65
_BLOCK = 1_500


@pytest.fixture(params=kinds())
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """One that the test may stop and kill."""
    found = start_server(request.param, tmp_path / "server")
    yield found
    found.kill()


def test_a_broker_is_away_for_a_minute_and_nothing_is_lost_or_doubled(server: Server, tmp_path: Path) -> None:
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        names = ("source", "once", "least")
        admin.create_topics([NewTopic(name, partitions=2, replication_factor=1) for name in names])
    control = ControlRun(server.bootstrap, tmp_path / "pipes", "--master", "local[2,4]")
    try:
        [process] = [control.start()]
        for name in ("once", "least"):
            definition = {
                "from": "source", "to": name, "exactly.once": name == "once", "max.offsets.per.trigger": 50,
            }  # fmt: skip
            control.write(PipelineSpec(name=name, kind="copy", definition=definition))
        control.wait_until(lambda: control.state("once") is control.state("least") is State.RUNNING)
        rows = 0
        for take_away in (server.kill, server.stop):
            produce(server, "source", range(rows, rows + _BLOCK))
            rows += _BLOCK
            # In the middle of many micro-batches.
            control.wait_until(lambda begun=rows - _BLOCK: len(arrived(server, "once")) > begun)  # type: ignore[misc]
            take_away()
            time.sleep(_AWAY_S)
            server.start()
            produce(server, "source", range(rows, rows + 100))
            rows += 100
            control.wait_until(lambda rows=rows: len(arrived(server, "once")) == rows)  # type: ignore[misc]
            control.wait_until(lambda rows=rows: len(arrived(server, "least")) == rows)  # type: ignore[misc]
        assert process.poll() is None, control.words()
        for name in ("once", "least"):
            control.change(name, lambda spec: replace(spec, wanted=Wanted.PAUSED))
            control.wait_until(lambda name=name: control.state(name) is State.PAUSED)  # type: ignore[misc]
        with Admin(bootstrap_servers=server.bootstrap) as admin:
            wait_for_markers(admin, "once")
        assert arrived(server, "once") == Counter(range(rows)), control.words()
    finally:
        control.stop()
