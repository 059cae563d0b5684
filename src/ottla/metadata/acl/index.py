"""All access control entries, arranged so that those which bear upon a question are found without a search.

An entry is found by its resource's type, pattern and principal. A resource's name is looked up as it is, as the
wildcard, and cut to each length that a prefix of its type has; a question costs as many look-ups as there are different
lengths, however many entries there are. Whether a principal may do something with any resource of a type is a
question about its own entries alone.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ottla.metadata.image.acl import Acl
from ottla.protocol.acl import ANYBODY, WILDCARD, PatternType


class _Pattern(NamedTuple):
    """A resource pattern, as the key of its entries."""

    resource_type: int
    pattern_type: int
    name: str


_Entries = dict[Acl, None]
"""A set that keeps its order."""


class AclIndex:
    """Entries by what they are about."""

    def __init__(self, acls: Iterable[Acl] = ()) -> None:
        self._patterns: Final[dict[_Pattern, dict[str, _Entries]]] = {}
        """By pattern and principal."""
        self._lengths: Final[dict[int, dict[int, int]]] = {}
        """By type of resource: how many prefixes there are of each length."""
        self._of_type: Final[dict[tuple[int, str], _Entries]] = {}
        """By type of resource and principal."""
        for acl in acls:
            self.add(acl)

    def add(self, acl: Acl) -> None:
        """Takes an entry in."""
        pattern = _Pattern(acl.resource_type, acl.pattern_type, acl.resource_name)
        principals = self._patterns.get(pattern)
        if principals is None:
            principals = self._patterns[pattern] = {}
            if acl.pattern_type == PatternType.PREFIXED:
                lengths = self._lengths.setdefault(acl.resource_type, {})
                lengths[len(acl.resource_name)] = lengths.get(len(acl.resource_name), 0) + 1
        principals.setdefault(acl.principal, {})[acl] = None
        self._of_type.setdefault((acl.resource_type, acl.principal), {})[acl] = None

    def remove(self, acl: Acl) -> None:
        """Takes an entry out that is there."""
        entries = self._of_type[acl.resource_type, acl.principal]
        del entries[acl]
        if not entries:
            del self._of_type[acl.resource_type, acl.principal]
        pattern = _Pattern(acl.resource_type, acl.pattern_type, acl.resource_name)
        principals = self._patterns[pattern]
        del principals[acl.principal][acl]
        if not principals[acl.principal]:
            del principals[acl.principal]
        if principals:
            return
        del self._patterns[pattern]
        if acl.pattern_type == PatternType.PREFIXED:
            lengths = self._lengths[acl.resource_type]
            lengths[len(acl.resource_name)] -= 1
            if not lengths[len(acl.resource_name)]:
                del lengths[len(acl.resource_name)]

    def names(self, resource_type: int, name: str) -> bool:
        """Whether any entry is about the resource, of whatever principal and operation."""
        return any(True for _ in self._about(resource_type, name))

    def of(self, resource_type: int, name: str, principal: str) -> Iterator[Acl]:
        """The entries about a resource that are for a principal or for `User:*`."""
        for principals in self._about(resource_type, name):
            yield from principals.get(principal, ())
            if principal != ANYBODY:
                yield from principals.get(ANYBODY, ())

    def of_type(self, resource_type: int, principal: str) -> Iterator[Acl]:
        """The entries about any resource of a type that are for a principal or for `User:*`."""
        for name in dict.fromkeys((principal, ANYBODY)):
            yield from self._of_type.get((resource_type, name), ())

    def _about(self, resource_type: int, name: str) -> Iterator[dict[str, _Entries]]:
        patterns = self._patterns
        for literal in (name, WILDCARD) if name != WILDCARD else (name,):
            found = patterns.get(_Pattern(resource_type, PatternType.LITERAL, literal))
            if found is not None:
                yield found
        for length in self._lengths.get(resource_type, ()):
            if length <= len(name):
                found = patterns.get(_Pattern(resource_type, PatternType.PREFIXED, name[:length]))
                if found is not None:
                    yield found
