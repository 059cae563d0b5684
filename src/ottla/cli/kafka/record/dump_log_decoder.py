"""What records hold, as `kafka-dump-log` shows it: text, or the JSON of coordinators' and controllers' records.

A decoder gives the key's and the value's text, None for one that is not shown. A record that a coordinator's decoder
can't read says so in its place and stops nothing.
"""

import re
import struct
from collections.abc import Callable
from typing import Any, Final

from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.record.message_json import json_text, message_json
from ottla.protocol.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from ottla.protocol.coordinator_record import CoordinatorLog, CoordinatorValue
from ottla.protocol.definition import Message
from ottla.protocol.errors import DecodeError
from ottla.protocol.group_log.classic import GroupMetadataValue
from ottla.protocol.records.record import RecordTuple

Decoded = tuple[str | None, str | None]
Decoder = Callable[[RecordTuple], Decoded]

_PACKAGE: Final = "org.apache.kafka.tools.api."


def named_decoder(name: str) -> Decoder:
    """The decoder that an option stands for."""
    if name == "cluster-metadata-decoder":
        return _metadata
    if name == "offsets-decoder":
        from ottla.protocol.group_log.log import GROUP_LOG

        return _coordinator(GROUP_LOG)
    if name == "transaction-log-decoder":
        from ottla.protocol.transaction_log import TRANSACTION_LOG

        return _coordinator(TRANSACTION_LOG)
    if name == "remote-log-metadata-decoder":
        from ottla.cli.kafka.record.dump_log_remote import decode_remote

        return decode_remote
    from ottla.protocol.share_state_log import SHARE_STATE_LOG

    return _coordinator(SHARE_STATE_LOG)


def class_decoder(key_class: str, value_class: str) -> Decoder:
    """A decoder of plain keys and values, by Kafka's names of classes."""
    read_key, read_value = _reader(key_class), _reader(value_class)

    def decode(record: RecordTuple) -> Decoded:
        key, value = record[2], record[3]
        return None if key is None else read_key(key), None if value is None else read_value(value)

    return decode


def _reader(name: str) -> Callable[[bytes], str]:
    readers: dict[str, Callable[[bytes], str]] = {
        "StringDecoder": lambda data: data.decode(errors="replace"),
        "DefaultDecoder": lambda data: data.hex(),
        "IntegerDecoder": lambda data: _number(">i", data),
        "LongDecoder": lambda data: _number(">q", data),
    }
    found = readers.get(name.removeprefix(_PACKAGE)) if name.startswith(_PACKAGE) else None
    if found is None:
        raise ToolError(f"java.lang.RuntimeException: Failed to load decoder class\nCaused by: {name} is not known")
    return found


def _number(form: str, data: bytes) -> str:
    size = struct.calcsize(form)
    if len(data) < size:
        raise ToolError(f"java.nio.BufferUnderflowException: {len(data)} bytes are no number of {size}")
    return str(struct.unpack_from(form, data)[0])


def _coordinator(log: CoordinatorLog) -> Decoder:
    def decode(record: RecordTuple) -> Decoded:
        offset, _, key, value, _ = record
        if key is None:
            raise ToolError(
                f"java.lang.RuntimeException: Failed to decode message at offset {offset} "
                "using the specified decoder (message had a missing key)"
            )
        type_id = int.from_bytes(key[:2], "big", signed=True)
        if len(key) >= 2 and type_id not in log.types:
            return f"Unknown record type {type_id} at offset {offset}, skipping.", None
        try:
            found = log.decode(key, value)
            data = message_json(found.key, found.key.valid_versions.highest)
            shown = json_text({"type": str(type_id), "data": data})
            if found.value is None:
                return shown, "<DELETE>"
            return shown, json_text({"version": str(found.version), "data": _value(found.value, found.version)})
        except DecodeError as error:
            return f"Error at offset {offset}, skipping. {error}", None

    return decode


def _value(value: CoordinatorValue, version: int) -> dict[str, Any]:
    found = message_json(value, version)
    if isinstance(value, GroupMetadataValue) and value.protocol_type == "consumer":
        for shown, member in zip(found["members"], value.members, strict=True):
            _open(shown, "subscription", member.subscription, ConsumerProtocolSubscription)
            _open(shown, "assignment", member.assignment, ConsumerProtocolAssignment)
    return found


def _open(shown: dict[str, Any], name: str, data: bytes, kind: type[Message]) -> None:
    """Shows what a consumer put into opaque bytes; what is none of its messages stays bytes."""
    version = int.from_bytes(data[:2], "big", signed=True)
    try:
        if len(data) >= 2 and kind.valid_versions.includes(version):
            shown[name] = message_json(kind.decode_from(data, 2, version)[0], version)
    except DecodeError:
        return


def _metadata(record: RecordTuple) -> Decoded:
    from ottla.protocol.metadata_log.log import decode_record

    try:
        found = decode_record(record[3] or b"")
    except DecodeError as error:
        return None, f"Error at {record[0]}, skipping. {error}"
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(found.record).__name__).upper()
    return None, json_text({
        "type": name, "version": found.version, "data": message_json(found.record, found.version)
    })  # fmt: skip
