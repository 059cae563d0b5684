"""Answers as plain values that JSON can hold and that two servers can be compared by.

What must differ between two servers is masked: ids, ports, paths, times of the day and offsets of the metadata log, in
fields and inside of messages, whose wording counts. Fields at their defaults are left out.
"""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.protocol.definition import Struct
from ottla.protocol.errors import DecodeError
from ottla.protocol.messages.api_versions import ApiVersionsResponse
from ottla.protocol.messages.create_topics import CreatableTopicResult
from ottla.protocol.messages.describe_configs import DescribeConfigsResult
from ottla.protocol.records.batch import Batch, batches
from ottla.protocol.records.reader import decode_batch
from ottla.storage.log_config_keys import LOG_CONFIG_KEYS

_NOW_MS = time.time() * 1_000
_DAYS_MS = 3 * 86_400_000
_MASKED = {
    "port": "PORT",
    "directory_id": "DIRECTORY",
    "replica_directory_id": "DIRECTORY",
    "total_bytes": "BYTES",
    "usable_bytes": "BYTES",
    "finalized_features_epoch": "EPOCH",
    "client_instance_id": "ID",
    "subscription_id": "ID",
    "session_id": "SESSION",
    "producer_id": "PRODUCER",
    "documentation": "TEXT",
}
# Times and ids inside of messages.
_LONG_NUMBER = re.compile(r"-?\b\d{13,}\b")
_RANDOM_ID = re.compile(r"\b(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{22}\b")
_UUID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
# Ids of members that the server made up.
_MEMBER_ID = re.compile(r"[\w-]{22}")
_MESSAGES = ("error_message", "batch_index_error_message")
# Calls of shares and streams: which of them are served is said by ApiVersions alone.
_NOT_COMPARED = {*range(76, 80), *range(83, 93)}
# Settings that are ours alone.
_EXTENSIONS = {name for keys in (SERVER_KEYS, LOG_CONFIG_KEYS) for name, key in keys.items() if key.extension}
_UNORDERED = {
    # Lists that Apache Kafka gives in the order of a hash table, so that no client can rely on one.
    ("MetadataResponse", "topics"),
    ("CreateTopicsResponse", "topics"),
    ("CreatableTopicResult", "configs"),
    ("DeleteTopicsResponse", "responses"),
    ("DescribeConfigsResult", "configs"),
    ("ListConfigResourcesResponse", "config_resources"),
    ("ApiVersionsResponse", "supported_features"),
    ("ApiVersionsResponse", "finalized_features"),
    ("DescribeLogDirsResult", "topics"),
    ("DescribeLogDirsTopic", "partitions"),
    ("DescribeClientQuotasResponse", "entries"),
    ("EntryData", "entity"),
    ("ResponseEntryData", "entity"),
    ("EntryData", "values"),
    ("DescribeUserScramCredentialsResponse", "results"),
    ("DescribeUserScramCredentialsResult", "credential_infos"),
    ("AlterUserScramCredentialsResponse", "results"),
    ("ElectLeadersResponse", "replica_election_results"),
    ("ReplicaElectionResult", "partition_result"),
    ("IncrementalAlterConfigsResponse", "responses"),
    ("AlterConfigsResponse", "responses"),
    ("JoinGroupResponse", "members"),
    ("DescribedGroup", "members"),
    ("ListGroupsResponse", "groups"),
    ("OffsetFetchResponse", "topics"),
    ("OffsetFetchResponseTopic", "partitions"),
    ("OffsetFetchResponseGroup", "topics"),
    ("OffsetFetchResponseTopics", "partitions"),
    ("Assignment", "topic_partitions"),
    ("TopicPartitions", "partitions"),
    ("AddPartitionsToTxnResponse", "results_by_topic_v3_and_below"),
    ("AddPartitionsToTxnResult", "topic_results"),
    ("AddPartitionsToTxnTopicResult", "results_by_partition"),
    ("TxnOffsetCommitResponse", "topics"),
    ("ListTransactionsResponse", "transaction_states"),
    ("ListTransactionsResponse", "unknown_state_filters"),
    ("WriteTxnMarkersResponse", "markers"),
    ("CreatePartitionsResponse", "results"),
    ("TransactionState", "topics"),
    ("TopicData", "partitions"),
    ("DeleteGroupsResponse", "results"),
    ("PartitionResponse", "active_producers"),
    ("ProduceResponse", "responses"),
    ("TopicProduceResponse", "partition_responses"),
    ("ListOffsetsResponse", "topics"),
    ("ListOffsetsTopicResponse", "partitions"),
    ("DeleteRecordsResponse", "topics"),
    ("DeleteRecordsTopicResult", "partitions"),
    ("AlterReplicaLogDirsResponse", "results"),
    ("AlterReplicaLogDirTopicResult", "partitions"),
    ("WritableTxnMarkerResult", "topics"),
    ("GetTelemetrySubscriptionsResponse", "requested_metrics"),
    ("WritableTxnMarkerTopicResult", "partitions"),
}


@dataclass
class Masking:
    """What is known about one server, so that its own names are not taken for differences."""

    topic_names: dict[Uuid, str] = field(default_factory=dict)
    """Topic ids that were given out, each with the name that stands for it."""
    paths: dict[str, str] = field(default_factory=dict)

    def plain(self, value: object, name: str = "") -> Any:
        """A value without what must differ."""
        mask = self._mask_for(name, value)
        if mask is not None:
            return mask(value)
        if isinstance(value, Struct):
            return self._struct(value)
        if isinstance(value, list):
            return [self.plain(entry, name) for entry in value]
        if isinstance(value, bytes | bytearray | memoryview):
            return self._records(bytes(value)) if name == "records" else bytes(value).hex()
        if isinstance(value, str):
            return self._text(value)
        return value

    def _mask_for(self, name: str, value: object) -> Callable[[Any], Any] | None:
        if isinstance(value, Uuid):
            return self._id
        if name in _MESSAGES:
            return self._message
        if name == "member_id" and isinstance(value, str) and _MEMBER_ID.fullmatch(value):
            return lambda _: "ID"
        if name in _MASKED and not isinstance(value, list | Struct) and value not in (None, -1, 0, ""):
            return lambda _: _MASKED[name]
        if isinstance(value, int) and not isinstance(value, bool) and abs(value - _NOW_MS) < _DAYS_MS:
            return lambda _: "NOW"
        return None

    def _struct(self, value: Struct) -> dict[str, Any]:
        shown = {
            name: self.plain(getattr(value, name), name)
            for name, definition in value.definition.items()
            if not definition.is_default(getattr(value, name))
        }
        if isinstance(value, ApiVersionsResponse):
            shown["api_keys"] = [api for api in shown.get("api_keys", []) if api.get("api_key", 0) not in _NOT_COMPARED]
        if isinstance(value, DescribeConfigsResult | CreatableTopicResult) and value.configs:
            shown["configs"] = [entry for entry in shown["configs"] if entry["name"] not in _EXTENSIONS]
        for name, found in shown.items():
            if (type(value).__name__, name) in _UNORDERED and isinstance(found, list):
                found.sort(key=json.dumps)
        if value.unknown_tags:
            shown["unknown_tags"] = {str(tag): data.hex() for tag, data in value.unknown_tags.items()}
        return shown

    def _id(self, value: Uuid) -> str:
        if value == ZERO_UUID:
            return "ZERO"
        return f"ID of {self.topic_names[value]}" if value in self.topic_names else "ID"

    def _message(self, value: str | None) -> str | None:
        return value and _RANDOM_ID.sub("ID", _LONG_NUMBER.sub("NUMBER", self._text(value)))

    def _text(self, value: str) -> str:
        for path, name in self.paths.items():
            value = value.replace(path, name)
        return _UUID.sub("UUID", value)

    def _records(self, data: bytes) -> Any:
        walk = batches(bytearray(data))
        try:
            found = [self._batch(batch) for batch in walk]
        except DecodeError:
            return f"{len(data)} bytes that are no batches"
        return found if walk.position == len(data) else [*found, f"{len(data) - walk.position} bytes of a batch"]

    def _batch(self, batch: Batch) -> dict[str, Any]:
        try:
            records = [
                [offset, self.plain(time_ms), _hex(key), _hex(value)]
                for offset, time_ms, key, value, _ in decode_batch(batch)
            ]
        except DecodeError:
            records = []
        return {
            "base_offset": batch.base_offset,
            "leader_epoch": batch.partition_leader_epoch,
            "attributes": batch.attributes,
            "max_timestamp": self.plain(batch.max_timestamp),
            "records": records[:5],
            "count": len(records),
        }


def _hex(value: bytes | memoryview | None) -> str | None:
    return None if value is None else bytes(value)[:16].hex()
