"""Calls as confluent-kafka, kafka-python and aiokafka name them, and what to write here instead.

Nothing here is accepted: an error names the call of ours, which may mean something slightly different (`poll` takes
seconds).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeVar

T = TypeVar("T")

_FLUSHED: Final = "sends in the background: leave it out, or flush() to wait for what was sent"
_ENDS: Final = "commits with commit() or commit_async(), also with enable.auto.commit=false"
_CONNECTED: Final = "connects when it is made, and raises NoBrokersAvailableError if it can't: leave it out"

PRODUCER: Final = {
    "produce": "sends with send(topic, value, key, partition=..., headers=..., on_delivery=...)",
    "poll": _FLUSHED,
    "purge": "drops nothing on demand: close(timeout=0) gives up what was not sent",
    "list_topics": "knows one topic at a time: partitions_for(topic), or Admin().list_topics()",
    "send_and_wait": "waits with send(...), or with send(...).result() if it is not asyncio's",
    "send_batch": "batches by itself: call send() or enqueue() for each record",
    "bootstrap_connected": _CONNECTED,
    "stop": "ends with close()",
}
CONSUMER: Final = {
    "consume": "reads with poll(seconds), up to max.poll.records at a time",
    "getone": "reads with poll(seconds), or one by one in a for loop",
    "getmany": "reads with poll(seconds), up to max.poll.records at a time",
    "store_offsets": _ENDS,
    "topics": "lists topics with list_topics()",
    "partitions_for_topic": "describes a topic with partitions_for(topic)",
    "get_watermark_offsets": "tells them with beginning_offsets([partition]) and end_offsets([partition])",
    "highwater": "tells it with end_offsets([partition]) or current_lag(partition)",
    "last_stable_offset": "tells it with end_offsets([partition]) and isolation.level=read_committed",
    "seek_to_committed": "goes there with seek(partition, committed([partition])[partition])",
    "consumer_group_metadata": "tells it with group_metadata()",
    "incremental_assign": "assigns all partitions at once with assign([...])",
    "incremental_unassign": "assigns all partitions at once with assign([...])",
    "unassign": "gives partitions up with unsubscribe() or assign([])",
    "memberid": "tells it with group_metadata().member_id",
    "bootstrap_connected": "connects with the first call that needs a broker: leave it out",
    "start": "connects with the first call that needs a broker: leave it out",
    "stop": "ends with close()",
}
ADMIN: Final = {
    "list_consumer_groups": "lists groups with list_groups()",
    "describe_consumer_group": "describes them with describe_consumer_groups([group])",
    "delete_consumer_groups": "deletes groups with delete_groups([group])",
    "alter_configs": "alters settings with incremental_alter_configs",
    "poll": "needs no polling: every call returns its result",
}
FUTURE: Final = {
    "get": "gives the result with result(timeout)",
    "add_callback": "calls back with add_done_callback(function), or send(..., on_delivery=function)",
    "add_errback": "calls back with add_done_callback(function), or send(..., on_delivery=function)",
    "failed": "tells it with exception()",
    "succeeded": "tells it with exception() is None",
    "is_done": "tells it with done()",
}

_KEYWORDS: Final = {
    "timeout_ms": "timeout in seconds",
    "max_records": "max_poll_records when the consumer is made",
    "asynchronous": "commit() to wait, commit_async() not to",
    "message": "the offsets: commit({TopicPartition(topic, partition): offset + 1})",
    "num_partitions": "partitions",
    "replica_assignments": "assignment",
    "replica_assignment": "assignment",
    "topic_configs": "configs",
    "config": "configs",
    "topic": "name",
}


def missing(owner: object, name: str, calls: Mapping[str, str]) -> AttributeError:
    """The error for an attribute that `owner` has not, with what to call instead if another client has it.

    >>> missing(3, "get", FUTURE)
    AttributeError("'int' object has no attribute 'get': it gives the result with result(timeout)")
    """
    kind = type(owner).__name__
    instead = calls.get(name)
    hint = "" if instead is None else f": it {instead}"
    return AttributeError(f"{kind!r} object has no attribute {name!r}{hint}", name=name, obj=owner)


def refuse_keywords(call: str, given: Collection[str]) -> None:
    """Raises the `TypeError` for keyword arguments that `call` has not.

    >>> refuse_keywords("poll()", {"timeout_ms": 100})
    Traceback (most recent call last):
    TypeError: poll() has no argument timeout_ms: write timeout in seconds
    """
    for name in given:
        instead = _KEYWORDS.get(name)
        raise TypeError(f"{call} has no argument {name}" + (f": write {instead}" if instead else ""))


def several(call: str, given: Iterable[T], kind: str) -> list[T]:
    """The argument as a list. A lone text would be taken for its letters: `delete_topics("ab")` is an error.

    >>> several("delete_topics()", "orders", "names")
    Traceback (most recent call last):
    TypeError: delete_topics() takes a list of names: write delete_topics(['orders'])
    """
    if isinstance(given, str):
        raise TypeError(f"{call} takes a list of {kind}: write {call.removesuffix('()')}([{given!r}])")
    return list(given)
