"""The queries and bodies of the proxy's handlers, for its OpenAPI description."""

from collections.abc import Sequence
from typing import Any, Final

from ottla.web.http.content import ContentTypes
from ottla.web.http.description import FLAG, INTEGER, TEXT, Details, each, members, openapi
from ottla.web.http.route import Route

_ANY: Final[dict[str, Any]] = {}
_RECORDS: Final = members(
    records=each(members(key=_ANY, value=_ANY, partition=INTEGER)),
    key_schema=TEXT, value_schema=TEXT, key_schema_id=INTEGER, value_schema_id=INTEGER,
)  # fmt: skip
_PARTITIONS: Final = members(partitions=each(members(topic=TEXT, partition=INTEGER)))
_OFFSETS: Final = members(offsets=each(members(topic=TEXT, partition=INTEGER, offset=INTEGER, metadata=TEXT)))
_INSTANCE: Final = "/consumers/{group}/instances/{instance}"
_V3: Final = "/v3/clusters/{cluster_id}"
_DATA: Final = members(
    type={"type": "string", "enum": ["BINARY", "JSON", "STRING", "AVRO", "JSONSCHEMA", "PROTOBUF"]}, data=_ANY,
    schema=TEXT, schema_id=INTEGER, schema_version=INTEGER, subject=TEXT, subject_name_strategy=TEXT,
)  # fmt: skip
_RECORD: Final = members(
    partition_id=INTEGER, headers=each(members(name=TEXT, value=TEXT)), key=_DATA, value=_DATA, timestamp=TEXT
)
_ALTER: Final = members(data=each(members(name=TEXT, value=TEXT, operation=TEXT)), validate_only=FLAG)
_ACL_FIELDS: Final = (
    *("resource_type", "resource_name", "pattern_type"),
    *("principal", "host", "operation", "permission"),
)
_ACL: Final = dict.fromkeys(_ACL_FIELDS, TEXT)
_TOPIC: Final = members(
    topic_name=TEXT, partitions_count=INTEGER, replication_factor=INTEGER, validate_only=FLAG,
    configs=each(members(name=TEXT, value=TEXT)),
    replicas_assignments=each(members(partition_id=INTEGER, broker_ids=each(INTEGER))),
)  # fmt: skip
_SETTING: Final = Details({}, members(value=TEXT))
_DETAILS: Final = {
    "POST /topics/{topic}": Details({}, _RECORDS),
    "POST /topics/{topic}/partitions/{partition}": Details({}, _RECORDS),
    "POST /consumers/{group}": Details({}, {"type": "object", "additionalProperties": TEXT}),
    f"POST {_INSTANCE}/subscription": Details({}, members(topics=each(TEXT), topic_pattern=TEXT)),
    f"POST {_INSTANCE}/assignments": Details({}, _PARTITIONS),
    f"POST {_INSTANCE}/positions": Details({}, _OFFSETS),
    f"POST {_INSTANCE}/positions/beginning": Details({}, _PARTITIONS),
    f"POST {_INSTANCE}/positions/end": Details({}, _PARTITIONS),
    f"POST {_INSTANCE}/offsets": Details({"async": FLAG}, _OFFSETS),
    f"GET {_INSTANCE}/offsets": Details({}, _PARTITIONS),
    f"GET {_INSTANCE}/records": Details({"timeout": {"type": "integer", "maximum": 100}, "max_bytes": INTEGER}),
    f"POST {_V3}/topics": Details({}, _TOPIC),
    f"PATCH {_V3}/topics/{{topic_name}}": Details({}, members(partitions_count=INTEGER)),
    f"GET {_V3}/topics": Details({"include_authorized_operations": FLAG}),
    f"POST {_V3}/topics/{{topic_name}}/records": Details({}, _RECORD),
    f"POST {_V3}/topics/{{topic_name}}/records:batch": Details({}, members(entries=each(_RECORD))),
    f"PUT {_V3}/topics/{{topic_name}}/configs/{{name}}": _SETTING,
    f"POST {_V3}/topics/{{topic_name}}/configs:alter": Details({}, _ALTER),
    f"PUT {_V3}/brokers/{{broker_id}}/configs/{{name}}": _SETTING,
    f"POST {_V3}/brokers/{{broker_id}}/configs:alter": Details({}, _ALTER),
    f"PUT {_V3}/broker-configs/{{name}}": _SETTING,
    f"POST {_V3}/broker-configs:alter": Details({}, _ALTER),
    f"POST {_V3}/acls": Details({}, members(**_ACL)),
    f"POST {_V3}/acls:batch": Details({}, members(data=each(members(**_ACL)))),
    f"GET {_V3}/acls": Details(_ACL),
    f"DELETE {_V3}/acls": Details(_ACL),
}


def description(routes: Sequence[Route], content: ContentTypes) -> dict[str, Any]:
    """The OpenAPI document of the proxy."""
    return openapi("REST proxy", routes, content, _DETAILS)


def described() -> frozenset[str]:
    """The methods and paths that details are there for."""
    return frozenset(_DETAILS)
