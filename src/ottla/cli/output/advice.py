"""Errors in one sentence, with what to do next.

Brokers answer in Kafka's words, which say what is wrong and seldom what helps. Clients' own errors mostly say both;
they only lose their line breaks here.
"""

import re
from typing import Final

from ottla.base.errors import OttlaError

_ADVICE: Final = {
    "NoBrokersAvailableError": "start one with `ottla broker`, name yours with -b HOST:PORT, or ask `ottla doctor`",
    "KafkaTimeoutError": "`ottla doctor` looks for the reason",
    "RequestTimedOutError": "try again, or look at the brokers with `ottla cluster`",
    "ConnectFailedError": "`ottla doctor` looks for the reason",
    "TopicAlreadyExistsError": "choose another name, or add --if-not-exists",
    "UnknownTopicOrPartitionError": "`ottla topics list` shows those that exist",
    "InvalidTopicError": "names have letters, digits, `.`, `_` and `-`, at most 249 of them",
    "InvalidReplicationFactorError": "`ottla cluster` shows how many brokers there are",
    "InvalidConfigError": "`ottla config docs` explains every setting",
    "TopicAuthorizationFailedError": "ask for an ACL on the topic, or connect as another user (--command-config)",
    "GroupAuthorizationFailedError": "ask for an ACL on the group, or connect as another user (--command-config)",
    "ClusterAuthorizationFailedError": "ask for an ACL on the cluster, or connect as another user (--command-config)",
    "SecurityDisabledError": "rules need authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer "
    "in the file of every node, and super.users",
    "NonEmptyGroupError": "stop its consumers first; `ottla groups describe` shows them",
    "GroupIdNotFoundError": "`ottla groups list` shows those that exist",
    "UnknownMemberIdError": "the group has live members: stop its consumers first",
    "OffsetOutOfRangeError": "`ottla offsets TOPIC` shows what the partitions hold",
    "PolicyViolationError": "the cluster's owner has forbidden this",
    "TopicDeletionDisabledError": "the brokers have delete.topic.enable=false",
}


_UNKNOWN_CONFIG: Final = re.compile(r"Unknown topic config name: (\S+)")


class CommandError(OttlaError):
    """Why a command can't do what it was asked to: one sentence that says what to do next."""


def advised(error: OttlaError, advice: str | None = None) -> str:
    """What went wrong and what helps, in one sentence; `advice` is better than what the error's kind suggests.

    >>> from ottla.protocol.errors import TopicAlreadyExistsError
    >>> advised(TopicAlreadyExistsError("Topic 'orders' already exists."))
    "Topic 'orders' already exists; choose another name, or add --if-not-exists"
    """
    said = " ".join(str(error).split()).rstrip(".")
    advice = (
        advice
        or _nearest_config(said)
        or next((_ADVICE[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _ADVICE), None)
    )
    if advice is None:
        return said
    return f"{said} {advice[0].upper()}{advice[1:]}" if said.endswith("?") else f"{said}; {advice}"


def _nearest_config(said: str) -> str | None:
    """The topic setting that was probably meant, if a broker refused one that it does not know."""
    found = _UNKNOWN_CONFIG.search(said)
    if found is None:
        return None
    from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

    nearest = LOG_CONFIG_KEYS.nearest(found[1])
    return f"did you mean {nearest}?" if nearest else None
