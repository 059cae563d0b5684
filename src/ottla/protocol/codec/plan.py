"""A plan: the layout of one struct in one version, worked out once from its declaration.

Invariant: `fields` + `tagged` + `absent` are the struct's declared fields, each exactly once.
"""

from ottla.protocol.struct_type import Field, Kind, Struct


class FieldPlan:
    """A field as one version has it."""

    __slots__ = ("compact", "element", "field", "kind", "name", "nested", "nullable", "tagged")

    def __init__(self, field: Field, version: int, *, flexible: bool) -> None:
        self.field = field
        self.name = field.name
        self.kind = field.kind
        self.nullable = field.nullable.includes(version)
        self.compact = flexible and not field.never_compact
        self.tagged = flexible and field.tag is not None
        self.nested: StructPlan | None = None
        """The layout of the struct, if it is one."""
        self.element: FieldPlan | None = None
        """The type of the elements, if it is an array."""
        if field.struct is not None:
            self.nested = StructPlan(field.struct, version, flexible=flexible)
        if field.element is not None:
            self.element = self._of_element(field.element)

    def _of_element(self, kind: Kind) -> "FieldPlan":
        """An element is laid out as its array, but for its own type, and is never null."""
        element = FieldPlan.__new__(FieldPlan)
        element.field, element.name, element.compact = self.field, self.name, self.compact
        element.kind, element.nested, element.element = kind, self.nested, None
        element.nullable = element.tagged = False
        return element


class StructPlan:
    """A struct as one version has it."""

    __slots__ = (
        "absent",
        "arrays",
        "compiled",
        "cut",
        "defaulted",
        "fields",
        "flexible",
        "struct",
        "tagged",
        "version",
    )

    def __init__(self, struct: type[Struct], version: int, *, flexible: bool) -> None:
        planned = [FieldPlan(field, version, flexible=flexible) for field in struct.definition.values()]
        present = [plan for plan in planned if plan.field.versions.includes(version)]
        self.struct = struct
        self.version = version
        self.flexible = flexible
        self.fields = tuple(plan for plan in present if not plan.tagged)
        """In the order of the wire."""
        self.tagged = tuple(sorted((plan for plan in present if plan.tagged), key=lambda plan: plan.field.tag or 0))
        """By tag, ascending."""
        self.absent = tuple(plan for plan in planned if not plan.field.versions.includes(version))
        """Declared, but not in this version."""
        self.defaulted = self.tagged + self.absent
        """The fields that a reader first sets to their defaults."""
        self.compiled: object = None
        """The compiled engine's form of this plan."""
        self.arrays: tuple[FieldPlan, ...] | None = None
        """Arrays of structs, after the first look."""
        self.cut: tuple[StructPlan | FieldPlan, ...] | None = None
        """How a long struct is encoded piece by piece."""

    def some_fields(self, begin: int, end: int) -> "StructPlan":
        """A plan of the fields from `begin` to `end`; the tagged ones belong to the last."""
        some = StructPlan.__new__(StructPlan)
        is_last = end == len(self.fields)
        some.struct, some.version, some.fields = self.struct, self.version, self.fields[begin:end]
        some.flexible = self.flexible and is_last
        some.tagged = self.tagged if is_last else ()
        some.absent = self.absent
        some.defaulted = some.tagged + some.absent
        some.compiled = some.arrays = some.cut = None
        return some
