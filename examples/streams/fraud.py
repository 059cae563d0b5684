"""Fraud by session: card payments in sessions of activity; one that looks wrong raises an alert while it goes on.

A session of a card ends when nothing was paid for five minutes. Two countries, or more than 1,000 in one session, is
suspicious. Sessions that a late payment connects become one, and are looked at anew.

python examples/streams/fraud.py        needs no broker: a TopologyTestDriver runs it
"""

from typing import TypedDict

from ottla.streams import (
    Consumed,
    Grouped,
    Materialized,
    Produced,
    Serde,
    Serdes,
    SessionWindows,
    StreamsBuilder,
    Topology,
    TopologyTestDriver,
)

TEXT = Serdes.string()
MINUTE_MS = 60_000
LIMIT = 1_000


class Payment(TypedDict):
    """What was paid, and where."""

    amount: int
    country: str


class Session(TypedDict):
    """What a card did in one session."""

    payments: int
    amount: int
    countries: list[str]


PAYMENT: Serde[Payment] = Serdes.json()
SESSION: Serde[Session] = Serdes.json()


def start() -> Session:
    """Nothing yet."""
    return {"payments": 0, "amount": 0, "countries": []}


def add(card: str, payment: Payment, session: Session) -> Session:
    """One more payment."""
    one: Session = {"payments": 1, "amount": payment["amount"], "countries": [payment["country"]]}
    return merge(card, session, one)


def merge(card: str, one: Session, other: Session) -> Session:
    """Two sessions that turned out to be one."""
    return {
        "payments": one["payments"] + other["payments"],
        "amount": one["amount"] + other["amount"],
        "countries": sorted({*one["countries"], *other["countries"]}),
    }


def is_suspicious(session: Session) -> bool:
    """Whether somebody has to look at it."""
    return len(session["countries"]) > 1 or session["amount"] > LIMIT


def topology() -> Topology:
    """`payments` (card → payment) to `alerts` (card → session)."""
    builder = StreamsBuilder()
    payments = builder.stream("payments", Consumed.with_(TEXT, PAYMENT))
    sessions = (
        payments.group_by_key(Grouped.with_(TEXT, PAYMENT))
        .windowed_by(SessionWindows.of_inactivity_gap_and_grace(5 * MINUTE_MS, 5 * MINUTE_MS))
        .aggregate(start, add, merge, materialized_as=Materialized.with_(TEXT, SESSION))
    )
    # A session that grows is deleted under its old bounds: such a tombstone is no alert.
    alerts = sessions.to_stream(lambda window, session: window.key).filter(
        lambda card, session: session is not None and is_suspicious(session)
    )
    alerts.to("alerts", Produced.with_(TEXT, SESSION))
    return builder.build()


def main() -> None:
    """Three cards, and a payment that comes late."""
    with TopologyTestDriver(topology()) as driver:
        payments = driver.create_input_topic("payments", TEXT, PAYMENT)
        for card, amount, country, minute in [
            ("calm", 300, "CZ", 0),
            ("rich", 600, "CZ", 1),
            ("far", 20, "CZ", 2),
            ("rich", 600, "CZ", 3),
            ("calm", 900, "CZ", 9),
            ("far", 20, "BR", 11),
            ("far", 20, "FR", 7),
        ]:
            payments.pipe_input(card, {"amount": amount, "country": country}, minute * MINUTE_MS)
        for card, session in driver.create_output_topic("alerts", TEXT, SESSION).read_key_values_to_list():
            print(card, session["amount"], "+".join(session["countries"]))


if __name__ == "__main__":
    main()
