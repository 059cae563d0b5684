"""Client quotas: for users, client ids, both together, and addresses."""

from collections.abc import Mapping
from typing import Final, NamedTuple

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"


class EntityPart(NamedTuple):
    """One part of an entity; the name None is the default for its type."""

    type: str
    name: str | None


class ClientQuotaEntity(frozenset[EntityPart]):
    """Whom a quota is for.

    >>> ClientQuotaEntity.of(user="alice")
    ClientQuotaEntity.of(user='alice')
    """

    @classmethod
    def of(cls, **names: str | None) -> "ClientQuotaEntity":
        """From keywords `user`, `client_id` and `ip`; None is the default for its type."""
        return cls(EntityPart(kind.replace("_", "-"), name) for kind, name in names.items())

    @property
    def names(self) -> dict[str, str | None]:
        """The names by their types."""
        return dict(sorted(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{kind.replace('-', '_')}={name!r}" for kind, name in self.names.items())
        return f"ClientQuotaEntity.of({shown})"


class QuotaFilterPart(NamedTuple):
    """Which names of a type are meant: one, the default (name None), or with `any_name` every one that has quotas."""

    type: str
    name: str | None = None
    any_name: bool = False


class ClientQuotaAlteration(NamedTuple):
    """New values of an entity's quotas; None removes one."""

    entity: ClientQuotaEntity
    values: Mapping[str, float | None]
