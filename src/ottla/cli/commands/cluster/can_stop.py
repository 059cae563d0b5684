"""`ottla cluster can-stop`: asks a cluster what would become of it without some brokers, and says yes or no."""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from ottla.cli.commands.cluster.state import min_isrs, quorum_info
from ottla.cli.commands.cluster.stop import Consequence, Holding, Quorum, consequence
from ottla.cli.commands.cluster.view import named
from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import counted
from ottla.cli.output.style import Style, Text, Tone, Toned
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.cluster import QuorumInfo
from ottla.client.admin.value.topic import TopicDescription
from ottla.client.record import TopicPartition

_LIVE_MS: Final = 10_000
"""A voter that was caught up so recently, counted from the one that was last, is there."""


async def can_stop(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints what would happen; 0 if the brokers can be stopped, else 1."""
    stopped = sorted(set(options.brokers))
    if not stopped:
        raise CommandError("name the broker: ottla cluster can-stop ID")
    cluster, names, info = await asyncio.gather(
        admin.describe_cluster(include_fenced_brokers=True),
        admin.list_topics(include_internal=True),
        quorum_info(admin),
    )
    known = {node.id: node.is_fenced for node in cluster.nodes}
    quorum = None if info is None else _quorum(info)
    for broker in stopped:
        if broker not in known and (quorum is None or broker not in quorum.voters):
            raise CommandError(f"there is no broker {broker}; the cluster has {', '.join(map(str, sorted(known)))}")
    topics = await admin.describe_topics(names)
    touched = [name for name, topic in topics.items() if any(set(part.isr) & set(stopped) for part in topic.partitions)]
    found = consequence(stopped, _holdings(topics, touched, await min_isrs(admin, touched)), quorum)
    if options.json:
        print_document(_document(stopped, found))
    else:
        away = [broker for broker in stopped if known.get(broker)]
        style = Style.of()
        print("\n".join(style.paint(line) for line in _lines(stopped, found, quorum, away)))
    return 0 if found.is_harmless else 1


def _holdings(
    topics: Mapping[str, TopicDescription], names: Sequence[str], minimums: Mapping[str, int]
) -> list[Holding]:
    return [
        Holding(TopicPartition(name, part.partition), part.leader, part.replicas, part.isr, minimums.get(name, 1))
        for name in names
        for part in topics[name].partitions
    ]


def _quorum(info: QuorumInfo) -> Quorum:
    seen = {voter.replica_id: voter.last_caught_up_timestamp or 0 for voter in info.voters}
    newest = max(seen.values(), default=0)
    live = {voter for voter, at_ms in seen.items() if newest - at_ms < _LIVE_MS} | {info.leader_id}
    return Quorum(frozenset(seen), frozenset(live))


def _lines(stopped: Sequence[int], found: Consequence, quorum: Quorum | None, fenced: Sequence[int]) -> list[Text]:
    noun = "broker" if len(stopped) == 1 else "brokers"
    who = f"{noun} {' and '.join(map(str, stopped))}"
    if found.is_harmless:
        lines: list[Text] = [Toned(f"✓ {who} can be stopped", Tone.GOOD)]
        if fenced and fenced == stopped:
            return [
                *lines,
                f"  {'it is' if len(stopped) == 1 else 'they are'} fenced: nothing is served from there now",
            ]
        return [*lines, *_moves(found)]
    lines = [Toned(f"✗ {who} can't be stopped without harm", Tone.BAD)]
    if found.offline:
        lines.append(
            f"  {counted(len(found.offline), 'partition')} would have no leader, since no other replica is in sync: "
            f"{named(found.offline)}"
        )
    if found.under_min_isr:
        lines.append(
            f"  {counted(len(found.under_min_isr), 'partition')} would have fewer in sync than min.insync.replicas, "
            f"acks=all would be refused: {named(found.under_min_isr)}"
        )
    if found.quorum_left is not None and quorum is not None:
        lines.append(
            f"  the metadata quorum would have {found.quorum_left} of {len(quorum.voters)} voters, and needs "
            f"{quorum.majority}: no topic, leader or member could change"
        )
    return [*lines, *_moves(found), *_advice(found)]


def _moves(found: Consequence) -> list[Text]:
    lines: list[Text] = []
    if found.moved_leaders:
        lines.append(f"  {counted(found.moved_leaders, 'leadership')} would move to other brokers")
    if found.under_replicated:
        lines.append(f"  {counted(found.under_replicated, 'partition')} would be under-replicated until it is back")
    return lines


def _advice(found: Consequence) -> list[Text]:
    if found.offline or found.under_min_isr:
        return ["  → wait until more replicas are in sync (ottla cluster), or move or add replicas first "
                "(kafka-reassign-partitions)"]  # fmt: skip
    return ["  → bring other controllers back first (ottla cluster shows who is behind)"]


def _document(stopped: Sequence[int], found: Consequence) -> dict[str, object]:
    return {
        "brokers": stopped,
        "can_stop": found.is_harmless,
        "offline": [str(partition) for partition in found.offline],
        "under_min_isr": [str(partition) for partition in found.under_min_isr],
        "moved_leaders": found.moved_leaders,
        "under_replicated": found.under_replicated,
        "quorum_left": found.quorum_left,
    }
