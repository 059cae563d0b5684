"""Defaults of Avro fields as the bytes that a writer would have written."""

import struct

from ottla.schema.avro.model import MISSING, Array, Enum, Fixed, Map, Missing, Node, Record, Union
from ottla.schema.json_text import Json


class UnfitDefaultError(ValueError):
    """The default is no value of its type."""


def encode_default(node: Node, value: Json) -> bytes:
    """The value in Avro; a union's is of the first branch that it fits."""
    if isinstance(node, Union):
        for index, branch in enumerate(node.branches):
            try:
                return number(index) + encode_default(branch, value)
            except UnfitDefaultError:
                continue
        raise UnfitDefaultError
    if isinstance(node, Record) and isinstance(value, dict):
        return b"".join(_field(field.type, value.get(field.name, field.default)) for field in node.fields)
    if isinstance(node, Array) and isinstance(value, list):
        return _block([encode_default(node.items, item) for item in value])
    if isinstance(node, Map) and isinstance(value, dict):
        return _block([_sized(key.encode()) + encode_default(node.values, item) for key, item in value.items()])
    return _leaf(node, value)


def _field(node: Node, value: Json | Missing) -> bytes:
    if value is MISSING or isinstance(value, Missing):
        raise UnfitDefaultError
    return encode_default(node, value)


def _leaf(node: Node, value: Json) -> bytes:
    if value is None and node.kind == "null":
        return b""
    if isinstance(value, bool):
        if node.kind == "boolean":
            return bytes([value])
    elif isinstance(value, (int, float)):
        return _number(node, value)
    elif isinstance(value, str):
        return _text(node, value)
    raise UnfitDefaultError


def _number(node: Node, value: float) -> bytes:
    if node.kind == "double":
        return struct.pack("<d", value)
    if node.kind == "float":
        try:
            return struct.pack("<f", value)
        except OverflowError:
            return struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    bits = {"int": 31, "long": 63}.get(node.kind)
    if bits is None or not isinstance(value, int) or not -(1 << bits) <= value < 1 << bits:
        raise UnfitDefaultError
    return number(value)


def _text(node: Node, value: str) -> bytes:
    if node.kind == "string":
        return _sized(value.encode("utf-8", "replace"))
    if isinstance(node, Enum) and value in node.symbols:
        return number(node.symbols.index(value))
    try:
        raw = value.encode("latin-1")
    except UnicodeEncodeError:
        raise UnfitDefaultError from None
    if node.kind == "bytes":
        return _sized(raw)
    if isinstance(node, Fixed) and len(raw) == node.size:
        return raw
    raise UnfitDefaultError


def number(value: int) -> bytes:
    """A zig-zag varint.

    >>> number(-1).hex(), number(64).hex()
    ('01', '8001')
    """
    raw = (value << 1) ^ (value >> 63)
    out = bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    return bytes((*out, raw))


def _sized(raw: bytes) -> bytes:
    return number(len(raw)) + raw


def _block(items: list[bytes]) -> bytes:
    return (number(len(items)) + b"".join(items) if items else b"") + b"\0"
