"""Which entries a filter takes in: those that DescribeAcls lists and DeleteAcls removes."""

from functools import cached_property
from typing import Final, NamedTuple, Protocol

from ottla.base.ids import Uuid
from ottla.metadata.image.acl import Acl, AclsImage
from ottla.protocol.acl import WILDCARD, PatternType

_ANY: Final = 1
_OPEN: Final = (PatternType.ANY, PatternType.MATCH)


class Wanted(Protocol):
    """A filter as the requests of both calls have it."""

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


class AclFilter(NamedTuple):
    """A filter of entries; None and ANY match all."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    """MATCH takes in every entry that would bear upon the name."""
    principal: str | None
    host: str | None
    operation: int
    permission_type: int

    @classmethod
    def of(cls, wanted: Wanted) -> "AclFilter":
        """The filter of a request."""
        return cls(
            wanted.resource_type_filter,
            wanted.resource_name_filter,
            wanted.pattern_type_filter,
            wanted.principal_filter,
            wanted.host_filter,
            wanted.operation,
            wanted.permission_type,
        )

    @property
    def only(self) -> Acl | None:
        """The one entry that it can match; None if it could match several."""
        if self.resource_name is None or self.principal is None or self.host is None or self.pattern_type in _OPEN:
            return None
        if _ANY in (self.resource_type, self.operation, self.permission_type):
            return None
        return Acl(
            self.resource_type,
            self.resource_name,
            self.pattern_type,
            self.principal,
            self.host,
            self.operation,
            self.permission_type,
        )

    def matches(self, acl: Acl) -> bool:
        """Whether it takes in an entry."""
        if self.resource_type not in (_ANY, acl.resource_type):
            return False
        if self.principal not in (None, acl.principal) or self.host not in (None, acl.host):
            return False
        if self.operation not in (_ANY, acl.operation) or self.permission_type not in (_ANY, acl.permission_type):
            return False
        return self._matches_name(acl)

    def _matches_name(self, acl: Acl) -> bool:
        if self.pattern_type not in (*_OPEN, acl.pattern_type):
            return False
        name = self.resource_name
        if name is None:
            return True
        if self.pattern_type != PatternType.MATCH:
            return name == acl.resource_name
        if acl.pattern_type == PatternType.PREFIXED:
            return name.startswith(acl.resource_name)
        return acl.resource_name in (name, WILDCARD)


class FilteredAcls:
    """The entries of an image, for the filters of one request."""

    def __init__(self, acls: AclsImage) -> None:
        self._acls = acls

    def matching(self, wanted: AclFilter) -> list[tuple[Uuid, Acl]]:
        """The entries that a filter matches, in the order of ids. An exact filter is a lookup, not a search."""
        only = wanted.only
        if only is None:
            return [(acl_id, acl) for acl_id, acl in self._sorted if wanted.matches(acl)]
        acl_id = self._acls.ids.get(only)
        return [] if acl_id is None else [(acl_id, only)]

    @cached_property
    def _sorted(self) -> list[tuple[Uuid, Acl]]:
        return sorted(self._acls.by_id.items())
