"""Which topics and partitions are meant on a command line; one that does not exist is answered with the nearest."""

import difflib
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ottla.cli.output.advice import CommandError
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.topic import TopicDescription
from ottla.client.record import TopicPartition


class TopicPart(NamedTuple):
    """A topic, or some of its partitions; None means all."""

    topic: str
    partitions: tuple[int, ...] | None = None


def parse_part(text: str) -> TopicPart:
    """The topic and partitions that `orders`, `orders:0` or `orders:0,2-4` stands for.

    >>> parse_part("orders:0,2-4")
    TopicPart(topic='orders', partitions=(0, 2, 3, 4))
    """
    topic, found, listed = text.partition(":")
    if not found:
        return TopicPart(topic)
    numbers: list[int] = []
    for item in listed.split(","):
        first, _, last = item.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()) or item.endswith("-"):
            raise CommandError(f"{text}: partitions are numbers such as {topic}:0 or {topic}:0,2-4")
        numbers += range(int(first), int(last or first) + 1)
    return TopicPart(topic, tuple(dict.fromkeys(numbers)))


async def described(admin: AsyncAdmin, names: Iterable[str]) -> dict[str, TopicDescription]:
    """Topics by name, in the order given. Raises `CommandError` for one that does not exist."""
    wanted = list(dict.fromkeys(names))
    known = await admin.list_topics(include_internal=True)
    for name in wanted:
        if name not in known:
            raise CommandError(no_topic(name, known))
    found = await admin.describe_topics(wanted)
    return {name: found[name] for name in wanted}


def no_topic(name: str, known: Collection[str]) -> str:
    """Says that a topic does not exist, and which may have been meant.

    >>> no_topic("ordrs", ["orders", "users"])
    'there is no topic ordrs; did you mean orders?'
    """
    near = difflib.get_close_matches(name, known, n=1)
    return f"there is no topic {name}; " + (f"did you mean {near[0]}?" if near else "`ottla topics list` shows them")


async def chosen_partitions(admin: AsyncAdmin, parts: Iterable[TopicPart]) -> list[TopicPartition]:
    """The partitions that are meant, sorted. Raises `CommandError` for what does not exist."""
    wanted = list(parts)
    topics = await described(admin, (part.topic for part in wanted))
    found: set[TopicPartition] = set()
    for topic, numbers in wanted:
        existing = [info.partition for info in topics[topic].partitions]
        for number in existing if numbers is None else numbers:
            if number not in existing:
                numbered = "its only partition is 0" if len(existing) == 1 else f"they are 0 to {existing[-1]}"
                raise CommandError(f"{topic} has no partition {number}: {numbered}")
            found.add(TopicPartition(topic, number))
    return sorted(found)
