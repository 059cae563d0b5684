"""The doctor's checks of a cluster that answers: advertised addresses, versions, clocks, permissions, health."""

import ipaddress
import time
from collections.abc import Collection, Sequence
from typing import Final

from ottla.base.errors import OttlaError
from ottla.cli.commands.cluster.state import cluster_state
from ottla.cli.commands.doctor.finding import Finding, doubtful, fine, skipped, wrong
from ottla.cli.output.quantity import counted, duration_text
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.acl import AclOperation
from ottla.client.admin.value.cluster import ApiVersionRange
from ottla.client.cluster.address import Address
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type

_NEEDED: Final = (
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH,
    ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.CREATE_TOPICS, ApiKey.INIT_PRODUCER_ID,
)  # fmt: skip
_NEWER: Final = {
    ApiKey.CONSUMER_GROUP_HEARTBEAT: "group.protocol=consumer",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "topics in pages",
    ApiKey.DESCRIBE_QUORUM: "the quorum's state",
}
_SKEW_MAX_S: Final = 2.0


async def examine_advertised(cluster: ClusterClient, node_id: int, bootstrap: Address) -> Finding:
    """Whether the address that a broker advertises can be used from here: clients go there after the bootstrap."""
    broker = cluster.view.brokers[node_id]
    address = broker.address
    check = f"broker {node_id}"
    try:
        await cluster.connection(node_id)
    except OttlaError as error:
        reason = " ".join(str(error).split()).partition(" (the broker advertises")[0]
        reason = reason.removeprefix(f"{broker}: ")
        return wrong(
            check,
            f"it advertises {address}, which can't be used from here: {reason}",
            f"set advertised.listeners of broker {node_id} to an address that clients reach, "
            f"for example PLAINTEXT://{bootstrap}, and restart it",
        )
    if is_loopback(address.host) and not is_loopback(bootstrap.host):
        return doubtful(
            check,
            f"it advertises {address}, which only clients on its own machine reach",
            f"set its advertised.listeners to an address of that machine, for example PLAINTEXT://{bootstrap}",
        )
    return fine(check, f"the address that it advertises, {address}, can be used from here")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine under a name that no other machine can use.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("broker")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def examine(admin: AsyncAdmin, topics: Sequence[str]) -> list[Finding]:
    """All checks that need a working connection."""
    findings = [examine_versions(await admin.describe_api_versions()), await _clock(admin), await _permission(admin)]
    findings += [await _topic_permission(admin, topic) for topic in topics]
    return [*findings, await _health(admin)]


def examine_versions(served: Collection[ApiVersionRange]) -> Finding:
    """Whether the broker is neither too old nor too new for this client."""
    ranges = {found.api_key: found for found in served}
    for key in _NEEDED:
        ours, theirs = request_type(key).valid_versions, ranges.get(key)
        if theirs is None or theirs.highest < ours.lowest:
            return wrong(
                "version",
                f"the broker is too old: it has no version of {key.name} that we speak",
                "upgrade it to Kafka 2.1 or newer",
            )
        if theirs.lowest > ours.highest:
            return wrong("version", f"the broker is too new for this client ({key.name})", "pip install -U ottla")
    absent = [what for key, what in _NEWER.items() if key not in ranges]
    if absent:
        return doubtful(
            "version", f"an older broker, without {', '.join(absent)}", "upgrade it to Kafka 4 if you need them"
        )
    return fine("version", f"the broker serves {counted(len(ranges), 'API')} in versions that we speak")


async def _clock(admin: AsyncAdmin) -> Finding:
    """The quorum's leader counts as caught up now, by its own clock: that is how we see what time it has."""
    before = time.time()
    try:
        quorum = await admin.describe_metadata_quorum()
    except OttlaError as error:
        return skipped("clock", f"the cluster does not tell its time: {str(error).rstrip('.')}")
    after = time.time()
    leader = next((voter for voter in quorum.voters if voter.replica_id == quorum.leader_id), None)
    if leader is None or leader.last_caught_up_timestamp is None:
        return skipped("clock", "the cluster does not tell its time")
    return examine_clock(leader.last_caught_up_timestamp / 1000, before, after)


def examine_clock(theirs_s: float, before_s: float, after_s: float) -> Finding:
    """Compares a time that was read on the other side between two moments here."""
    skew_s = max(before_s - theirs_s, theirs_s - after_s, 0.0)
    if skew_s > _SKEW_MAX_S:
        side = "behind" if theirs_s < before_s else "ahead of"
        return wrong(
            "clock",
            f"the cluster's clock is {duration_text(skew_s)} {side} this machine's",
            "synchronise both with NTP: retention, searching by time, tokens and certificates go by the clock",
        )
    return fine(
        "clock", f"the cluster's clock agrees with ours within {duration_text(max(skew_s, after_s - before_s))}"
    )


async def _permission(admin: AsyncAdmin) -> Finding:
    try:
        cluster = await admin.describe_cluster(include_authorized_operations=True)
    except OttlaError as error:
        return wrong("permission", str(error), "ask for the ACL Describe on the cluster")
    operations = cluster.authorized_operations
    if operations is None:
        return skipped("permission", "the broker does not tell what we may do")
    if not operations:
        return doubtful(
            "permission", "we may do nothing with the cluster itself", "fine for plain clients; else ask for ACLs"
        )
    return fine("permission", f"on the cluster we may {_listed(operations)}")


async def _topic_permission(admin: AsyncAdmin, topic: str) -> Finding:
    try:
        found = (await admin.describe_topics([topic], include_authorized_operations=True))[topic]
    except OttlaError as error:
        return wrong(
            f"topic {topic}", str(error).rstrip("."), "check its name with `ottla topics list`, or ask for ACLs"
        )
    operations = found.authorized_operations
    if operations is None:
        return skipped(f"topic {topic}", "the broker does not tell what we may do")
    if not {AclOperation.READ, AclOperation.WRITE} <= operations:
        missing = " and ".join(
            op.name.lower() for op in (AclOperation.READ, AclOperation.WRITE) if op not in operations
        )
        return wrong(
            f"topic {topic}", f"we may not {missing} it", f"ask for the ACL on topic {topic}, or connect as another"
        )
    return fine(f"topic {topic}", f"we may {_listed(operations)}")


def _listed(operations: Collection[AclOperation]) -> str:
    return ", ".join(sorted(operation.name.lower().replace("_", " ") for operation in operations))


async def _health(admin: AsyncAdmin) -> Finding:
    trouble = (await cluster_state(admin)).trouble
    if trouble.offline:
        count = counted(len(trouble.offline), "partition")
        return wrong("health", f"{count} offline", "start the brokers that hold them: `ottla cluster` names them")
    if trouble.under_min_isr:
        count = counted(len(trouble.under_min_isr), "partition")
        return wrong(
            "health", f"{count} with too few replicas for acks=all", "start the missing brokers: `ottla cluster`"
        )
    if trouble.under_replicated:
        count = counted(len(trouble.under_replicated), "partition")
        return doubtful("health", f"{count} under-replicated", "a broker is down or slow: `ottla cluster`")
    return fine("health", "all partitions are online and in sync")
