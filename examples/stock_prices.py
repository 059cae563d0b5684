"""Stock prices: an interceptor that stamps each record, a partitioner with settings of its own, metrics at the end."""

import random
import sys
import time
from typing import ClassVar

from ottla.base.config import ConfigKey
from ottla.base.config_type import ConfigType
from ottla.client import Admin, Consumer, NewTopic, Producer, ProducerRecord

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
# A topic of its own for every run, which so begins with nothing in it.
TOPIC = f"stock-prices-{time.time_ns()}"
STOCKS = ["Ara", "Bolt", "Cirrus", "Dune", "Ember", "Fjord"]


class Stamp:
    """Every record tells when and by whom it was sent; and the acknowledged ones are counted."""

    def __init__(self) -> None:
        self.acknowledged = 0

    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        headers = [*record.headers, ("sent-by", b"exchange"), ("sent-at", str(time.time()).encode())]
        return record._replace(headers=headers)

    def on_acknowledgement(self, metadata, error) -> None:
        self.acknowledged += error is None


class HotStocks:
    """The stocks that trade most have partitions of their own; `hot.stocks` says which."""

    config_keys: ClassVar = [ConfigKey("hot.stocks", ConfigType.LIST, [], doc="Stocks, each with a partition.")]

    def configure(self, settings) -> None:
        self._hot = list(settings.list("hot.stocks"))

    def partition(self, topic, key, key_bytes, value, value_bytes, view) -> int:
        if key in self._hot:
            return self._hot.index(key)
        others = len(view.topics[topic].partitions) - len(self._hot)
        return len(self._hot) + sum(key_bytes) % others


stamp = Stamp()
with Admin(bootstrap_servers=BROKER) as admin:
    admin.create_topics([NewTopic(TOPIC, partitions=4)])
with Producer(
    {
        "bootstrap.servers": BROKER,
        "key.serializer": "string",
        "value.serializer": "json",
        "partitioner.class": HotStocks,
        "hot.stocks": "Ara,Bolt",
        "interceptor.classes": [stamp],
        "compression.type": "zstd",
        "linger.ms": 10,
    }
) as producer:
    dice = random.Random(1)
    for _ in range(600):
        stock = dice.choice(STOCKS)
        producer.send(TOPIC, key=stock, value={"stock": stock, "price": round(dice.uniform(5, 300), 2)})
    producer.flush()
    sent = {name.name: value for name, value in producer.metrics().items() if name.group == "producer-metrics"}

with Consumer(
    bootstrap_servers=BROKER,
    group_id="chart",
    auto_offset_reset="earliest",
    key_deserializer="string",
    value_deserializer="json",
) as consumer:
    consumer.subscribe([TOPIC])
    by_partition: dict[int, set[str]] = {}
    seen = 0
    while seen < 600:
        for record in consumer.poll(1):
            seen += 1
            by_partition.setdefault(record.partition, set()).add(record.key)
            assert dict(record.headers)["sent-by"] == b"exchange"

print(f"{stamp.acknowledged} acknowledged; records per request: {sent['records-per-request-avg']:.0f}")
for partition, stocks in sorted(by_partition.items()):
    print(f"partition {partition}: {', '.join(sorted(stocks))}")
assert by_partition[0] == {"Ara"}
