"""The loop from JSON documents to the buffers of Arrow arrays, in plain Python; `_decoder` does the same, compiled.

Properties may come in any order; one that comes again replaces the one before. Those that the schema does not declare
are passed over.
"""

import re
import struct
from collections.abc import Callable
from typing import Final

from ottla.schema.columns.json.layout import DocumentLayout, JsonKind, NodePlan
from ottla.schema.columns.json.text_plain import Text
from ottla.schema.columns.layout import BYTES_MAX, Code, Kind, Slot
from ottla.schema.columns.slot_plain import BadRecordError, RowDecoder

_ESCAPE: Final = re.compile(rb'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SHORT: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_LONG: Final = range(-(1 << 63), 1 << 63)
_DIGITS_MAX: Final = 20
"""Of an integer of 64 bits, with its sign."""


class DocumentDecoder(RowDecoder):
    """Reads JSON documents."""

    def __init__(self, slots: tuple[Slot, ...], layout: DocumentLayout) -> None:
        super().__init__(slots)
        self.nodes: Final = layout.nodes
        self.properties: Final = [{each.name: at for at, each in enumerate(node.properties)} for node in layout.nodes]

    def read(self, program: object, data: memoryview) -> None:
        """Appends one document to the slots; all of them follow one program."""
        try:
            str(data, "utf-8")
        except UnicodeDecodeError:
            raise BadRecordError(Code.NOT_UTF8, 0) from None
        reading = _Reading(self, bytes(data))
        reading.value(0)
        reading.skip_space()
        if reading.at != len(data):
            raise reading.bad()


class _Reading(Text):
    """One document, and how far it is read."""

    def __init__(self, decoder: DocumentDecoder, data: bytes) -> None:
        super().__init__(data)
        self._decoder: Final = decoder
        self._arrays: Final = decoder.arrays

    def value(self, number: int) -> None:
        """A value as a row of its plan's slot."""
        node = self._decoder.nodes[number]
        first = self.peek()
        if first == b"n":
            if not node.is_nullable:
                raise self.bad(Code.NULL_VALUE)
            self.word()
            self._decoder.append_null(node.slot)
            return
        if node.kind is not JsonKind.TEXT and first not in _FIRST[node.kind]:
            raise self.bad(Code.WRONG_KIND if first in _ANY else Code.NOT_JSON)
        if node.kind in (JsonKind.OBJECT, JsonKind.LIST, JsonKind.MAP):
            _NESTED[node.kind](self, number)
        else:
            _LEAF[node.kind](self, node)

    def _boolean(self, node: NodePlan) -> None:
        value = self.word() == b"true"
        self._arrays[node.slot].valid.append(True)
        self._arrays[node.slot].bits.append(value)

    def _integer(self, node: NodePlan) -> None:
        start = self.at
        text, is_integer = self.number()
        value = _integer(text) if is_integer else _whole(float(text))
        if value is None or value not in _LONG:
            self.at = start
            raise self.bad(Code.WRONG_KIND if value is None else Code.NUMBER_TOO_LARGE)
        self._append(node, struct.pack("=q", value))

    def _number(self, node: NodePlan) -> None:
        self._append(node, struct.pack("=d", float(self.number()[0])))

    def _string(self, node: NodePlan) -> None:
        self._append_text(node.slot, self._unescaped())

    def _text(self, node: NodePlan) -> None:
        start = self.at
        self.skip_value(0)
        self._append_text(node.slot, self.data[start : self.at])

    def _object(self, number: int) -> None:
        decoder = self._decoder
        node, known = decoder.nodes[number], decoder.properties[number]
        seen = [False] * len(node.properties)
        row = len(self._arrays[node.slot].valid)
        is_closed = self.is_empty(b"}")
        while not is_closed:
            self.skip_space()
            name = self._unescaped()
            self.colon()
            at = known.get(name)
            if at is None:
                self.skip_value(0)
            else:
                part = node.properties[at].node
                if seen[at]:
                    decoder.truncate(decoder.nodes[part].slot, row)
                seen[at] = True
                self.value(part)
            is_closed = self.is_closed(b"}")
        for each, is_there in zip(node.properties, seen, strict=True):
            if is_there:
                continue
            if each.reason:
                raise self.bad(Code.REASON + each.reason)
            decoder.append_null(decoder.nodes[each.node].slot)
        self._arrays[node.slot].valid.append(True)

    def _list(self, number: int) -> None:
        node = self._decoder.nodes[number]
        array = self._arrays[node.slot]
        is_closed = self.is_empty(b"]")
        while not is_closed:
            self.value(node.part)
            is_closed = self.is_closed(b"]")
        self._push_list(node, len(self._arrays[array.children[0]].valid))

    def _map(self, number: int) -> None:
        node = self._decoder.nodes[number]
        entries = self._arrays[self._arrays[node.slot].children[0]]
        is_closed = self.is_empty(b"}")
        while not is_closed:
            self.skip_space()
            name = self._unescaped()
            self.colon()
            self._append_text(entries.children[0], name)
            self.value(node.part)
            entries.valid.append(True)
            is_closed = self.is_closed(b"}")
        self._push_list(node, len(entries.valid))

    def _push_list(self, node: NodePlan, rows: int) -> None:
        if rows > BYTES_MAX:
            raise self.bad(Code.COLUMN_FULL)
        self._arrays[node.slot].valid.append(True)
        self._arrays[node.slot].offsets.append(rows)

    def _append(self, node: NodePlan, value: bytes) -> None:
        self._arrays[node.slot].valid.append(True)
        self._arrays[node.slot].values.append(value)

    def _append_text(self, slot: int, value: bytes) -> None:
        array = self._arrays[slot]
        assert array.kind is Kind.BYTES
        if array.offsets[-1] + len(value) > BYTES_MAX:
            raise self.bad(Code.COLUMN_FULL)
        array.valid.append(True)
        array.values.append(value)
        array.offsets.append(array.offsets[-1] + len(value))

    def _unescaped(self) -> bytes:
        """A string's value; surrogates have to be pairs."""
        start = self.at
        written = self.string()[1:-1]
        if b"\\" not in written:
            return written
        units = _ESCAPE.sub(_unit, written)
        try:
            # What was no escape is UTF-8 already, and halves of pairs meet here.
            return units.decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16").encode()
        except UnicodeDecodeError:
            self.at = start
            raise self.bad(Code.NOT_UTF8) from None


_FIRST: Final = {
    JsonKind.NULL: b"",
    JsonKind.BOOLEAN: b"tf",
    JsonKind.INTEGER: b"-0123456789",
    JsonKind.NUMBER: b"-0123456789",
    JsonKind.STRING: b'"',
    JsonKind.OBJECT: b"{",
    JsonKind.LIST: b"[",
    JsonKind.MAP: b"{",
}
_ANY: Final = b'tf-0123456789"{['
_NESTED: Final[dict[JsonKind, Callable[[_Reading, int], None]]] = {
    JsonKind.OBJECT: _Reading._object,
    JsonKind.LIST: _Reading._list,
    JsonKind.MAP: _Reading._map,
}
_LEAF: Final[dict[JsonKind, Callable[[_Reading, NodePlan], None]]] = {
    JsonKind.BOOLEAN: _Reading._boolean,
    JsonKind.INTEGER: _Reading._integer,
    JsonKind.NUMBER: _Reading._number,
    JsonKind.STRING: _Reading._string,
    JsonKind.TEXT: _Reading._text,
}


def _integer(text: bytes) -> int:
    """The digits may be without end; Python reads some thousand."""
    return int(text) if len(text) <= _DIGITS_MAX else _LONG.stop


def _whole(value: float) -> int | None:
    return int(value) if value.is_integer() and abs(value) < 2.0**63 else None


def _unit(found: re.Match[bytes]) -> bytes:
    if found.group(1) is None:
        return _SHORT.get(found.group(2), found.group(2))
    return chr(int(found.group(1), 16)).encode("utf-8", "surrogatepass")
