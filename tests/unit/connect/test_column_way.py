"""Columns of records become what the records become one by one, for every recorded case and for any values."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.connect.converter.catalogue import HEADER_CONVERTERS
from ottla.connect.converter.converter import Converter
from ottla.connect.data.builder import array, mapping, struct, with_default
from ottla.connect.data.column import MapColumn, RowsNeededError, column_of
from ottla.connect.data.java_text import java_text
from ottla.connect.data.java_text_column import java_texts
from ottla.connect.data.logical import TIMESTAMP_SCHEMA, Instant, decimal_schema
from ottla.connect.data.schema import (
    BOOLEAN,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    OPTIONAL_INT32,
    OPTIONAL_STRING,
    STRING,
    Schema,
)
from ottla.connect.data.struct import Struct
from ottla.connect.errors import ConnectError
from ottla.connect.harness import WORKER, CountedPause
from ottla.connect.pipeline.column_pipeline import ProducerColumns, ReadBlock, record_runs
from ottla.connect.pipeline.dead_letter import ConsumerRecord, DeadLetter, ProducerRecord
from ottla.connect.pipeline.record_pipeline import RecordPipeline
from ottla.connect.record import ConnectRecord, Header, SinkRecord, SourceRecord
from ottla.connect.record_columns import RecordColumns
from ottla.connect.transform.catalogue import TRANSFORMS
from tests.unit.connect.test_kafka_answers import recorded
from tests.vectors.connect.notation import record_of, schema_of, shown_record, value_of

COPIES = 3
PACKAGE = "org.apache.kafka.connect.transforms"


def test_every_recorded_record_is_transformed_alike_by_columns() -> None:
    """What a column cannot do it leaves to rows; it never does something else."""
    done = left = 0
    for case, kafka in recorded():
        if case["kind"] != "transform":
            continue
        found = by_columns(case)
        if found is None:
            left += "record" in kafka
            continue
        done += 1
        assert found == [by_rows(case)] * COPIES, case
    assert done > 1_000
    assert left < done, "columns are the usual way"


def test_every_recorded_value_is_converted_alike_by_columns() -> None:
    done = 0
    for case, _ in recorded():
        if case["kind"] != "from_connect":
            continue
        converter = HEADER_CONVERTERS[case["class"]]()
        if not vars(type(converter)).get("is_columnar"):
            continue
        try:
            converter.configure(case["config"], is_key=False)
        except ConnectError:
            continue
        schema = schema_of(case["schema"])
        value = value_of(schema, case["value"])
        try:
            made = converter.from_connect("topic", schema, value)
        except ConnectError as error:
            with pytest.raises((type(error), RowsNeededError)):
                converter.from_connect_all("topic", column_of(schema, [value] * COPIES))
            continue
        try:
            assert converter.from_connect_all("topic", column_of(schema, [value] * COPIES)) == [made] * COPIES, case
            done += 1
        except (RowsNeededError, UnicodeEncodeError):
            continue
    assert done > 200


def by_rows(case: Any) -> Any:
    transform = TRANSFORMS[case["class"]]()
    transform.configure(case["config"])
    return shown_record(transform.apply(record_of(case["record"])))


def by_columns(case: Any) -> Sequence[Any] | None:
    """The case's record some times over; None where columns leave it to rows."""
    transform = TRANSFORMS[case["class"]]()
    try:
        transform.configure(case["config"])
        if "apply_columns" not in vars(type(transform)):
            return None
        records = [record_of(case["record"]) for _ in range(COPIES)]
        columns = transform.apply_columns(columns_of(records))
    except (ConnectError, RowsNeededError):
        # Rows raise the error; where they don't, they are simply slower.
        return None
    return [shown_record(record) for record in rows_of(columns, records)]


def columns_of(records: Sequence[ConnectRecord]) -> RecordColumns:
    first = records[0]
    return RecordColumns(
        topic=first.topic, partition=first.partition, headers=first.headers,
        key=column_of(first.key_schema, [each.key for each in records]),
        value=column_of(first.value_schema, [each.value for each in records]),
        timestamps=[each.timestamp for each in records],
        offsets=[each.offset for each in records if isinstance(each, SinkRecord)] or None,
    )  # fmt: skip


def rows_of(columns: RecordColumns, records: Sequence[ConnectRecord]) -> list[ConnectRecord]:
    keys, values = columns.key.rows(), columns.value.rows()
    return [
        record.replace(
            topic=columns.topic, partition=columns.partition, headers=columns.headers,
            key_schema=columns.key.schema, key=keys[place], value_schema=columns.value.schema, value=values[place],
        )
        for place, record in enumerate(records)
    ]  # fmt: skip


DEEP = struct({"x": INT32, "y": OPTIONAL_STRING, "d": with_default(OPTIONAL_INT32, 9)}, optional=True)
ORDER = struct({
    "id": INT64, "small": INT8, "note": OPTIONAL_STRING, "text": STRING, "price": FLOAT64, "open": BOOLEAN,
    "at": TIMESTAMP_SCHEMA, "d": with_default(OPTIONAL_INT32, 7), "r": with_default(STRING, "none"),
    "sum": decimal_schema(2), "list": array(INT32), "map": mapping(STRING, INT64), "deep": DEEP,
}, name="Order")  # fmt: skip
FLAT = struct({name: ORDER.fields[place].schema for place, name in enumerate(["id", "small", "note", "text", "price"])})
TEXT = st.text(st.sampled_from('ab"\\\n\x01%é😀\x7f '), max_size=5)
DEEPS = st.builds(
    lambda x, y, d: Struct(DEEP, {"x": x, "y": y, "d": d}), st.integers(-9, 9), st.none() | TEXT,
    st.none() | st.integers(-9, 9),
)  # fmt: skip
FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "id": st.integers(-(2**63), 2**63 - 1), "small": st.integers(-128, 127), "note": st.none() | TEXT, "text": TEXT,
    "price": st.floats() | st.sampled_from([0.0, 1.5, 2e7]), "open": st.booleans(),
    "at": st.integers(0, 2**41).map(Instant), "d": st.none() | st.integers(0, 5), "r": TEXT,
    "sum": st.integers(-9999, 9999).map(lambda cents: Decimal((int(cents < 0), tuple(map(int, str(abs(cents)))), -2))),
    "list": st.lists(st.integers(0, 9), max_size=2), "map": st.dictionaries(TEXT, st.integers(0, 9), max_size=2),
    "deep": st.none() | DEEPS,
}  # fmt: skip
BARE: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=4,
)
LINKS: Sequence[Mapping[str, str]] = (
    {"type": "HoistField$Value", "field": "h"},
    {"type": "ExtractField$Value", "field": "deep"},
    {"type": "ExtractField$Value", "field": "deep.y", "field.syntax.version": "V2"},
    {"type": "ReplaceField$Value", "exclude": "sum,map", "renames": "id:number,note:text2"},
    {"type": "ReplaceField$Value", "include": "id,note,d,deep", "replace.null.with.default": "false"},
    {"type": "InsertField$Value", "static.field": "s", "static.value": "here", "timestamp.field": "when!"},
    {"type": "InsertField$Value", "partition.field": "p", "topic.field": "t"},
    {"type": "MaskField$Value", "fields": "note,id,text"},
    {"type": "MaskField$Value", "fields": "small", "replacement": "5"},
    {"type": "Cast$Value", "spec": "id:string,small:int64,price:string,d:float64,open:int8"},
    {"type": "Cast$Value", "spec": "text:int32"},
    {"type": "Flatten$Value", "delimiter": "_"},
    {"type": "TimestampConverter$Value", "field": "at", "target.type": "string", "format": "yyyy-MM-dd HH:mm"},
    {"type": "TimestampConverter$Value", "field": "at", "target.type": "unix", "unix.precision": "nanoseconds"},
    {"type": "SetSchemaMetadata$Value", "schema.name": "Other", "schema.version": "2"},
    {"type": "ValueToKey", "fields": "id,note"},
    {"type": "InsertHeader", "header": "x", "value.literal": "5"},
    {"type": "TimestampRouter"},
    {"type": "RegexRouter", "regex": "t", "replacement": "u"},
    {"type": "Filter", "predicate": "gone"},
    {"type": "Filter", "predicate": "named"},
)
ENVELOPED = {"value.converter": "JsonConverter", "key.converter": "JsonConverter"}
PLAIN = {**ENVELOPED, "value.converter.schemas.enable": "false", "key.converter.schemas.enable": "false"}
TEXTS = {"value.converter": "StringConverter", "key.converter": "StringConverter"}
CONVERTERS = st.sampled_from([ENVELOPED, PLAIN, TEXTS])
CHAINS = st.lists(st.sampled_from(LINKS), max_size=3)
TIMES = st.none() | st.integers(0, 2**40)


@settings(max_examples=40)
@given(st.lists(st.fixed_dictionaries(dict(FIELDS)), min_size=1, max_size=3), CHAINS, CONVERTERS, TIMES)
def test_structs_go_the_way_of_columns_as_rows_do(
    values: list[dict[str, Any]], links: list[Mapping[str, str]], converters: Mapping[str, str], time: int | None
) -> None:
    agree([Struct(ORDER, value) for value in values], ORDER, links, {**converters, "time": str(time)})


@settings(max_examples=40)
@given(st.lists(BARE, min_size=1, max_size=3), CHAINS, CONVERTERS, TIMES)
def test_values_without_schema_go_the_way_of_columns_as_rows_do(
    values: list[Any], links: list[Mapping[str, str]], converters: Mapping[str, str], time: int | None
) -> None:
    agree(values, None, links, {**converters, "time": str(time)})


@settings(max_examples=40)
@given(st.lists(st.none() | TEXT, min_size=1, max_size=3), CHAINS, CONVERTERS)
def test_texts_go_the_way_of_columns_as_rows_do(
    values: list[Any], links: list[Mapping[str, str]], converters: Mapping[str, str]
) -> None:
    agree(values, STRING, links, {**converters, "time": "None"})


def agree(
    values: Sequence[Any], schema: Schema | None, links: Sequence[Mapping[str, str]], given: Mapping[str, str]
) -> None:
    """Columns give what rows give, where they give anything."""
    pipeline = made_of(links, {name: value for name, value in given.items() if name != "time"})
    time = None if given["time"] == "None" else int(given["time"])
    headers = (Header("h", None, 1),)
    records = [
        SourceRecord({}, {}, "t", value, value_schema=schema, timestamp=time, headers=headers) for value in values
    ]
    assert pipeline.many.is_open
    made = pipeline.many.source(records)
    if made is not None:
        outcomes = [pipeline.source(record) for record in records]
        assert records_of(made) == [each for each in outcomes if isinstance(each, ProducerRecord)]


def made_of(links: Sequence[Mapping[str, str]], given: Mapping[str, str]) -> RecordPipeline:
    made = dict(given)
    for place, link in enumerate(links):
        made |= {f"transforms.t{place}.{name}": value for name, value in link.items()}
    made |= {
        "transforms": ",".join(f"t{place}" for place in range(len(links))), "predicates": "gone,named",
        "predicates.gone.type": "RecordIsTombstone", "predicates.named.type": "TopicNameMatches",
        "predicates.named.pattern": "u", "name": "c", "errors.tolerance": "all",
    }  # fmt: skip
    return RecordPipeline.of(made, WORKER, 0, CountedPause())


ENVELOPES = st.sampled_from([
    {"schema": {"type": "struct", "fields": [{"field": "id", "type": "int64"}, {"field": "note", "type": "string",
     "optional": True}]}, "payload": {"id": 5, "note": "n"}},
    {"schema": {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}, "payload": {"id": 7}},
    {"schema": {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}, "payload": {"id": 8}},
    {"schema": {"type": "string", "doc": 'a "payload": in it'}, "payload": "x"},
    {"payload": 1, "schema": {"type": "int32"}},
    {"schema": None, "payload": {"id": [1]}},
])  # fmt: skip
MESSAGES = st.none() | ENVELOPES.map(lambda node: json.dumps(node, separators=(",", ":")).encode())
MESSAGES |= ENVELOPES.map(lambda node: json.dumps(node, indent=1).encode())
MESSAGES |= st.sampled_from([b"{", b" ", b"7x", b"\xff"])


@settings(max_examples=40)
@given(st.lists(st.tuples(MESSAGES, st.integers(1, 40)), min_size=1, max_size=4), CHAINS, CONVERTERS)
def test_messages_reach_a_sink_by_columns_as_they_do_one_by_one(
    messages: list[tuple[bytes | None, int]], links: list[Mapping[str, str]], converters: Mapping[str, str]
) -> None:
    pipeline = made_of(links, converters)
    values = [value for value, times in messages for _ in range(times)]
    read = [ConsumerRecord("t", 1, at, 9, "CreateTime", values[-1], value) for at, value in enumerate(values)]
    found = pipeline.many.sink(read)
    if found is not None:
        outcomes = [pipeline.sink(record) for record in read]
        assert found == [each for each in outcomes if isinstance(each, SinkRecord)]
        assert not any(isinstance(each, DeadLetter) for each in outcomes)
    agree_in_texts(pipeline, read)


@settings(max_examples=40)
@given(
    st.lists(st.fixed_dictionaries(dict(FIELDS)), min_size=1, max_size=3), CHAINS, st.sampled_from(["true", "false"])
)
def test_structs_in_envelopes_reach_a_sink_by_columns_as_they_do_one_by_one(
    rows: list[dict[str, Any]], links: list[Mapping[str, str]], replaces: bool
) -> None:
    pipeline = made_of(links, {**ENVELOPED, "value.converter.replace.null.with.default": str(replaces)})
    converter = json_converter({"replace.null.with.default": "false"})
    values = [converter.from_connect("t", ORDER, Struct(ORDER, row)) for row in rows]
    read = [ConsumerRecord("t", 1, at, 9, "CreateTime", None, value) for at, value in enumerate(values * 30)]
    found = pipeline.many.sink(read)
    if found is not None:
        # By their texts: NaN is not equal to itself.
        rows_found = [each for each in map(pipeline.sink, read) if isinstance(each, SinkRecord)]
        assert list(map(repr, found)) == list(map(repr, rows_found))
    agree_in_texts(pipeline, read)


@settings(max_examples=60)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "text", "%"]), BARE, max_size=3), min_size=1, max_size=3),
       CHAINS, st.booleans())  # fmt: skip
def test_maps_reach_a_sink_by_their_keys_as_they_do_one_by_one(
    rows: list[dict[str, Any]], links: list[Mapping[str, str]], time: bool
) -> None:
    more = {"type": "ReplaceField$Value", "exclude": "b", "renames": "a:text,text:b"}
    pipeline = made_of([more, *links], PLAIN)
    values = [json.dumps(row, allow_nan=True).encode() for row in rows]
    agree_in_texts(
        pipeline,
        [ConsumerRecord("t", 1, at, 9 if time else None, "CreateTime", None, value)
         for value in values for at in range(40)],
    )  # fmt: skip


def agree_in_texts(pipeline: RecordPipeline, read: Sequence[ConsumerRecord]) -> None:
    """What a sink is given by fields says what its records say."""
    block = ReadBlock(
        topic="t", partition=1, offsets=[each.offset for each in read], timestamps=[each.timestamp for each in read],
        keys=[each.key for each in read], values=[each.value for each in read],
    )  # fmt: skip
    columns = pipeline.many.sink_columns(block)
    if columns is not None:
        outcomes = [pipeline.sink(record) for record in read]
        rows = [java_text(each.value, each.value_schema) for each in outcomes if isinstance(each, SinkRecord)]
        assert [text for column in columns for text in java_texts(column)] == rows


def test_structs_in_envelopes_are_taken_as_columns() -> None:
    mask = {"transforms": "m", "transforms.m.type": "MaskField$Value", "transforms.m.fields": "text"}
    converter = json_converter({})
    values = [
        converter.from_connect("t", FLAT, Struct(FLAT, {"id": number, "small": 1, "text": "t", "price": 1.5}))
        for number in range(40)
    ]
    for links, sent, text in ((mask, values * 2, ""), ({}, [*values, None] * 2, "t")):
        pipeline = RecordPipeline.of({"name": "c", **ENVELOPED, **links}, WORKER, 0, CountedPause())
        found = pipeline.many.sink(
            [ConsumerRecord("t", 0, at, 9, "CreateTime", None, value) for at, value in enumerate(sent)]
        )
        assert found is not None
        assert [each.value is None for each in found] == [value is None for value in sent]
        assert str(found[7].value) == f"Struct{{id=7,small=1,text={text},price=1.5}}"


def test_maps_with_the_same_keys_are_taken_apart() -> None:
    pipeline = made_of(({"type": "ReplaceField$Value", "renames": "a:b"}, LINKS[6]), PLAIN)
    values = [b'{"a":%d,"c":"x"}' % number for number in range(40)]
    block = ReadBlock(
        topic="t", partition=1, offsets=range(40), timestamps=[5] * 40, keys=[None] * 40, values=values
    )  # fmt: skip
    [column] = pipeline.many.sink_columns(block) or []
    assert isinstance(column, MapColumn)
    assert java_texts(column)[7] == "{b=7, c=x, t=t, p=1}"


def json_converter(given: Mapping[str, str]) -> Converter:
    made = HEADER_CONVERTERS["org.apache.kafka.connect.json.JsonConverter"]()
    made.configure(given, is_key=False)
    return made


def test_a_message_is_read_by_the_bytes_before_its_payload() -> None:
    converter = json_converter({})
    head = b'{"schema":{"type":"int32"},"payload":'
    for data, value in ((b"1}", 1), (b" 2 } ", 2), (b'3,"payload":4}', 4), (b"5}", 5)):
        assert converter.to_connect("t", head + data).value == value
    for data in (b"1", b"1,}", b'1,"more":2}', b"}"):
        with pytest.raises(ConnectError):
            converter.to_connect("t", head + data)
    changed = b'3,"schema":{"type":"string"}}'
    with pytest.raises(ConnectError):
        converter.to_connect("t", head + changed)


def records_of(made: ProducerColumns) -> list[ProducerRecord]:
    rows = zip(made.keys, made.values, made.timestamps, strict=True)
    return [ProducerRecord(made.topic, made.partition, key, value, made.headers, time) for key, value, time in rows]


def test_columns_are_taken_where_all_is_usual() -> None:
    links = {
        "transforms": "i,m", "transforms.i.type": "InsertField$Value", "transforms.i.static.field": "s",
        "transforms.i.static.value": "v", "transforms.m.type": "MaskField$Value", "transforms.m.fields": "text",
    }  # fmt: skip
    pipeline = RecordPipeline.of({"name": "c", **PLAIN, **links}, WORKER, 0, CountedPause())
    values = [Struct(FLAT, {"id": number, "small": 1, "text": "t", "price": 1.5}) for number in range(40)]
    made = pipeline.many.source([SourceRecord({}, {}, "t", value, value_schema=FLAT) for value in values])
    assert made is not None
    assert made.values[7] == b'{"id":7,"small":1,"note":null,"text":"","price":1.5,"s":"v"}'
    bare = pipeline.many.source([SourceRecord({}, {}, "t", {"text": "t", "n": [1, {"a": 0.5}]}) for _ in range(40)])
    assert bare is not None
    assert bare.values[7] == b'{"text":"","n":[1,{"a":0.5}],"s":"v"}'


def test_after_a_failure_some_batches_are_not_tried_as_columns() -> None:
    made = {
        "name": "c",
        **PLAIN,
        "transforms": "c",
        "transforms.c.type": "Cast$Value",
        "transforms.c.spec": "a:int8",
    }
    pipeline = RecordPipeline.of(made, WORKER, 0, CountedPause())
    good, bad = SourceRecord({}, {}, "t", {"a": "1"}), SourceRecord({}, {}, "t", {"a": "x"})
    assert pipeline.many.source([bad]) is None
    assert pipeline.many.source([good]) is None
    assert pipeline.many.source([good]) is not None
    assert pipeline.many.source([good]) is not None


def test_runs_are_of_one_kind() -> None:
    other = SourceRecord({}, {}, "t", 5, value_schema=INT32)
    plain, keyed = SourceRecord({}, {}, "t", 5), SourceRecord({}, {}, "t", 5, headers=(Header("h", None, [1]),))
    assert [len(run) for run in record_runs([plain, plain, other, keyed, keyed, plain])] == [2, 1, 2, 1]
    assert list(record_runs([])) == []
