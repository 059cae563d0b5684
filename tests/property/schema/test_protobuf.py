"""Any two versions of a schema: what is called compatible can be read, and what is written down says the same again."""

from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.schema.compatibility import Level, check
from ottla.schema.protobuf.parse import parse
from ottla.schema.protobuf.schema import ProtobufSchema

INTEGERS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64")
VALUES: dict[str, Callable[[int], object]] = {
    **{name: lambda seed: seed % 100 for name in INTEGERS},
    "bool": lambda seed: seed % 2 == 1,
    "float": lambda seed: seed / 2,
    "double": lambda seed: seed / 4,
    "string": lambda seed: f"text {seed}",
    "bytes": lambda seed: f"bytes {seed}".encode(),
    "E": lambda seed: seed % 2,
}
types = st.sampled_from([*VALUES, "Inner", "map<string, int32>", "map<int64, Inner>"])
fields = st.tuples(types, st.sampled_from(["", "optional ", "repeated "]), st.sampled_from([None, None, "o", "p"]))
messages = st.dictionaries(st.integers(1, 6), fields, max_size=5)


def schema_of(
    outer: dict[int, tuple[str, str, str | None]], inner: dict[int, tuple[str, str, str | None]]
) -> ProtobufSchema:
    body = f"enum E {{ ZERO = 0; ONE = 1; }} message Inner {{ {text_of(inner)} }} message Outer {{ {text_of(outer)} }}"
    return parse(f'syntax = "proto3"; package p; {body}', (), {}, strict=True)


def text_of(message: dict[int, tuple[str, str, str | None]]) -> str:
    lines: list[str] = []
    oneofs: dict[str, list[str]] = {}
    for number, (type_, label, oneof) in message.items():
        if type_.startswith("map"):
            lines.append(f"{type_} f{number} = {number};")
        elif oneof is not None:
            oneofs.setdefault(oneof, []).append(f"{type_} f{number} = {number};")
        else:
            lines.append(f"{label}{type_} f{number} = {number};")
    lines += (f"oneof {name} {{ {' '.join(members)} }}" for name, members in oneofs.items())
    return " ".join(lines)


def class_of(schema: ProtobufSchema) -> type[Any]:
    pool = DescriptorPool()
    pool.AddSerializedFile(schema.descriptor().SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("p.Outer"))


def fill(message: Any, seed: int, depth: int = 0) -> Any:
    for field in message.DESCRIPTOR.fields:
        seed = seed * 31 + field.number
        if seed % 4 == 0 or depth > 2:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            fill_map(getattr(message, field.name), field, seed, depth)
        elif field.message_type is not None:
            target = getattr(message, field.name)
            fill(target.add() if field.is_repeated else target, seed, depth + 1)
            if not field.is_repeated:
                target.SetInParent()
        else:
            name = (
                "E"
                if field.enum_type
                else next(n for n in VALUES if getattr(field, f"TYPE_{n.upper()}", 0) == field.type)
            )
            if field.is_repeated:
                getattr(message, field.name).extend(VALUES[name](seed + n) for n in range(seed % 3))
            else:
                setattr(message, field.name, VALUES[name](seed))
    return message


def fill_map(target: Any, field: Any, seed: int, depth: int) -> None:
    if field.message_type.fields_by_name["value"].message_type is not None:
        fill(target[seed % 5], seed, depth + 1)
    else:
        target[f"key {seed % 5}"] = seed % 7


@settings(max_examples=150, deadline=None)
@given(old=messages, new=messages, inner=messages, changes=st.sets(st.integers(1, 6)), seed=st.integers(0, 10**6))
def test_what_is_compatible_can_be_read(
    old: dict[int, Any], new: dict[int, Any], inner: dict[int, Any], changes: set[int], seed: int
) -> None:
    """Most fields stay, so that compatible pairs are not rare."""
    kept = {number: field for number, field in old.items() if number not in changes}
    before = schema_of(old, inner)
    after = schema_of(kept | {number: field for number, field in new.items() if number in changes}, inner)
    written = fill(class_of(before)(), seed)
    if not check(Level.BACKWARD, after, [(1, before)]):
        read = class_of(after).FromString(written.SerializeToString())
        for number in kept:
            if old[number][2] is None and old[number][0] != "Inner":
                assert getattr(read, f"f{number}") == getattr(written, f"f{number}") or "Inner" in old[number][0]


@settings(max_examples=60, deadline=None)
@given(old=messages, new=messages, inner=messages)
def test_levels_agree(old: dict[int, Any], new: dict[int, Any], inner: dict[int, Any]) -> None:
    before, after = schema_of(old, inner), schema_of(new, old)
    assert check(Level.FULL_TRANSITIVE, before, [(1, before)]) == ()
    both = [bool(check(level, after, [(1, before)])) for level in (Level.BACKWARD, Level.FORWARD)]
    assert bool(check(Level.FULL, after, [(1, before)])) == any(both)


@settings(max_examples=80, deadline=None)
@given(outer=messages, inner=messages)
def test_text_and_descriptor_say_the_same(outer: dict[int, Any], inner: dict[int, Any]) -> None:
    schema = schema_of(outer, inner)
    assert parse(schema.canonical_text, (), {}, strict=True) == schema
    again = parse(schema.formatted("serialized"), (), {}, strict=True)
    assert again.normalized().canonical_text == schema.normalized().canonical_text
    assert parse(again.canonical_text, (), {}, strict=True).formatted("serialized") == again.formatted("serialized")
    assert schema.differences(again) == [] == again.differences(schema)
    assert class_of(again).FromString(fill(class_of(schema)(), 7).SerializeToString()) is not None
