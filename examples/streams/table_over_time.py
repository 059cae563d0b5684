"""A table over time: a versioned store knows what each row was at any moment, and joins ask for the right one.

    time 0  put Key1 1.0      time 1  put Key2 2.0      time 2  put Key1 1.1

python examples/streams/table_over_time.py        needs no broker: a TopologyTestDriver runs it
"""

from ottla.streams import (
    Consumed,
    Joined,
    Materialized,
    Produced,
    Serdes,
    Stores,
    StreamsBuilder,
    Topology,
    TopologyTestDriver,
)

TEXT, NUMBER = Serdes.string(), Serdes.double()
DAY_MS = 86_400_000
PUTS = [("Key1", 1.0, 0), ("Key2", 2.0, 1), ("Key1", 1.1, 2)]


def topology() -> Topology:
    """`rows` (key → value) as a versioned table; `questions` (key → anything) get the value of their time."""
    builder = StreamsBuilder()
    history = Stores.persistent_versioned_key_value_store("rows", DAY_MS)
    rows = builder.table("rows", Consumed.with_(TEXT, NUMBER), Materialized.as_(history))
    questions = builder.stream("questions", Consumed.with_(TEXT, TEXT))
    answers = questions.left_join(
        rows, lambda question, value: f"{question}: {value}", Joined.with_(TEXT, TEXT, NUMBER)
    )
    answers.to("answers", Produced.with_(TEXT, TEXT))
    return builder.build()


def main() -> None:
    """The table at three times; then a question about the past, and a row that comes late."""
    with TopologyTestDriver(topology()) as driver:
        rows = driver.create_input_topic("rows", TEXT, NUMBER)
        for key, value, time in PUTS:
            rows.pipe_input(key, value, time)
        store = driver.get_versioned_key_value_store("rows")
        for time in (0, 1, 2):
            found = {key: store.get_version(key, time) for key in ("Key1", "Key2")}
            print(f"at {time}:", {key: one.value for key, one in found.items() if one is not None})
        questions = driver.create_input_topic("questions", TEXT, TEXT)
        questions.pipe_input("Key1", "what was it at 1", 1)
        # A correction of the past: the table of today stays.
        rows.pipe_input("Key1", 1.05, 1)
        questions.pipe_input("Key1", "what was it at 1", 1)
        questions.pipe_input("Key1", "what is it at 2", 2)
        for answer in driver.create_output_topic("answers", TEXT, TEXT).read_records_to_list():
            print(answer.value)


if __name__ == "__main__":
    main()
