"""Client quotas: described and changed (KIP-546)."""

from collections.abc import Iterable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import ANY_NODE, CONTROLLER
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import answered, outcome, settle
from ottla.client.admin.value.quota import ClientQuotaAlteration, ClientQuotaEntity, EntityPart, QuotaFilterPart
from ottla.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from ottla.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

_EXACT: Final = 0
_DEFAULT: Final = 1
_ANY: Final = 2


class QuotaOperations(AdminOperations):
    """Operations on quotas."""

    async def describe_client_quotas(
        self, filters: Iterable[QuotaFilterPart] = (), *, strict: bool = False
    ) -> dict[ClientQuotaEntity, dict[str, float]]:
        """The quotas of entities that match all filters; with `strict` only those of no other type."""
        request = DescribeClientQuotasRequest(components=list(map(_component, filters)), strict=strict)
        response = await self._channel.ask(ANY_NODE, request, DescribeClientQuotasResponse)
        return {
            ClientQuotaEntity(EntityPart(part.entity_type, part.entity_name) for part in entry.entity): {
                value.key: value.value for value in entry.values
            }
            for entry in response.entries or []
        }

    async def alter_client_quotas(
        self,
        alterations: Iterable[ClientQuotaAlteration],
        *,
        validate_only: bool = False,
        errors: dict[ClientQuotaEntity, OttlaError] | None = None,
    ) -> None:
        """Sets and removes quotas."""
        wishes = list(alterations)
        request = AlterClientQuotasRequest(entries=list(map(_entry, wishes)), validate_only=validate_only)
        response = await self._channel.ask(CONTROLLER, request, AlterClientQuotasResponse)
        outcomes: dict[ClientQuotaEntity, OttlaError | None] = {
            ClientQuotaEntity(EntityPart(part.entity_type, part.entity_name) for part in entry.entity): outcome(
                None, entry.error_code, entry.error_message
            )
            for entry in response.entries
        }
        settle(answered([wish.entity for wish in wishes], outcomes), errors)


def _component(part: QuotaFilterPart) -> ComponentData:
    if part.any_name:
        return ComponentData(entity_type=part.type, match_type=_ANY, match=None)
    if part.name is None:
        return ComponentData(entity_type=part.type, match_type=_DEFAULT, match=None)
    return ComponentData(entity_type=part.type, match_type=_EXACT, match=part.name)


def _entry(wish: ClientQuotaAlteration) -> RequestEntryData:
    return RequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in wish.entity.names.items()],
        ops=[
            OpData(key=key, value=0.0 if value is None else value, remove=value is None)
            for key, value in wish.values.items()
        ],
    )
