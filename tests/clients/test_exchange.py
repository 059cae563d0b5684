"""What one client writes, every other reads: records that are easy to get wrong, in every codec.

The server passes batches through, so this shows that what the strictest decoder refuses never gets in, and that what
the laxest encoder writes comes out.
"""

import pytest

from tests.clients.client import aio, confluent, kafka_python
from tests.clients.record import CODECS, tricky_records
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client("Python clients among themselves")
CLIENTS = {"confluent-kafka": confluent, "kafka-python": kafka_python, "aiokafka": aio}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("writer", CLIENTS)
def test_what_one_writes_all_read(server: Server, topic: str, writer: str, codec: str) -> None:
    """null and empty keys and values, headers, timestamps, 300 KB values: written by one client, read by all"""
    records = [record for record in tricky_records() if writer != "kafka-python" or kafka_python.can_write(record)]
    create(server, topic)
    codec_setting = {"compression_codec": codec} if writer == "confluent-kafka" else {"codec": codec}
    CLIENTS[writer].write(server.bootstrap, topic, records, **codec_setting)
    for reader, client in CLIENTS.items():
        assert client.read(server.bootstrap, topic, len(records)) == records, f"as {reader} reads them"
