"""A timestamped store that a processor asks for: values with their times."""

from ottla.streams import (
    Consumed,
    Processor,
    ProcessorContext,
    Record,
    Serdes,
    Stores,
    StreamsBuilder,
    TopologyTestDriver,
)

TEXT = Serdes.string()


class Remember(Processor[str, str | None, None, None]):
    """Keeps the latest value by time, not by order; None forgets it."""

    def init(self, context: ProcessorContext[None, None]) -> None:
        super().init(context)
        self._store = context.get_state_store("latest")

    def process(self, record: Record[str, str | None]) -> None:
        found = self._store.get_with_timestamp(record.key)
        if record.value is None:
            self._store.delete(record.key)
        elif found is None or found[1] <= record.timestamp:
            self._store.put(record.key, record.value, record.timestamp)


def test_a_processor_keeps_values_with_their_times() -> None:
    builder = StreamsBuilder()
    supplier = Stores.persistent_timestamped_key_value_store("latest")
    builder.add_state_store(Stores.timestamped_key_value_store_builder(supplier, TEXT, TEXT))
    builder.stream("in", Consumed.with_(TEXT, TEXT)).process(Remember, stores=["latest"])
    with TopologyTestDriver(builder.build()) as driver:
        source = driver.create_input_topic("in", TEXT, TEXT)
        for key, value, timestamp in [("a", "new", 9), ("a", "old", 5), ("b", "x", 1), ("b", None, 10)]:
            source.pipe_input(key, value, timestamp)
        assert list(driver.get_key_value_store("latest").all()) == [("a", "new")]
        assert driver.get_timestamped_key_value_store("latest").get("a") == ("new", 9)
        logged = [(change.key, change.value, change.timestamp) for change in driver.changelog("latest")]
        assert logged == [(b"a", b"new", 9), (b"b", b"x", 1), (b"b", None, 10)]
