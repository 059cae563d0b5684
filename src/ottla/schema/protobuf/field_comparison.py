"""Checks whether values of a field's old type can be read as its new type.

Scalars fall into groups that share their encoding; messages are equal if their names without the package are.
"""

from typing import Final

from ottla.base.frozen import frozen
from ottla.schema.protobuf.difference import Change
from ottla.schema.protobuf.element import SCALARS, EnumType, Field, MapType, Message
from ottla.schema.protobuf.scope import Scope, TypeInfo

_GROUPS: Final = {
    scalar: group
    for group, scalars in {
        "varint": "int32 int64 uint32 uint64 bool",
        "zigzag": "sint32 sint64",
        "text": "string bytes",
        "fixed32": "fixed32 sfixed32",
        "fixed64": "fixed64 sfixed64",
        "float": "float",
        "double": "double",
    }.items()
    for scalar in scalars.split()
}


@frozen
class Side:
    """One of the two schemas, at the place where names are looked for."""

    scope: Scope
    inside: tuple[str, ...]

    def within(self, name: str) -> "Side":
        """One message further in."""
        return Side(self.scope, (*self.inside, name))

    def type(self, name: str) -> TypeInfo | None:
        """The type of that name."""
        return None if name in SCALARS else self.scope.type(name, self.inside)

    def group(self, name: str) -> str | None:
        """The group of a scalar or an enum; None for messages."""
        if name in SCALARS:
            return _GROUPS[name]
        found = self.type(name)
        return "varint" if found is not None and isinstance(found.element, EnumType) else None

    def unfolded(self, type_: str | MapType) -> str | MapType:
        """The map, if the type is an entry message that a compiler made for one."""
        found = self.type(type_) if isinstance(type_, str) else None
        entry = found.element.entry_type() if found is not None and isinstance(found.element, Message) else None
        return entry or type_


class FieldTypes:
    """Compares the types of one field."""

    def __init__(self, old: Side, new: Side) -> None:
        self._old: Final = old
        self._new: Final = new
        self.to_look_into: Final[list[tuple[TypeInfo, TypeInfo]]] = []
        """Messages of the same name that come from different files, or from different versions of one."""

    def changes(self, old: Field, new: Field) -> list[Change]:
        """The changes of the field's type or label; key and value of a map may both have changed."""
        before, after = self._old.unfolded(old.type), self._new.unfolded(new.type)
        if isinstance(before, MapType) and isinstance(after, MapType):
            found = (self._single(before.key, after.key), self._single(before.value, after.value))
            return [change for change in found if change is not None]
        if isinstance(before, MapType) or isinstance(after, MapType):
            return [Change.FIELD_KIND_CHANGED]
        change = self._single(before, after) or self._label(self._old.group(before), old.label, new.label)
        return [] if change is None else [change]

    def _label(self, group: str | None, old: str | None, new: str | None) -> Change | None:
        if group is None or old is None or new is None or old == new:
            return None
        is_text = group == "text"
        return Change.FIELD_STRING_OR_BYTES_LABEL_CHANGED if is_text else Change.FIELD_NUMERIC_LABEL_CHANGED

    def _single(self, old: str, new: str) -> Change | None:
        old_group, new_group = self._old.group(old), self._new.group(new)
        if (old_group is None) != (new_group is None):
            return Change.FIELD_KIND_CHANGED
        if old_group is not None:
            return None if old_group == new_group else Change.FIELD_SCALAR_KIND_CHANGED
        return self._messages(old, new)

    def _messages(self, old: str, new: str) -> Change | None:
        before, after = self._old.type(old), self._new.type(new)
        if before is None or after is None:
            return None if old == new else Change.FIELD_NAMED_TYPE_CHANGED
        if before.local_name != after.local_name:
            return Change.FIELD_NAMED_TYPE_CHANGED
        first, second = before.reference, after.reference
        if first is None or second is None or (first.subject, first.version) != (second.subject, second.version):
            self.to_look_into.append((before, after))
        return None
