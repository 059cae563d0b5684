"""A plan: the layout of one struct in one version, worked out once from its declaration.

Invariant: `fields` + `tagged` + `absent` are the struct's declared fields, each exactly once.
"""

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING

from ottla.protocol.field import Field, Kind

if TYPE_CHECKING:
    from ottla.protocol.definition import Struct


@dataclass(slots=True)
class FieldPlan:
    """A field as one version has it."""

    field: Field
    name: str
    """The attribute that holds the value."""
    kind: Kind
    nullable: bool
    compact: bool
    tagged: bool
    nested: "StructPlan | None" = None
    """The layout of the struct, if it is one."""
    element: "FieldPlan | None" = None
    """What the array holds, if it is one. Elements are never null."""


@dataclass(slots=True)
class StructPlan:
    """A struct as one version has it."""

    struct: "type[Struct]"
    version: int
    flexible: bool
    fields: tuple[FieldPlan, ...]
    """In the order of the wire."""
    tagged: tuple[FieldPlan, ...]
    """By tag, ascending."""
    absent: tuple[FieldPlan, ...]
    """Declared, but not in this version."""
    defaulted: tuple[FieldPlan, ...] = dataclass_field(init=False, repr=False)
    """What a reader sets to its default at first: tagged and absent ones."""
    compiled: object = dataclass_field(default=None, compare=False, repr=False)
    """What the compiled engine made of this plan."""

    def __post_init__(self) -> None:
        self.defaulted = self.tagged + self.absent


def plan_struct(struct: "type[Struct]", version: int, *, flexible: bool) -> StructPlan:
    """The layout of `struct` in `version` of the message that holds it."""
    fields, tagged, absent = [], [], []
    for field in struct.definition.values():
        planned = _plan_field(field, version, flexible=flexible)
        if not field.versions.includes(version):
            absent.append(planned)
        elif planned.tagged:
            tagged.append(planned)
        else:
            fields.append(planned)
    tagged.sort(key=lambda planned: planned.field.tag or 0)
    return StructPlan(struct, version, flexible, tuple(fields), tuple(tagged), tuple(absent))


def _plan_field(field: Field, version: int, *, flexible: bool) -> FieldPlan:
    nested = None if field.struct is None else plan_struct(field.struct, version, flexible=flexible)
    compact = flexible and not field.never_compact
    tagged = flexible and field.tag is not None
    nullable = field.nullable.includes(version)
    if field.element is None:
        return FieldPlan(field, field.name, field.kind, nullable, compact, tagged, nested)
    element = FieldPlan(field, field.name, field.element, nullable=False, compact=compact, tagged=False, nested=nested)
    return FieldPlan(field, field.name, field.kind, nullable, compact, tagged, element=element)
