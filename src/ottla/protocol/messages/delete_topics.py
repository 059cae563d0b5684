"""DeleteTopics (key 20): deletes topics with all their data.

Sent by clients to any broker, which forwards it to the controller. v6 names each topic either by `name` (the id is
zero) or by `topic_id` (the name is null); before, by `topic_names`. A topic named twice gets INVALID_REQUEST and
stays. v3 may answer TOPIC_DELETION_DISABLED; v5 adds messages and may throttle (KIP-599).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string, uuid


class DeleteTopicState(Struct):
    name: str | None = string("6+", nullable="6+", default=None)
    topic_id: Uuid = uuid("6+")


class DeleteTopicsRequest(Request, api=ApiKey.DELETE_TOPICS, versions="1-6", flexible="4+"):
    topics: list[DeleteTopicState] = array(DeleteTopicState, "6+")
    topic_names: list[str] = array(string, "0-5", ignorable=True)
    timeout_ms: int = int32("0+")


class DeletableTopicResult(Struct):
    name: str | None = string("0+", nullable="6+")
    topic_id: Uuid = uuid("6+", ignorable=True)
    error_code: int = int16("0+")
    error_message: str | None = string("5+", nullable="5+", default=None, ignorable=True)


class DeleteTopicsResponse(Response, api=ApiKey.DELETE_TOPICS, versions="1-6", flexible="4+"):
    throttle_time_ms: int = int32("1+", ignorable=True)
    responses: list[DeletableTopicResult] = array(DeletableTopicResult, "0+")
