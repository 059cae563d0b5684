"""Where stores of the DSL lie, and stores that are filled from a topic for others to read."""

from typing import Any, Final

import pytest

from ottla.base.config import ConfigError
from ottla.streams import (
    Consumed,
    JoinWindows,
    Materialized,
    Processor,
    ProcessorContext,
    Record,
    Serdes,
    Stores,
    StoreType,
    StreamJoined,
    StreamsBuilder,
    Topology,
    TopologyTestDriver,
)

TEXT: Final = Serdes.string()


def persistent(builder: StreamsBuilder) -> dict[str, bool]:
    return {name: spec.persistent for name, spec in builder.build().stores.items()}


def many(config: dict[str, Any]) -> StreamsBuilder:
    """A store of each way: by default, by its type, by its supplier."""
    builder = StreamsBuilder(config)
    grouped = builder.stream("in", Consumed.with_(TEXT, TEXT)).group_by_key()
    grouped.count(materialized_as=Materialized.as_("default"))
    typed: Materialized[str, int] = Materialized.as_("typed")
    grouped.count(materialized_as=typed.with_store_type(StoreType.IN_MEMORY))
    grouped.count(materialized_as=Materialized.as_(Stores.persistent_key_value_store("supplied")))
    return builder


def test_a_store_is_of_its_own_type_or_of_that_of_all() -> None:
    assert persistent(many({})) == {"default": True, "typed": False, "supplied": True}
    for config in ({"dsl.store.suppliers.class": StoreType.IN_MEMORY}, {"default.dsl.store": "in_memory"}):
        assert persistent(many(config)) == {"default": False, "typed": False, "supplied": True}
    with pytest.raises(ConfigError, match="one of rocksDB, in_memory"):
        StreamsBuilder({"dsl.store.suppliers.class": "redis"})


def test_a_supplier_has_its_type_already() -> None:
    given: Materialized[str, int] = Materialized.as_(Stores.persistent_key_value_store("supplied"))
    with pytest.raises(ValueError, match=r"Cannot set store type when store supplier is pre-configured\."):
        given.with_store_type(StoreType.IN_MEMORY)
    assert Materialized.as_(StoreType.IN_MEMORY).store_name is None


@pytest.mark.parametrize("in_memory", [False, True])
def test_the_stores_of_a_stream_join_have_a_type(in_memory: bool) -> None:
    builder = StreamsBuilder()
    left, right = (builder.stream(topic, Consumed.with_(TEXT, TEXT)) for topic in ("left", "right"))
    joined: StreamJoined[str, str] = StreamJoined.with_(TEXT, TEXT, TEXT)
    if in_memory:
        joined = joined.with_dsl_store_suppliers(StoreType.IN_MEMORY)
    windows = JoinWindows.of_time_difference_with_no_grace(5)
    left.left_join(right, lambda one, two: f"{one}+{two}", windows, joined)
    assert list(persistent(builder).values()) == [not in_memory] * 3


class Keeping(Processor[str, str, str, str]):
    def init(self, context: ProcessorContext[str, str]) -> None:
        self._store = context.get_state_store("names")

    def process(self, record: Record[str, str]) -> None:
        self._store.put(record.key, record.value)


class Naming(Keeping):
    def init(self, context: ProcessorContext[str, str]) -> None:
        super().init(context)
        self.context = context

    def process(self, record: Record[str, str]) -> None:
        self.context.forward(record.with_value(f"{self._store.get(record.key)}: {record.value}"))


def test_a_read_only_store_is_filled_by_its_own_processor() -> None:
    topology = Topology()
    names = Stores.key_value_store_builder(Stores.persistent_key_value_store("names"), TEXT, TEXT)
    topology.add_read_only_state_store(names, "source", "names", "keeping", Keeping, key_serde=TEXT, value_serde=TEXT)
    topology.add_source("words", "in", key_serde=TEXT, value_serde=TEXT).add_processor("naming", Naming, "words")
    topology.connect_processor_and_state_stores("naming", "names").add_sink(
        "sink", "out", "naming", key_serde=TEXT, value_serde=TEXT
    )
    assert len(topology.sub_topologies()) == 1
    assert "Processor: keeping (stores: [names])\n      --> none\n      <-- source" in topology.describe()
    with TopologyTestDriver(topology) as driver:
        driver.create_input_topic("names", TEXT, TEXT).pipe_input("a", "Ann")
        driver.create_input_topic("in", TEXT, TEXT).pipe_input("a", "hello")
        assert driver.create_output_topic("out", TEXT, TEXT).read_values_to_list() == ["Ann: hello"]
