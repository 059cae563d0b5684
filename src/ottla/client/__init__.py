"""The Python clients: an asyncio core with a blocking facade over it.

Names are imported when they are first used, so that a tool that needs the admin client does not load the consumer.

>>> from ottla.client import TopicPartition
>>> TopicPartition("orders", 0)
TopicPartition(topic='orders', partition=0)
"""

from typing import TYPE_CHECKING

from ottla.base.lazy import all_names, lazy_names

if TYPE_CHECKING:
    from ottla.client.admin.async_admin import AsyncAdmin
    from ottla.client.admin.blocking_admin import Admin
    from ottla.client.admin.value.topic import NewTopic
    from ottla.client.config.settings import UnknownSettingError
    from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor
    from ottla.client.consumer.async_consumer import AsyncConsumer
    from ottla.client.consumer.consumer import Consumer
    from ottla.client.consumer.errors import (
        ConcurrentModificationError,
        FetchBrokenError,
        RecordDeserializationError,
        RecordsLostError,
    )
    from ottla.client.consumer.fetch.record import Record
    from ottla.client.consumer.fetch.records import Records
    from ottla.client.consumer.interceptor import ConsumerInterceptor
    from ottla.client.consumer.membership import GroupMetadata, LeaveOperation, ListenerError
    from ottla.client.consumer.range.range_reader import RangeReader
    from ottla.client.consumer.rebalance_listener import RebalanceListener
    from ottla.client.consumer.subscription_pattern import SubscriptionPattern
    from ottla.client.errors import (
        AuthenticationFailedError,
        BufferExhaustedError,
        ClientError,
        ClosedError,
        CommitFailedError,
        ConnectFailedError,
        ControllerPortError,
        FailedAttempt,
        ForkedError,
        InterceptorError,
        InvalidStateError,
        KafkaTimeoutError,
        LogTruncationError,
        NoBrokersAvailableError,
        NoOffsetForPartitionError,
        OffsetOutOfRangeError,
        OffsetResetNeededError,
        RecordTooLargeError,
        RetriableCommitFailedError,
        SerializationError,
        TlsFailedError,
        WakeupError,
    )
    from ottla.client.producer.async_producer import AsyncProducer
    from ottla.client.producer.interceptor import ProducerInterceptor, ProducerRecord
    from ottla.client.producer.producer import Producer
    from ottla.client.record import Header, OffsetAndMetadata, OffsetAndTimestamp, RecordMetadata, TopicPartition
    from ottla.client.registry.async_registry import AsyncSchemaRegistry
    from ottla.client.registry.errors import RegistryError, RegistryUnavailableError
    from ottla.client.registry.registry import SchemaRegistry
    from ottla.client.registry.value import SchemaText
    from ottla.client.serde.column.decoder import ArrowDecoder, decode_arrow
    from ottla.client.serde.column.encoder import ArrowEncoder, encode_arrow
    from ottla.client.serde.schema.async_serde import AsyncDeserializer, AsyncSerializer
    from ottla.client.serde.schema.avro import AvroDeserializer, AvroSerializer
    from ottla.client.serde.schema.json_schema import JsonSchemaDeserializer, JsonSchemaSerializer
    from ottla.client.serde.schema.protobuf import ProtobufDeserializer, ProtobufSerializer
    from ottla.client.serde.serializer import Deserializer, Serializer

_PLACES = {
    "Admin": "admin.blocking_admin",
    "ArrowDecoder": "serde.column.decoder",
    "ArrowEncoder": "serde.column.encoder",
    "AsyncAdmin": "admin.async_admin",
    "AsyncConsumer": "consumer.async_consumer",
    "AsyncDeserializer": "serde.schema.async_serde",
    "AsyncProducer": "producer.async_producer",
    "AsyncSchemaRegistry": "registry.async_registry",
    "AsyncSerializer": "serde.schema.async_serde",
    "AuthenticationFailedError": "errors",
    "AvroDeserializer": "serde.schema.avro",
    "AvroSerializer": "serde.schema.avro",
    "BufferExhaustedError": "errors",
    "ClientError": "errors",
    "ClosedError": "errors",
    "CommitFailedError": "errors",
    "ConcurrentModificationError": "consumer.errors",
    "ConnectFailedError": "errors",
    "Consumer": "consumer.consumer",
    "ConsumerInterceptor": "consumer.interceptor",
    "ControllerPortError": "errors",
    "Deserializer": "serde.serializer",
    "FailedAttempt": "errors",
    "FetchBrokenError": "consumer.errors",
    "ForkedError": "errors",
    "GroupMetadata": "consumer.membership",
    "Header": "record",
    "InterceptorError": "errors",
    "InvalidStateError": "errors",
    "JsonSchemaDeserializer": "serde.schema.json_schema",
    "JsonSchemaSerializer": "serde.schema.json_schema",
    "KafkaTimeoutError": "errors",
    "LeaveOperation": "consumer.membership",
    "ListenerError": "consumer.membership",
    "LogTruncationError": "errors",
    "NewTopic": "admin.value.topic",
    "NoBrokersAvailableError": "errors",
    "NoOffsetForPartitionError": "errors",
    "OffsetAndMetadata": "record",
    "OffsetAndTimestamp": "record",
    "OffsetOutOfRangeError": "errors",
    "OffsetResetNeededError": "errors",
    "PartitionAssignor": "consumer.assignor.partition_assignor",
    "Producer": "producer.producer",
    "ProducerInterceptor": "producer.interceptor",
    "ProducerRecord": "producer.interceptor",
    "ProtobufDeserializer": "serde.schema.protobuf",
    "ProtobufSerializer": "serde.schema.protobuf",
    "RebalanceListener": "consumer.rebalance_listener",
    "RangeReader": "consumer.range.range_reader",
    "Record": "consumer.fetch.record",
    "RecordDeserializationError": "consumer.errors",
    "RecordMetadata": "record",
    "RecordTooLargeError": "errors",
    "Records": "consumer.fetch.records",
    "RecordsLostError": "consumer.errors",
    "RegistryError": "registry.errors",
    "RegistryUnavailableError": "registry.errors",
    "RetriableCommitFailedError": "errors",
    "SchemaRegistry": "registry.registry",
    "SchemaText": "registry.value",
    "SerializationError": "errors",
    "Serializer": "serde.serializer",
    "SubscriptionPattern": "consumer.subscription_pattern",
    "TlsFailedError": "errors",
    "TopicPartition": "record",
    "UnknownSettingError": "config.settings",
    "WakeupError": "errors",
    "decode_arrow": "serde.column.decoder",
    "encode_arrow": "serde.column.encoder",
}

__all__ = [
    "Admin",
    "ArrowDecoder",
    "ArrowEncoder",
    "AsyncAdmin",
    "AsyncConsumer",
    "AsyncDeserializer",
    "AsyncProducer",
    "AsyncSchemaRegistry",
    "AsyncSerializer",
    "AuthenticationFailedError",
    "AvroDeserializer",
    "AvroSerializer",
    "BufferExhaustedError",
    "ClientError",
    "ClosedError",
    "CommitFailedError",
    "ConcurrentModificationError",
    "ConnectFailedError",
    "Consumer",
    "ConsumerInterceptor",
    "ControllerPortError",
    "Deserializer",
    "FailedAttempt",
    "FetchBrokenError",
    "ForkedError",
    "GroupMetadata",
    "Header",
    "InterceptorError",
    "InvalidStateError",
    "JsonSchemaDeserializer",
    "JsonSchemaSerializer",
    "KafkaTimeoutError",
    "LeaveOperation",
    "ListenerError",
    "LogTruncationError",
    "NewTopic",
    "NoBrokersAvailableError",
    "NoOffsetForPartitionError",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "OffsetOutOfRangeError",
    "OffsetResetNeededError",
    "PartitionAssignor",
    "Producer",
    "ProducerInterceptor",
    "ProducerRecord",
    "ProtobufDeserializer",
    "ProtobufSerializer",
    "RangeReader",
    "RebalanceListener",
    "Record",
    "RecordDeserializationError",
    "RecordMetadata",
    "RecordTooLargeError",
    "Records",
    "RecordsLostError",
    "RegistryError",
    "RegistryUnavailableError",
    "RetriableCommitFailedError",
    "SchemaRegistry",
    "SchemaText",
    "SerializationError",
    "Serializer",
    "SubscriptionPattern",
    "TlsFailedError",
    "TopicPartition",
    "UnknownSettingError",
    "WakeupError",
    "decode_arrow",
    "encode_arrow",
]

__getattr__ = lazy_names(__name__, _PLACES)
__dir__ = all_names(__name__, __all__)
