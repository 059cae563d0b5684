"""Mixed clusters end with the test that started them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.integration.mixed.cluster import MixedCluster
from tests.integration.mixed.member import Kind, Voters
from tests.kafka.peer import require_kafka

MakeCluster = Callable[[Mapping[int, Kind], Mapping[int, Kind], Voters], MixedCluster]


@pytest.fixture
def make_cluster(tmp_path: Path) -> Iterator[MakeCluster]:
    """Makes a cluster of controllers and brokers, not started yet."""
    require_kafka()
    made: list[MixedCluster] = []

    def make(controllers: Mapping[int, Kind], brokers: Mapping[int, Kind], voters: Voters) -> MixedCluster:
        made.append(MixedCluster(tmp_path, controllers, brokers, voters))
        return made[-1]

    yield make
    for cluster in made:
        cluster.kill()
