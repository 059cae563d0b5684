"""TV minutes: how long each customer has watched which channel, and where to they went: a state machine for each.

A set-top box reports when it is tuned to a channel, every now and then that it is on, and (mostly) when it is switched
off. The processor keeps what each customer watches, a million of them if need be. A session that ended leaves the
state. One that only fell silent is ended by a punctuation: a second store has the customers in the order of their
last reports, so that the punctuation sees those that are due and no others.

    off ──tune──▶ watching ──tune──▶ watching another: what was watched so far leaves
     ▲                │
     └──off, silence──┘

python examples/streams/tv_minutes.py        needs no broker: a TopologyTestDriver runs it
"""

from typing import NotRequired, TypedDict

from ottla.streams import (
    Consumed,
    Grouped,
    Materialized,
    Processor,
    ProcessorContext,
    Produced,
    PunctuationType,
    Record,
    Serde,
    Serdes,
    Stores,
    StreamsBuilder,
    Topology,
    TopologyTestDriver,
)

TEXT, NUMBER = Serdes.string(), Serdes.long()
MINUTE_MS = 60_000
SILENCE_MS = 30 * MINUTE_MS
"""A box that says nothing for so long is off: since its last report."""


class Report(TypedDict):
    """What a box says: `tune` with a channel, `on`, or `off`."""

    event: str
    channel: NotRequired[str]


class Watching(TypedDict):
    """What a customer is watching: since when, and until when that is known."""

    channel: str
    since: int
    seen: int


class Watched(TypedDict):
    """What a customer has watched, and what came next: a channel or nothing."""

    channel: str
    minutes: int
    next: str | None


REPORT: Serde[Report] = Serdes.json()
WATCHING: Serde[Watching] = Serdes.json()
WATCHED: Serde[Watched] = Serdes.json()


class TvMinutes(Processor[str, Report, str, Watched]):
    """The state machine of all customers of a partition."""

    def init(self, context: ProcessorContext[str, Watched]) -> None:
        super().init(context)
        self._watching = context.get_state_store("watching")
        self._silent = context.get_state_store("silent")
        context.schedule(MINUTE_MS, PunctuationType.STREAM_TIME, self._end_silent)

    def process(self, record: Record[str, Report]) -> None:
        """One report of one box."""
        customer, event = record.key, record.value["event"]
        state: Watching | None = self._watching.get(customer)
        channel = record.value.get("channel") if event == "tune" else None
        if state is not None and event in ("tune", "off") and channel != state["channel"]:
            self._leave(customer, state, record.timestamp, channel)
            state = None
        if state is None and channel is not None:
            state = {"channel": channel, "since": record.timestamp, "seen": record.timestamp}
        if state is not None:
            self._keep(customer, state, record.timestamp)

    def _keep(self, customer: str, state: Watching, now: int) -> None:
        self._silent.delete(silence_key(state["seen"], customer))
        seen = max(state["seen"], now)
        self._watching.put(customer, {**state, "seen": seen})
        self._silent.put(silence_key(seen, customer), customer)

    def _leave(self, customer: str, state: Watching, now: int, following: str | None) -> None:
        self._watching.delete(customer)
        self._silent.delete(silence_key(state["seen"], customer))
        end = max(now, state["since"])
        minutes = (end - state["since"]) // MINUTE_MS
        watched: Watched = {"channel": state["channel"], "minutes": minutes, "next": following}
        self.context.forward(Record(customer, watched, end))

    def _end_silent(self, now: int) -> None:
        """Ends the sessions whose boxes have been silent for too long."""
        due = self._silent.range(None, silence_key(max(now - SILENCE_MS, 0), ""))
        for customer in [customer for _, customer in due]:
            state: Watching = self._watching.get(customer)
            self._leave(customer, state, state["seen"], None)


def silence_key(seen: int, customer: str) -> str:
    """Sorts by time, then by customer."""
    return f"{seen:015d} {customer}"


def topology() -> Topology:
    """`reports` (customer → report) to `watched`, and the sum of each customer and channel to `minutes`."""
    builder = StreamsBuilder()
    watching, silent = (Stores.persistent_key_value_store(name) for name in ("watching", "silent"))
    builder.add_state_store(Stores.key_value_store_builder(watching, TEXT, WATCHING))
    builder.add_state_store(Stores.key_value_store_builder(silent, TEXT, TEXT))
    reports = builder.stream("reports", Consumed.with_(TEXT, REPORT))
    watched = reports.process(TvMinutes, stores=["watching", "silent"])
    watched.to("watched", Produced.with_(TEXT, WATCHED))
    minutes = watched.group_by(
        lambda customer, one: f"{customer}/{one['channel']}", Grouped.with_(TEXT, WATCHED)
    ).aggregate(
        lambda: 0, lambda key, one, total: total + one["minutes"], materialized_as=Materialized.with_(TEXT, NUMBER)
    )
    minutes.to_stream().to("minutes", Produced.with_(TEXT, NUMBER))
    return builder.build()


def main() -> None:
    """An evening of three customers."""
    evening: list[tuple[str, Report, int]] = [
        ("ann", {"event": "tune", "channel": "news"}, 0),
        ("bob", {"event": "tune", "channel": "sport"}, 0),
        ("ann", {"event": "tune", "channel": "film"}, 15),
        ("eve", {"event": "tune", "channel": "news"}, 20),
        ("bob", {"event": "on"}, 25),
        ("ann", {"event": "tune", "channel": "news"}, 45),
        ("ann", {"event": "off"}, 50),
        ("eve", {"event": "on"}, 50),
        # From here on Bob has been silent for too long: he left after minute 25.
        ("eve", {"event": "on"}, 60),
    ]
    with TopologyTestDriver(topology()) as driver:
        reports = driver.create_input_topic("reports", TEXT, REPORT)
        for customer, report, minute in evening:
            reports.pipe_input(customer, report, minute * MINUTE_MS)
        for customer, one in driver.create_output_topic("watched", TEXT, WATCHED).read_key_values_to_list():
            print(f"{customer} watched {one['channel']} for {one['minutes']} minutes, then {one['next'] or 'nothing'}")
        print(driver.create_output_topic("minutes", TEXT, NUMBER).read_key_values_to_map())
        print("still watching:", [customer for customer, _ in driver.get_key_value_store("watching").all()])


if __name__ == "__main__":
    main()
