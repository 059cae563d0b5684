"""A real node over real sockets answers what Apache Kafka 4.3.1 answered to the very same requests.

Where we do otherwise is listed in the unit test of the same name, which plays the same scenes without a network.
"""

from collections.abc import Iterator

import pytest

from ottla.broker.request.api_table import BROKER_SERVED
from tests.clients.server import OTTLA, start_server
from tests.integration.broker.data.performance import SCENES, create_topics, play
from tests.integration.broker.data.produce_script import Ids
from tests.integration.broker.data.wire import Wire
from tests.unit.broker.test_data_as_kafka import KAFKA, OTHERWISE, comparable

API_VERSIONS = "frame: versions"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Ids]]:
    server = start_server(OTTLA, tmp_path_factory.mktemp("node"))
    try:
        host, _, port = server.bootstrap.rpartition(":")
        wire = Wire(host, int(port))
        yield wire, create_topics(wire)
        wire.close()
    finally:
        server.stop()


@pytest.mark.parametrize("scene", [name for name in SCENES if name != API_VERSIONS])
def test_every_scene_sounds_alike(scene: str, stage: tuple[Wire, Ids]) -> None:
    heard = {line: comparable(said) for line, said in play(scene, *stage).items()}
    expected = {line: comparable(OTHERWISE.get((scene, line), said)) for line, said in KAFKA[scene].items()}
    assert heard == expected


def test_what_is_advertised_is_what_kafka_advertises_of_it(stage: tuple[Wire, Ids]) -> None:
    served = {api.name for api in BROKER_SERVED.served}
    expected = {
        line: said
        for line, said in KAFKA[API_VERSIONS].items()
        if not line.split()[1].isupper() or line.split()[1] in served
    }
    assert play(API_VERSIONS, *stage) == expected
