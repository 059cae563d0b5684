"""`ottla cluster`: the state of a cluster on a screen, or as JSON."""

import argparse
from collections.abc import Sequence
from typing import Final

from ottla.cli.commands.cluster.state import BrokerState, ClusterState, Trouble, cluster_state
from ottla.cli.output.document import print_document
from ottla.cli.output.quantity import bytes_text, counted, duration_text
from ottla.cli.output.style import Style, Text, Tone, Toned
from ottla.cli.output.table import table
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.cluster import QuorumInfo, QuorumReplica
from ottla.client.record import TopicPartition

_NAMED_MAX: Final = 5


async def show(admin: AsyncAdmin, options: argparse.Namespace) -> int:
    """Prints the state; 1 if something is wrong and the user wants to know by the exit code."""
    state = await cluster_state(admin)
    if options.json:
        print_document(_document(state))
    else:
        print(_text(state, Style.of()))
    return 1 if options.check and not _is_well(state) else 0


def _is_well(state: ClusterState) -> bool:
    is_fenced = any(broker.node.is_fenced or broker.failed_dirs for broker in state.brokers)
    return state.trouble.is_none and not is_fenced


def _text(state: ClusterState, style: Style) -> str:
    counts = ", ".join(
        [
            counted(len(state.brokers), "broker"),
            counted(state.topics, "topic"),
            counted(state.partitions, "partition"),
        ]
    )
    lines = [f"Cluster {style.paint(state.description.cluster_id, Tone.NAME)}  {counts}"]
    if state.features is not None:
        levels = ", ".join(f"{name} {level.highest}" for name, level in sorted(state.features.finalized.items()))
        lines.append(style.paint(levels, Tone.FAINT))
    lines += ["", table(["Broker", "Address", "Rack", "State", "Leads", "Holds", "Data", "Disk free"],
                        [_broker_row(broker) for broker in state.brokers], style)]  # fmt: skip
    if state.quorum is not None:
        lines += ["", _quorum_text(state.quorum, style)]
    return "\n".join([*lines, "", *(style.paint(line) for line in _health(state))])


def _broker_row(broker: BrokerState) -> list[object]:
    node = broker.node
    is_well = not node.is_fenced and not broker.failed_dirs
    state = Toned("up", Tone.GOOD) if is_well else Toned("fenced" if node.is_fenced else "disk failed", Tone.BAD)
    return [
        node.id,
        f"{node.host}:{node.port}",
        node.rack,
        state,
        broker.leaders,
        broker.replicas,
        None if broker.size_bytes is None else bytes_text(broker.size_bytes),
        _free(broker),
    ]


def _free(broker: BrokerState) -> Text | None:
    if broker.usable_bytes is None or not broker.total_bytes:
        return None
    share = broker.usable_bytes / broker.total_bytes
    text = f"{bytes_text(broker.usable_bytes)} ({share:.0%})"
    return Toned(text, Tone.BAD) if share < 0.05 else Toned(text, Tone.WARN) if share < 0.15 else text


def _quorum_text(quorum: QuorumInfo, style: Style) -> str:
    end = max(replica.log_end_offset for replica in (*quorum.voters, *quorum.observers))
    newest = max((replica.last_caught_up_timestamp or 0 for replica in quorum.voters), default=0)
    kinds = [(replica, "leader" if replica.replica_id == quorum.leader_id else "voter") for replica in quorum.voters]
    kinds += [(replica, "observer") for replica in quorum.observers]
    rows = [_replica_row(replica, kind, end, newest) for replica, kind in kinds]
    head = f"Quorum  leader {quorum.leader_id}, epoch {quorum.leader_epoch}, committed to {quorum.high_watermark:,}"
    return head + "\n" + table(["Node", "Role", "Log end", "Behind", "Caught up"], rows, style)


def _replica_row(replica: QuorumReplica, kind: str, end: int, newest_ms: int) -> list[object]:
    seen = replica.last_caught_up_timestamp
    ago = None if seen is None else max(0.0, (newest_ms - seen) / 1000)
    return [
        replica.replica_id,
        Toned(kind, Tone.STRONG) if kind == "leader" else kind,
        replica.log_end_offset,
        end - replica.log_end_offset,
        None if ago is None else "now" if ago < 1 else f"{duration_text(ago)} ago",
    ]


def _health(state: ClusterState) -> list[Text]:
    trouble = state.trouble
    lines: list[Text] = []
    for partitions, words, tone in (
        (trouble.offline, "offline: no reads and no writes; start the brokers that hold", Tone.BAD),
        (trouble.under_min_isr, "with too few replicas in sync: acks=all is refused for", Tone.BAD),
        (trouble.under_replicated, "under-replicated: a broker is down or slow for", Tone.WARN),
    ):
        if partitions:
            found = f"✗ {counted(len(partitions), 'partition')} {words} {named(partitions)}"
            lines.append(Toned(found, tone))
    lines += [
        Toned(f"✗ broker {broker.node.id} is fenced: it does not send heartbeats; is its process running?", Tone.BAD)
        for broker in state.brokers
        if broker.node.is_fenced
    ]
    lines += [
        Toned(f"✗ broker {broker.node.id} has lost {counted(broker.failed_dirs, 'disk')}", Tone.BAD)
        for broker in state.brokers
        if broker.failed_dirs
    ]
    return lines or [Toned("✓ all partitions are online and in sync", Tone.GOOD)]


def named(partitions: Sequence[TopicPartition]) -> str:
    """The first few by name, and how many more there are."""
    shown = ", ".join(map(str, partitions[:_NAMED_MAX]))
    return shown + (f" and {len(partitions) - _NAMED_MAX} more" if len(partitions) > _NAMED_MAX else "")


def _document(state: ClusterState) -> dict[str, object]:
    return {
        "cluster_id": state.description.cluster_id,
        "healthy": _is_well(state),
        "topics": state.topics,
        "partitions": state.partitions,
        **_trouble_document(state.trouble),
        "features": None
        if state.features is None
        else {name: level.highest for name, level in state.features.finalized.items()},
        "brokers": [
            {**broker.node._asdict(), **{name: getattr(broker, name) for name in BrokerState._fields[1:]}}
            for broker in state.brokers
        ],
        "quorum": None if state.quorum is None else _quorum_document(state.quorum),
    }


def _trouble_document(trouble: Trouble) -> dict[str, object]:
    return {name: [str(partition) for partition in getattr(trouble, name)] for name in Trouble._fields}


def _quorum_document(quorum: QuorumInfo) -> dict[str, object]:
    return {
        "leader_id": quorum.leader_id,
        "leader_epoch": quorum.leader_epoch,
        "high_watermark": quorum.high_watermark,
        "voters": [replica._asdict() for replica in quorum.voters],
        "observers": [replica._asdict() for replica in quorum.observers],
    }
