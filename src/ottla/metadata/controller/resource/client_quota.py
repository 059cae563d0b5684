"""AlterClientQuotas: which entities may have quotas, which quotas, and which values.

Quotas are by user, client id, both, or address; each node enforces them from its own metadata. KIP-546, KIP-599,
KIP-612.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult, bounded, message_of
from ottla.metadata.image.client_quota import NO_QUOTAS, QuotaEntity, entity_data, entity_of
from ottla.protocol.errors import ApiError, InvalidRequestError
from ottla.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    ResponseEntryData,
)
from ottla.protocol.metadata_log.config import ClientQuotaRecord
from ottla.protocol.metadata_log.log import VersionedRecord

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

_LONG: Final = ("a LONG", (1 << 63) - 1)
_INT: Final = ("an INT", (1 << 31) - 1)
_USER_AND_CLIENT_KEYS: Final[Mapping[str, tuple[str, int] | None]] = {
    "producer_byte_rate": _LONG,
    "consumer_byte_rate": _LONG,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_IP_KEYS: Final[Mapping[str, tuple[str, int] | None]] = {"connection_creation_rate": _INT}
"""The quotas of each kind of entity, with the name and the largest value of an integral one's type."""
_HOST_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?")


def alter_client_quotas(
    context: ControllerContext, request: AlterClientQuotasRequest
) -> ControllerResult[AlterClientQuotasResponse]:
    """Sets and removes quotas, each entity as a whole or not at all."""
    records: list[VersionedRecord] = []
    response = AlterClientQuotasResponse()
    seen: set[QuotaEntity] = set()
    for entry in request.entries:
        # By type, as in Kafka, whatever order they were given in.
        parts = sorted(entry.entity, key=lambda part: part.entity_type)
        result = ResponseEntryData(entity=parts, error_message=None)
        try:
            entity = _entity(entry.entity)
            if entity in seen:
                raise InvalidRequestError(f"Ignoring duplicate entity {_shown(entity)}")
            seen.add(entity)
            records += _alter(context, entity, entry.ops)
        except ApiError as error:
            result.error_code, result.error_message = error.code, message_of(error)
        response.entries.append(result)
    return ControllerResult(response) if request.validate_only else ControllerResult(response, bounded(records))


def _entity(parts: list[EntityData]) -> QuotaEntity:
    if not parts:
        raise InvalidRequestError("Invalid empty client quota entity")
    counts = Counter(part.entity_type for part in parts)
    for part in parts:
        if counts[part.entity_type] > 1:
            raise InvalidRequestError(f"Invalid client quota entity, duplicate entity entry {part.entity_type}")
        if part.entity_type not in (USER, CLIENT_ID, IP):
            raise InvalidRequestError(f"Unhandled client quota entity type: {part.entity_type}")
        if part.entity_name == "":
            raise InvalidRequestError(f"Empty {part.entity_type} not supported")
    return entity_of([(part.entity_type, part.entity_name) for part in parts])


def _shown(entity: QuotaEntity) -> str:
    entries = ", ".join(f"{type_}={'null' if name is None else name}" for type_, name in entity)
    return f"ClientQuotaEntity(entries={{{entries}}})"


def _alter(context: ControllerContext, entity: QuotaEntity, ops: list[OpData]) -> list[VersionedRecord]:
    if len({op.key for op in ops}) < len(ops):
        # It is a key that is there twice; Kafka takes it for the entity.
        raise InvalidRequestError(f"Ignoring duplicate entity {_shown(entity)}")
    known = _keys_for(dict(entity))
    current = context.image.client_quotas.get(entity, NO_QUOTAS)
    records = []
    for op in ops:
        if op.remove:
            if op.key not in current:
                continue
            record = ClientQuotaRecord(entity=entity_data(entity), key=op.key, remove=True)
        else:
            _check_value(known, op)
            if current.get(op.key) == op.value:
                continue
            record = ClientQuotaRecord(entity=entity_data(entity), key=op.key, value=op.value)
        records.append(VersionedRecord(record, 0))
    return records


def _keys_for(entity: Mapping[str, str | None]) -> Mapping[str, tuple[str, int] | None]:
    if IP not in entity:
        return _USER_AND_CLIENT_KEYS
    if len(entity) > 1:
        raise InvalidRequestError(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"
        )
    address = entity[IP]
    if address is not None and not _is_address(address):
        raise InvalidRequestError(f"{address} is not a valid IP or resolvable host.")
    return _IP_KEYS


def _is_address(text: str) -> bool:
    """Whether `text` is an address, or could be the name of a host: names are not looked up here."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return not text.replace(".", "").isdigit() and _HOST_NAME.fullmatch(text) is not None
    return True


def _check_value(known: Mapping[str, tuple[str, int] | None], op: OpData) -> None:
    if op.key not in known:
        raise InvalidRequestError(f"Invalid configuration key {op.key}")
    if not op.value > 0:
        raise InvalidRequestError(f"Quota {op.key} must be greater than 0")
    integral = known[op.key]
    if integral is None:
        return
    type_name, largest = integral
    if op.value > largest:
        raise InvalidRequestError(f"Proposed value for {op.key} is too large for {type_name}.")
    if abs(op.value % 1.0) > 1e-6:
        raise InvalidRequestError(f"{op.key} cannot be a fractional value.")
