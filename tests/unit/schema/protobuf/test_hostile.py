"""Texts that somebody sends to break something: refused, and soon."""

import base64
import random

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from ottla.schema.error import InvalidSchemaError
from ottla.schema.protobuf.difference import Change
from ottla.schema.protobuf.parse import parse
from ottla.schema.protobuf.schema import ProtobufSchema
from ottla.schema.reference import Reference

PROTO3 = 'syntax = "proto3"; '


@pytest.mark.parametrize(
    "text",
    [
        "message A {" * 10_000,
        PROTO3 + "message A {" * 40 + "}" * 40,
        PROTO3 + "option a = " + "{a:" * 10_000,
        PROTO3 + "option a = " + "[" * 10_000,
        PROTO3 + "message A { string a = " + "9" * 10_000 + "; }",
        PROTO3 + "message A { string a = 0x" + "f" * 10_000 + "; }",
        PROTO3 + "message A { reserved 5 to 3; }",
        PROTO3 + "/*" * 100_000,
        PROTO3 + '"' + "\\" * 100_001,
        PROTO3 + "option a = '\n';",
        PROTO3 + "message A { string \u0430 = 1; }",
        PROTO3 + "message A { string a = 1; \x00 }",
        PROTO3 + "option a = '\\ud800';",
        "\ud800",
        "0" * 100_000,
        "AAAA",
        " " * 1_000_000 + "!",
        base64.b64encode(b"\x12\xff\xff\xff\xff\x0f").decode(),
    ],
    ids=range(18),
)
def test_it_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchemaError):
        parse(text, (), {}, strict=True)


def test_imports_in_a_circle_end() -> None:
    resolved = {
        "a.proto": PROTO3 + 'import "b.proto"; message X {}',
        "b.proto": PROTO3 + 'import "a.proto"; message Y {}',
    }
    schema = parse(PROTO3 + 'import "a.proto"; message A { X x = 1; }', (), resolved, strict=True)
    assert set(schema.dependencies) == {"a.proto", "b.proto"}


def test_a_long_chain_of_imports_is_followed() -> None:
    resolved = {f"{n}.proto": PROTO3 + f'import "{n + 1}.proto"; message M{n} {{}}' for n in range(3_000)}
    assert (
        len(parse(PROTO3 + 'import "0.proto"; message A { M0 m = 1; }', (), resolved, strict=True).dependencies)
        == 3_000
    )


def test_messages_that_hold_each_other_are_compared() -> None:
    text = PROTO3 + "message A { B b = 1; } message B { A a = 1; C c = 2; } message C { repeated C c = 1; B b = 2; }"
    schema = parse(text, (), {}, strict=True)
    assert schema.differences(parse(text, (), {}, strict=True)) == []


@pytest.mark.parametrize(("depth", "width"), [(3_000, 1), (300, 3)])
def test_messages_that_hold_others_in_a_long_chain_are_compared(depth: int, width: int) -> None:
    """Each pair once: the number of ways through such a file has more digits than the file has messages."""

    def version(number: int, last: str) -> ProtobufSchema:
        links = " ".join(
            f"message M{n} {{ {' '.join(f'M{n + 1} f{k} = {k};' for k in range(1, width + 1))} }}" for n in range(depth)
        )
        chain = PROTO3 + f"package r; {links} message M{depth} {{ {last} x = 1; }}"
        text = PROTO3 + 'import "r.proto"; message A { r.M0 m = 1; }'
        return parse(text, [Reference("r.proto", "s", number)], {"r.proto": chain}, strict=True)

    found = version(2, "string").differences(version(1, "int32"))
    assert found[0].change is Change.FIELD_SCALAR_KIND_CHANGED
    assert (found[-1].change, found[-1].path) == (Change.FIELD_NAMED_TYPE_CHANGED, "#/A/1")
    assert version(2, "int32").differences(version(1, "int32")) == []


def test_a_wide_schema_takes_no_time() -> None:
    text = PROTO3 + "message A {" + "".join(f"string field_{n} = {n};" for n in range(1, 15_000)) + "}"
    assert parse(text, (), {}, strict=True).normalized().name == "A"


def test_a_normal_form_does_not_blow_numbers_up() -> None:
    text = "message A { optional double d = 1 [default = 1e999999999]; }"
    assert "1e999999999" in parse(text, (), {}, strict=False).normalized().canonical_text


def test_broken_descriptors_are_refused_or_read() -> None:
    """Any bytes in base64: an answer or InvalidSchemaError, never something else."""
    schema = parse(PROTO3 + "message A { map<string, int32> m = 1; oneof o { string s = 2; } }", (), {}, strict=True)
    good = schema.descriptor().SerializeToString()
    dice = random.Random(29)
    for _ in range(300):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        try:
            parse(base64.b64encode(data).decode(), (), {}, strict=True).normalized()
        except InvalidSchemaError:
            continue


def test_a_deep_descriptor_is_refused() -> None:
    file = FileDescriptorProto(name="a", syntax="proto3")
    message = file.message_type.add(name="A")
    for _ in range(60):
        message = message.nested_type.add(name="A")
    text = base64.b64encode(file.SerializeToString()).decode()
    with pytest.raises(InvalidSchemaError):
        parse(text, (), {}, strict=True)
