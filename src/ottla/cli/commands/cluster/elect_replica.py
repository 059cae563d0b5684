"""`ottla elect`: the replicas of a partition, what each would lose as its leader, and the election of the best."""

import argparse
import asyncio

from ottla.base.errors import OttlaError
from ottla.cli.commands.cluster.elect_choice import Candidate, best_of, loss_of, order_of
from ottla.cli.commands.topics.name import described
from ottla.cli.output.advice import CommandError, advised
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import bytes_text, counted
from ottla.cli.output.style import Style, Text, Tone, Toned
from ottla.cli.output.table import table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.replica import ElectionType
from ottla.client.admin.value.topic import PartitionDescription
from ottla.client.record import TopicPartition


async def elect(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints the choices; 1 if the partition is without a leader and nothing was done about it."""
    place = _partition_of(options.partition)
    partition = await _described(admin, place)
    candidates = await _candidates(admin, place, partition)
    best = best_of(candidates)
    if options.json:
        print_document(_document(place, partition, candidates, best))
    else:
        print(_table(candidates, best, Style.of()))
    if partition.leader is not None:
        _say(options, f"{place} is led by broker {partition.leader}: there is nothing to elect.")
        return 0
    if best is None:
        raise CommandError(f"no broker that holds {place} answers: start one of {_named(partition.replicas)} first")
    if not options.execute:
        _say(options, _advice(place, best, candidates))
        return 1
    return await _execute(admin, options, partition, best)


async def _execute(
    admin: AsyncAdmin, options: argparse.Namespace, partition: PartitionDescription, best: Candidate
) -> int:
    place = _partition_of(options.partition)
    order = order_of(best, partition.replicas)
    if order != list(partition.replicas):
        await admin.alter_partition_reassignments({place: order})
    await admin.elect_leaders(ElectionType.UNCLEAN, [place])
    after = await _described(admin, place)
    _say(options, f"{place} is led by broker {after.leader} now, in leader epoch {after.leader_epoch}.")
    return 0 if after.leader == best.broker else 1


def _partition_of(text: str) -> TopicPartition:
    topic, _, number = text.rpartition(":")
    if not topic or not number.isdecimal():
        raise CommandError(f"{text}: name a partition as TOPIC:PARTITION, for example orders:0")
    return TopicPartition(topic, int(number))


async def _described(admin: AsyncAdmin, place: TopicPartition) -> PartitionDescription:
    topic = (await described(admin, [place.topic]))[place.topic]
    for partition in topic.partitions:
        if partition.partition == place.partition:
            return partition
    raise CommandError(f"{place.topic} has {counted(len(topic.partitions), 'partition')}, counted from 0")


async def _candidates(admin: AsyncAdmin, place: TopicPartition, partition: PartitionDescription) -> list[Candidate]:
    return list(await asyncio.gather(*(_candidate(admin, place, partition, broker) for broker in partition.replicas)))


async def _candidate(
    admin: AsyncAdmin, place: TopicPartition, partition: PartitionDescription, broker: int
) -> Candidate:
    # With eligible leader replicas the last of the ISR moves on to that list when its broker goes away (KIP-966).
    in_sync = broker in {*partition.isr, *(partition.elr or ()), *(partition.last_known_elr or ())}
    if broker in partition.offline_replicas:
        return Candidate(broker, in_sync, None, None, None, "down")
    try:
        end = await admin.replica_end(place, broker)
        size_bytes = await _size_bytes(admin, place, broker)
    except OttlaError as error:
        return Candidate(broker, in_sync, None, None, None, advised(error))
    return Candidate(broker, in_sync, end.offset, end.leader_epoch, size_bytes)


async def _size_bytes(admin: AsyncAdmin, place: TopicPartition, broker: int) -> int | None:
    directories = (await admin.describe_log_dirs([broker]))[broker]
    found = [
        replica.size_bytes
        for directory in directories.values()
        for held, replica in directory.replicas.items()
        if held == place and not replica.is_future
    ]
    return sum(found) if found else None


def _table(candidates: list[Candidate], best: Candidate | None, style: Style) -> str:
    heads = ["Broker", "State", "Was in sync", "Log end", "Last epoch", "Size", "Would lose"]
    return table(heads, [_row(candidate, candidates, is_best=candidate is best) for candidate in candidates], style)


def _row(candidate: Candidate, candidates: list[Candidate], *, is_best: bool) -> list[object]:
    broker: object = Toned(f"{candidate.broker} ←", Tone.STRONG) if is_best else candidate.broker
    in_sync = "yes" if candidate.in_sync else "no"
    if not candidate.is_live:
        return [broker, Toned(candidate.problem, Tone.BAD), in_sync, None, None, None, None]
    size = None if candidate.size_bytes is None else bytes_text(candidate.size_bytes)
    state = Toned("up", Tone.GOOD)
    return [broker, state, in_sync, candidate.end_offset, candidate.last_epoch, size, _loss_text(candidate, candidates)]


def _loss_text(candidate: Candidate, candidates: list[Candidate]) -> Text:
    loss = loss_of(candidate, candidates)
    text = counted(loss.records, "record") if loss.records else "nothing"
    if not loss.is_certain:
        text = f"at least {text}" if loss.records else "nothing, or where the logs part"
    return Toned(text, Tone.BAD) if loss.records else Toned(text, Tone.GOOD)


def _advice(place: TopicPartition, best: Candidate, candidates: list[Candidate]) -> str:
    away = [str(candidate.broker) for candidate in candidates if candidate.in_sync and not candidate.is_live]
    lines = [f"{place} has no leader. Of the replicas that are there broker {best.broker} knows most."]
    if away:
        were = f"Broker {away[0]} was" if len(away) == 1 else f"Brokers {', '.join(away)} were"
        lines.append(
            f"{were} in sync and may hold acknowledged records that no live replica has: bring it back if it can be."
        )
    lines.append(f"To elect broker {best.broker}: ottla elect {place.topic}:{place.partition} --execute")
    return "\n".join(lines)


def _document(
    place: TopicPartition, partition: PartitionDescription, candidates: list[Candidate], best: Candidate | None
) -> dict[str, object]:
    return {
        "partition": str(place),
        "leader": partition.leader,
        "best": None if best is None else best.broker,
        "replicas": [
            {
                **candidate._asdict(),
                "would_lose": loss_of(candidate, candidates)._asdict() if candidate.is_live else None,
            }
            for candidate in candidates
        ],
    }


def _named(brokers: tuple[int, ...]) -> str:
    return ", ".join(map(str, brokers))


def _say(options: argparse.Namespace, text: str) -> None:
    """For people; what programs read is JSON alone."""
    if not options.json:
        print(f"\n{text}")
