"""From a writer's and a reader's Avro schema to the program that reads the one's records into the other's columns.

The rules are those of Avro's specification: fields by name or alias, defaults for what the writer lacks, promotions,
enums by symbol, unions by branch; names count without their namespaces. What can't be resolved fails when a record
comes to it: a branch that no record uses does no harm. Logical types are the reader's; decimals of different scales
are refused.
"""

from typing import Final

from ottla.schema.avro.compatibility import same_name
from ottla.schema.avro.logical_type import logical_type
from ottla.schema.avro.model import Array, Enum, Field, Fixed, Map, Missing, Named, Node, Primitive, Record, Union
from ottla.schema.columns.default import UnfitDefaultError, encode_default
from ottla.schema.columns.layout import Op, Program, ReadStep
from ottla.schema.columns.shape import Shape, allows_null, decimal_digits, members, without_null
from ottla.schema.error import InvalidSchemaError

_STEPS_MAX: Final = 200_000
_NUMBERS: Final = {
    ("int", "int"): Op.INT,
    ("int", "long"): Op.LONG,
    ("long", "long"): Op.LONG,
    ("int", "float"): Op.INTEGER_AS_FLOAT,
    ("long", "float"): Op.INTEGER_AS_FLOAT,
    ("int", "double"): Op.INTEGER_AS_DOUBLE,
    ("long", "double"): Op.INTEGER_AS_DOUBLE,
    ("float", "float"): Op.FLOAT,
    ("float", "double"): Op.FLOAT_AS_DOUBLE,
    ("double", "double"): Op.DOUBLE,
    ("boolean", "boolean"): Op.BOOLEAN,
}
_TEXTUAL: Final = frozenset({"string", "bytes"})


def resolve(writer: Node, reader: Node, shape: Shape) -> Program:
    """The program; `shape` is the reader's."""
    resolution = _Resolution()
    if writer.kind == "bytes" and shape.node.kind in _TEXTUAL and decimal_digits(shape.node) is None:
        # Confluent's serializers write a schema that is plain bytes without a length.
        resolution.add(ReadStep(Op.BARE, shape.slot, int(shape.node.kind == "string")))
    else:
        resolution.compile_root(writer, reader, shape)
    return resolution.program()


class _Resolution:
    def __init__(self) -> None:
        self._steps: Final[list[ReadStep]] = []
        self._blob: Final = bytearray()
        self._reasons: Final[dict[str, int]] = {}
        self._skips: Final[dict[int, int]] = {}

    def program(self) -> Program:
        return Program(tuple(self._steps), bytes(self._blob), tuple(self._reasons))

    def compile_root(self, writer: Node, reader: Node, shape: Shape) -> None:
        """The first step is the root's, whichever parts are made before it."""
        place = self.add(ReadStep(Op.FAIL))
        self._steps[place] = self._steps[self._compile(writer, reader, shape)]

    def add(self, step: ReadStep) -> int:
        """The step's number."""
        if len(self._steps) >= _STEPS_MAX:
            raise InvalidSchemaError("the schemas are too large to be resolved")
        self._steps.append(step)
        return len(self._steps) - 1

    def _fail(self, reason: str) -> int:
        return self.add(ReadStep(Op.FAIL, a=self._reasons.setdefault(reason, len(self._reasons))))

    def _keep(self, data: bytes) -> int:
        self._blob.extend(data)
        return len(self._blob) - len(data)

    def _compile(self, writer: Node, reader: Node, shape: Shape) -> int:
        if isinstance(writer, Union):
            parts = tuple(self._compile(branch, reader, shape) for branch in writer.branches)
            return self.add(ReadStep(Op.CHOICE, parts=parts))
        if writer.kind == "null":
            if allows_null(reader):
                return self.add(ReadStep(Op.NULL, shape.slot))
            return self._fail(f"a null can't be read as {_label(reader)}")
        if isinstance(reader, Union):
            return self._union(writer, reader, shape)
        return self._same(writer, reader, shape)

    def _union(self, writer: Node, reader: Union, shape: Shape) -> int:
        found = members(reader)
        chosen = _branch(writer, found)
        if chosen is None:
            return self._fail(f"{_label(writer)} is no branch of {_label(reader)}")
        if not shape.is_members:
            return self._same(writer, without_null(reader), shape)
        part = self._compile(writer, found[chosen], shape.parts[chosen])
        return self.add(ReadStep(Op.MEMBER, shape.slot, a=chosen, parts=(part,)))

    def _same(self, writer: Node, reader: Node, shape: Shape) -> int:
        if not _fits(writer, reader):
            return self._fail(f"{_label(writer)} can't be read as {_label(reader)}")
        number = _NUMBERS.get((writer.kind, reader.kind))
        if number is not None:
            return self.add(ReadStep(number, shape.slot))
        if isinstance(writer, Record) and isinstance(reader, Record):
            return self._record(writer, reader, shape)
        if isinstance(writer, Array) and isinstance(reader, Array):
            item = self._compile(writer.items, reader.items, shape.parts[0])
            return self.add(ReadStep(Op.ARRAY, shape.slot, a=_takes_bytes(writer.items), parts=(item,)))
        if isinstance(writer, Map) and isinstance(reader, Map):
            key = self.add(ReadStep(Op.STRING, shape.parts[0].slot))
            value = self._compile(writer.values, reader.values, shape.parts[1])
            return self.add(ReadStep(Op.MAP, shape.slot, parts=(key, value)))
        if isinstance(writer, Enum) and isinstance(reader, Enum):
            return self._enum(writer, reader, shape)
        return self._binary(writer, reader, shape)

    def _binary(self, writer: Node, reader: Node, shape: Shape) -> int:
        digits = decimal_digits(reader)
        size = writer.size if isinstance(writer, Fixed) else -1
        if digits is not None:
            if logical_type(writer) == "decimal" and writer.props.get("scale", 0) != digits[1]:
                return self._fail(f"a decimal of scale {writer.props.get('scale', 0)} can't be read with {digits[1]}")
            width = shape.type.bit_width // 8
            bound = self._keep((10 ** digits[0]).to_bytes(width, "little"))
            return self.add(ReadStep(Op.DECIMAL, shape.slot, size, bound))
        if isinstance(writer, Fixed):
            return self.add(ReadStep(Op.FIXED, shape.slot, size))
        return self.add(ReadStep(Op.STRING if reader.kind == "string" else Op.BYTES, shape.slot))

    def _enum(self, writer: Enum, reader: Enum, shape: Shape) -> int:
        parts = []
        for symbol in writer.symbols:
            known = symbol if symbol in reader.symbols else reader.default
            if known is None:
                parts.append(self._fail(f"{symbol} is no symbol of {reader.label}, which has no default"))
            else:
                text = known.encode("utf-8", "replace")
                parts.append(self.add(ReadStep(Op.TEXT, shape.slot, self._keep(text), len(text))))
        return self.add(ReadStep(Op.CHOICE, parts=tuple(parts)))

    def _record(self, writer: Record, reader: Record, shape: Shape) -> int:
        targets: dict[str, tuple[Field, Shape]] = {}
        for field, part in zip(reader.fields, shape.parts, strict=True):
            known = [name for name in (field.name, *field.aliases) if name in writer.field_by_name]
            if known:
                targets.setdefault(known[0], (field, part))
        steps = []
        for field in writer.fields:
            target = targets.get(field.name)
            steps.append(
                self._skip(field.type) if target is None else self._compile(field.type, target[0].type, target[1])
            )
        found = {id(field) for field, _ in targets.values()}
        for field, part in zip(reader.fields, shape.parts, strict=True):
            if id(field) not in found:
                steps.append(self._default(reader, field, part))
        return self.add(ReadStep(Op.RECORD, shape.slot, parts=tuple(steps)))

    def _default(self, record: Record, field: Field, shape: Shape) -> int:
        if isinstance(field.default, Missing):
            return self._fail(f"the writer has no field {field.name}, for which {record.label} has no default")
        try:
            data = encode_default(field.type, field.default)
        except UnfitDefaultError:
            return self._fail(f"the default of {record.label}.{field.name} is no value of its type")
        part = self._compile(field.type, field.type, shape)
        return self.add(ReadStep(Op.CONSTANT, shape.slot, self._keep(data), len(data), (part,)))

    def _skip(self, node: Node) -> int:
        """Passes over a value, of a type that may contain itself."""
        known = self._skips.get(id(node))
        if known is not None:
            return known
        self._skips[id(node)] = place = self.add(ReadStep(Op.FAIL))
        self._steps[place] = self._skipping(node)
        return place

    def _skipping(self, node: Node) -> ReadStep:
        if isinstance(node, Record):
            return ReadStep(Op.SKIP_RECORD, parts=tuple(self._skip(field.type) for field in node.fields))
        if isinstance(node, Union):
            return ReadStep(Op.CHOICE, parts=tuple(self._skip(branch) for branch in node.branches))
        if isinstance(node, Array):
            return ReadStep(Op.SKIP_ARRAY, a=_takes_bytes(node.items), parts=(self._skip(node.items),))
        if isinstance(node, Map):
            return ReadStep(Op.SKIP_MAP, parts=(self._skip(Primitive("string", {})), self._skip(node.values)))
        if isinstance(node, Fixed):
            return ReadStep(Op.SKIP_FIXED, a=node.size)
        if node.kind in _TEXTUAL:
            return ReadStep(Op.SKIP_BYTES)
        sizes = {"float": 4, "double": 8, "boolean": 1, "null": 0}
        return ReadStep(Op.SKIP_FIXED, a=sizes[node.kind]) if node.kind in sizes else ReadStep(Op.SKIP_NUMBER)


def _branch(writer: Node, branches: list[Node]) -> int | None:
    """The reader's branch for a writer's type: the same type if there is one, else the first that can read it."""
    for at, branch in enumerate(branches):
        if branch.kind == writer.kind and _fits(writer, branch) and logical_type(branch) == logical_type(writer):
            return at
    same_kind = (at for at, branch in enumerate(branches) if branch.kind == writer.kind and _fits(writer, branch))
    wider = (at for at, branch in enumerate(branches) if _fits(writer, branch))
    return next(same_kind, next(wider, None))


def _fits(writer: Node, reader: Node) -> bool:
    """By kinds and names alone."""
    if (writer.kind, reader.kind) in _NUMBERS or {writer.kind, reader.kind} <= _TEXTUAL:
        return True
    if writer.kind != reader.kind:
        return False
    if isinstance(writer, Fixed) and isinstance(reader, Fixed) and writer.size != reader.size:
        return False
    return not (isinstance(writer, Named) and isinstance(reader, Named)) or same_name(reader, writer)


def _takes_bytes(node: Node, inside: tuple[int, ...] = ()) -> int:
    """1 where every value of the type has a byte at least, else 0."""
    if isinstance(node, Fixed):
        return int(node.size > 0)
    if isinstance(node, Record):
        # What contains itself without a union around it has no values at all.
        return int(id(node) in inside or any(_takes_bytes(field.type, (*inside, id(node))) for field in node.fields))
    return int(node.kind != "null")


def _label(node: Node) -> str:
    if isinstance(node, Union):
        return f"[{', '.join(branch.label for branch in node.branches)}]"
    return node.label
