"""Where ours answers differently from Apache Kafka, on purpose: the question, and why ours is better.

Patterns as of `fnmatch`. Nothing is listed here that is merely unfinished.
"""

from fnmatch import fnmatchcase

DIFFERENCES = {
    "produce/produce v*: null records": "Kafka never answers, and the client waits for ever",
    "configs/alter_configs v2: replace: a resource twice": "Kafka never answers, and the client waits for ever",
    "transactions/add_partitions_to_txn v*: no transactions": "Kafka never answers, and the client waits for ever",
    "transactions/write_txn_markers v*: a good one, a bad one for an unknown partition and none": (
        "Kafka never answers, and the client waits for ever"
    ),
    "repetition/write_txn_markers v1: twice with the same partition": (
        "Kafka never answers, and the client waits for ever"
    ),
    "consumer_groups/join_group v[03]: into a consumer group, a bad subscription": (
        "what can't be read is the client's fault: Kafka says UNKNOWN_SERVER_ERROR, ours INCONSISTENT_GROUP_PROTOCOL"
    ),
    "consumer_groups/consumer_group_heartbeat v1: a static one joins again": (
        "the answer to its join may have been lost: Kafka refuses it for good (UNRELEASED_INSTANCE_ID)"
    ),
    "conversions/join_group v3: into consumers: unreadable: *": (
        "what can't be read is the client's fault: Kafka says UNKNOWN_SERVER_ERROR, ours INCONSISTENT_GROUP_PROTOCOL"
    ),
    "conversions/*: converted-static: syncs": (
        "a group that turned classic rebalances: Kafka leaves it without a leader that would notice a change of topics"
    ),
    "conversions/describe_groups v6: converted-static: back": (
        "a group that turned classic rebalances: Kafka leaves it without a leader that would notice a change of topics"
    ),
    "refused_joins/*left-consumers-with-a-member-id*: after*": (
        "a join that is refused changes nothing: Kafka drops the empty group, and nobody sees its offsets any more"
    ),
    "config_values/* type 2: min.cleanable.dirty.ratio='NaN'": "no ratio is above it: nothing would be cleaned",
    "config_values/* type 4: log.cleaner.threads='0'": "Kafka's message is `/ by zero`",
    "cluster/alter_user_scram_credentials v0: both mechanisms": "two credentials are no duplicate: Kafka refuses them",
}


def reason(name: str) -> str | None:
    """Why a question may be answered differently, or None."""
    return next((why for pattern, why in DIFFERENCES.items() if fnmatchcase(name, pattern)), None)
