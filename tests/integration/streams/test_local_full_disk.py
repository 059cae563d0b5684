"""A disk that has no room left for the state: it is said, nothing is lost or doubled, and the work goes on later."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import counts, expected, produce, unaccounted, wait_until
from tests.integration.streams.test_local_kill import Terms, members
from tests.kafka.server import Server

EXACTLY_ONCE = "exactly_once_v2"
VALUES = [f"value {number}" for number in range(300)]
MORE = [f"{'x' * 300} {number}" for number in range(1_500)]


@contextmanager
def full_disk(pid: int, directory: Path) -> Iterator[None]:
    """No file of a process grows beyond its states: the system refuses it as it does on a full disk."""
    limit = max(path.stat().st_size for path in directory.glob("**/data.mdb"))
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


def test_an_instance_waits_until_there_is_room(broker: Server, topic: CreateTopic, tmp_path: Path) -> None:
    source, target = topic(), topic()
    with members(Terms(0, application_id="full-disk"), broker, (source, target), tmp_path) as [one]:
        produce(broker.bootstrap, source, VALUES)
        wait_until(lambda: counts(broker.bootstrap, target, 1) == expected(VALUES))
        with full_disk(one.process.pid, tmp_path / "member0"):
            produce(broker.bootstrap, source, MORE)
            wait_until(lambda: "Free some space below state.dir" in one.output())
        wait_until(lambda: not unaccounted(VALUES + MORE, counts(broker.bootstrap, target, 1), EXACTLY_ONCE))
        [said, *_] = [line for line in one.output().splitlines() if "Free some space" in line]
        assert said.startswith("full-disk begins again from what is committed: the state cannot be written")
        assert one.process.poll() is None
