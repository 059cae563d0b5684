"""Builds the topologies of `tests/vectors/streams/cases.jsonl` with our DSL, as `Interpreter.java` does with
Kafka's.
"""

from collections.abc import Callable
from typing import Any

from ottla.streams import (
    Consumed,
    ConsumedRecord,
    EmitStrategy,
    FixedKeyProcessor,
    Grouped,
    Joined,
    JoinWindows,
    Materialized,
    Named,
    Processor,
    ProcessorContext,
    Produced,
    PunctuationType,
    Record,
    Repartitioned,
    Serdes,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamJoined,
    StreamsBuilder,
    Suppressed,
    TableJoined,
    TimeWindows,
    Topology,
    UnlimitedWindows,
    fail_on_invalid_timestamp,
    log_and_skip_on_invalid_timestamp,
    use_partition_time_on_invalid_timestamp,
    wallclock_timestamp,
)
from ottla.streams.record import Headers
from ottla.streams.suppressed import BufferConfig
from tests.unit.streams.scripted import Scripted, spec_of

Step = dict[str, Any]
STRING = Serdes.string()


def shown(value: object) -> str:
    return "~" if value is None else str(value)


def predicate(name: str) -> Callable[[Any, Any], bool]:
    argument = name.partition(":")[2]
    return {
        "true": lambda k, v: True,
        "nonnull": lambda k, v: v is not None,
        "contains": lambda k, v: argument in shown(v),
        "key": lambda k, v: k == argument,
    }[name.partition(":")[0]]


def value_mapper(name: str) -> Callable[[Any, Any], Any]:
    argument = name.partition(":")[2]

    def failing(k: Any, v: Any) -> Any:
        if argument in shown(v):
            raise RuntimeError(f"no {argument}")
        return shown(v)

    return {
        "fail_on": failing,
        "upper": lambda k, v: None if v is None else v.upper(),
        "show": lambda k, v: shown(v) + "!",
        "pair": lambda k, v: f"{shown(k)}/{shown(v)}",
        "null_if": lambda k, v: None if argument in shown(v) else shown(v),
    }[name.partition(":")[0]]


def key_mapper(name: str) -> Callable[[Any, Any], Any]:
    return {
        "value": lambda k, v: v,
        "first": lambda k, v: v[0] if v else None,
        "prefix": lambda k, v: None if v is None else v.split(":")[0] or None,
        "key": lambda k, v: None if k is None else k if isinstance(k, str) else windowed_text(k),
    }[name]


def pair_mapper(name: str) -> Callable[[Any, Any], tuple[Any, Any]]:
    if name == "swap":
        return lambda k, v: (v, k)
    mapper = key_mapper(name)
    return lambda k, v: (mapper(k, v), v)


def plus(left: object, right: object) -> str:
    return f"{shown(left)}+{shown(right)}"


def adder(name: str) -> Callable[[Any, Any, Any], Any]:
    argument = name.partition(":")[2]
    return lambda k, v, a: None if argument and argument in shown(v) else a + shown(v)


def windowed_text(key: Any) -> str:
    return f"{key.key}@{key.window.start}/{key.window.end}"


class Punctual(Processor[Any, Any, Any, Any]):
    """Passes records on, remembers them in a store if it has one, and reports each punctuation."""

    def __init__(self, step: Step) -> None:
        self._step = step

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        super().init(context)
        self._store = context.get_state_store(self._step["stores"]) if "stores" in self._step else None
        self._schedule("stream", PunctuationType.STREAM_TIME)
        self._schedule("clock", PunctuationType.WALL_CLOCK_TIME)

    def _schedule(self, field: str, kind: PunctuationType) -> None:
        def fired(time: int) -> None:
            self.context.forward(Record(field, "fired", time))
            for key, value in self._store.all() if self._store else ():
                self.context.forward(Record(key, value, time))

        if field in self._step:
            self.context.schedule(self._step[field], kind, fired)

    def process(self, record: Record[Any, Any]) -> None:
        if self._store is not None and record.key is not None:
            old = self._store.get(record.key)
            self._store.put(record.key, None if record.value is None else (old or "") + record.value)
        self.context.forward(record)


class Shown(FixedKeyProcessor[Any, Any, Any]):
    """Shows key and value."""

    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record.with_value(f"{shown(record.key)}={shown(record.value)}"))


def windows_of(step: Step) -> Any:
    size, grace = step["size"], step.get("grace", 0)
    if step["kind"] == "time":
        windows = TimeWindows.of_size_and_grace(size, grace)
        return windows.advance_by(step["advance"]) if "advance" in step else windows
    if step["kind"] == "sliding":
        return SlidingWindows.of_time_difference_and_grace(size, grace)
    if step["kind"] == "session":
        return SessionWindows.of_inactivity_gap_and_grace(size, grace)
    return UnlimitedWindows.of().start_on(size)


class Interpreter:
    """Runs the steps of a case; each is a method of the same name."""

    def __init__(self) -> None:
        self.builder = StreamsBuilder()
        self.made: dict[str, Any] = {}

    def build(self, steps: list[Step], optimization: str = "none") -> Topology:
        for step in steps:
            result = getattr(self, "do_" + step["op"])(step)
            if "id" in step and result is not None:
                self.made[step["id"]] = result
        return self.builder.build({"topology.optimization": optimization})

    def source(self, step: Step) -> Any:
        return self.made[step["from"]]

    def other(self, step: Step) -> Any:
        return self.made[step["other"]]

    def do_stream(self, step: Step) -> Any:
        return self.builder.stream(step["topic"], consumed(step))

    def do_table(self, step: Step) -> Any:
        return self.builder.table(step["topic"], consumed(step), stored(step, STRING))

    def do_global_table(self, step: Step) -> Any:
        return self.builder.global_table(step["topic"], consumed(step), stored(step, STRING))

    def do_filter(self, step: Step) -> Any:
        return self.source(step).filter(predicate(step["f"]), named(step))

    def do_filter_not(self, step: Step) -> Any:
        return self.source(step).filter_not(predicate(step["f"]))

    def do_map(self, step: Step) -> Any:
        return self.source(step).map(pair_mapper(step["f"]))

    def do_map_values(self, step: Step) -> Any:
        return self.source(step).map_values(value_mapper(step["f"]), named(step))

    def do_flat_map(self, step: Step) -> Any:
        return self.source(step).flat_map(lambda k, v: [(part, k) for part in parts(v)])

    def do_flat_map_values(self, step: Step) -> Any:
        return self.source(step).flat_map_values(parts)

    def do_select_key(self, step: Step) -> Any:
        return self.source(step).select_key(key_mapper(step["f"]), named(step))

    def do_peek(self, step: Step) -> Any:
        return self.source(step).peek(lambda k, v: None)

    def do_merge(self, step: Step) -> Any:
        return self.source(step).merge(self.other(step))

    def do_repartition(self, step: Step) -> Any:
        given = Repartitioned.with_(STRING, serde(step))
        return self.source(step).repartition(given.with_name(step["named"]) if "named" in step else given)

    def do_to_table(self, step: Step) -> Any:
        return self.source(step).to_table(None, stored(step, STRING) or Materialized.with_(STRING, STRING))

    def do_to(self, step: Step) -> None:
        self.source(step).to(step["topic"], Produced.with_(STRING, serde(step)))

    def do_to_dynamic(self, step: Step) -> None:
        self.source(step).to(lambda k, v, metadata: f"out-{k}", Produced.with_(STRING, serde(step)))

    def do_group_by(self, step: Step) -> Any:
        return self.source(step).group_by(key_mapper(step["f"]), grouped(step))

    def do_group_by_key(self, step: Step) -> Any:
        return self.source(step).group_by_key(grouped(step))

    def do_branch(self, step: Step) -> None:
        branched = self.source(step).split(named(step))
        for one in step["predicates"]:
            branched = branched.branch(predicate(one))
        self.made |= {step["id"] + name[-1]: stream for name, stream in branched.default_branch().items()}

    def do_process(self, step: Step) -> Any:
        stores = []
        if "stores" in step:
            stores = [step["stores"]]
            supplier = Stores.persistent_key_value_store(step["stores"])
            self.builder.add_state_store(Stores.key_value_store_builder(supplier, STRING, STRING))
        return self.source(step).process(lambda: Punctual(step), stores=stores)

    def do_scripted(self, step: Step) -> Any:
        return self.source(step).process(lambda: Scripted(step), stores=[spec_of(step)])

    def do_process_values(self, step: Step) -> Any:
        return self.source(step).process_values(Shown)

    def do_cogroup(self, step: Step) -> Any:
        if "other" in step:
            return self.source(step).cogroup(self.other(step), adder("append"))
        return self.source(step).cogroup(adder("append"))

    def do_windowed(self, step: Step) -> Any:
        result = self.source(step).windowed_by(windows_of(step))
        return result.emit_strategy(EmitStrategy.on_window_close()) if "on_close" in step else result

    def do_count(self, step: Step) -> Any:
        given = stored(step, Serdes.long())
        name = named(step) if given is None and "Window" not in type(self.source(step)).__name__ else None
        return self.source(step).count(name, given)

    def do_reduce(self, step: Step) -> Any:
        given = stored(step, STRING) or Materialized.with_(STRING, STRING)
        functions = [lambda a, b: a + shown(b)]
        if type(self.source(step)).__name__ == "KGroupedTable":
            functions.append(lambda a, b: f"{a}-{b}")
        return self.source(step).reduce(*functions, materialized_as=given)

    def do_aggregate(self, step: Step) -> Any:
        given = stored(step, STRING) or Materialized.with_(STRING, STRING)
        source = self.source(step)
        kind = type(source).__name__
        functions: list[Any] = [str]
        if "Cogrouped" not in kind:
            functions.append(adder(step.get("f", "append")))
        if kind == "KGroupedTable":
            functions.append(lambda k, v, a: f"{a}-{shown(v)}")
        if kind.startswith("Session"):
            functions.append(lambda k, a, b: f"{a}&{b}")
        return source.aggregate(*functions, named=named(step) if "Cogrouped" in kind else None, materialized_as=given)

    def do_stream_join(self, step: Step) -> Any:
        windows = JoinWindows.of_time_difference_and_grace(step["size"], step.get("grace", 0))
        windows = windows.before(step["before"]) if "before" in step else windows
        windows = windows.after(step["after"]) if "after" in step else windows
        given = StreamJoined.with_(STRING, STRING, STRING)
        given = given.with_name(step["named"]) if "named" in step else given
        given = given.with_store_name(step["store"]) if "store" in step else given
        name = {"inner": "join", "left": "left_join", "outer": "outer_join"}[step["kind"]]
        return getattr(self.source(step), name)(self.other(step), plus, windows, given)

    def do_join(self, step: Step) -> Any:
        other = self.other(step)
        join = getattr(self.source(step), step["op"])
        if type(other).__name__ == "GlobalKTable":
            return join(other, key_mapper(step["f"]), plus)
        joined = Joined.with_(STRING, STRING, STRING)
        joined = joined.with_name(step["named"]) if "named" in step else joined
        joined = joined.with_grace_period(step["grace"]) if "grace" in step else joined
        return join(other, plus, joined)

    do_left_join = do_join

    def do_table_filter(self, step: Step) -> Any:
        return self.source(step).filter(predicate(step["f"]), None, stored(step, STRING))

    def do_table_filter_not(self, step: Step) -> Any:
        return self.source(step).filter_not(predicate(step["f"]))

    def do_table_map_values(self, step: Step) -> Any:
        return self.source(step).map_values(value_mapper(step["f"]), None, stored(step, STRING))

    def do_table_to_stream(self, step: Step) -> Any:
        return self.source(step).to_stream()

    def do_table_to_windowed(self, step: Step) -> Any:
        return self.source(step).to_stream(lambda k, v: windowed_text(k))

    def do_table_suppress(self, step: Step) -> Any:
        if "until_close" in step:
            suppressed = Suppressed.until_window_closes(BufferConfig.unbounded())
        else:
            suppressed = Suppressed.until_time_limit(step["wait"], buffer_of(step))
        return self.source(step).suppress(suppressed.with_name(step["named"]) if "named" in step else suppressed)

    def do_table_group_by(self, step: Step) -> Any:
        return self.source(step).group_by(pair_mapper(step["f"]), grouped(step))

    def do_table_join(self, step: Step) -> Any:
        name = {"inner": "join", "left": "left_join", "outer": "outer_join"}[step["kind"]]
        options = [option for option in (named(step), stored(step, STRING)) if option is not None]
        return getattr(self.source(step), name)(self.other(step), plus, *options)

    def do_table_foreign_join(self, step: Step) -> Any:
        given = stored(step, STRING) or Materialized.with_(STRING, STRING)
        options = [TableJoined.as_(step["named"])] if "named" in step else []
        join = self.source(step).join if step["kind"] == "inner" else self.source(step).left_join
        key = key_mapper(step["f"])
        return join(self.other(step), plus, *options, given, foreign_key=lambda v: key(None, v))


def buffer_of(step: Step) -> BufferConfig:
    if "full" in step:
        return BufferConfig.max_records(step["full"]).shut_down_when_full()
    if "bytes" in step:
        return BufferConfig.max_bytes(step["bytes"])
    return BufferConfig.max_records(step["records"]) if "records" in step else BufferConfig.unbounded()


def time_of_value(record: ConsumedRecord, partition_time: int) -> int:
    _, colon, time = shown(record.value).partition(":")
    return int(time) if colon else partition_time


EXTRACTORS = {
    "value": time_of_value,
    "clock": wallclock_timestamp,
    "fail": fail_on_invalid_timestamp,
    "skip": log_and_skip_on_invalid_timestamp,
    "partition": use_partition_time_on_invalid_timestamp,
}


class PickyText:
    """Text, but for that with a y."""

    def serialize(self, topic: str, headers: Headers, value: str | None) -> bytes | None:
        if value is not None and "y" in value:
            raise ValueError("no y")
        return STRING.serialize(topic, headers, value)

    def deserialize(self, topic: str, headers: Headers, data: bytes | None) -> str | None:
        return STRING.deserialize(topic, headers, data)


def parts(value: str | None) -> list[str]:
    return [] if value is None else list(value) or [""]


def named(step: Step) -> Named | None:
    return Named.as_(step["named"]) if "named" in step else None


def serde(step: Step) -> Any:
    return {"long": Serdes.long(), "picky": PickyText()}.get(step.get("value", ""), STRING)


def consumed(step: Step) -> Consumed[str, Any]:
    given: Consumed[str, Any] = Consumed.with_(STRING, serde(step))
    given = given.with_timestamp_extractor(EXTRACTORS[step["time"]]) if "time" in step else given
    return given.with_name(step["named"]) if "named" in step else given


def grouped(step: Step) -> Grouped[Any, Any]:
    given: Grouped[Any, Any] = Grouped.with_(STRING, serde(step))
    return given.with_name(step["named"]) if "named" in step else given


def stored(step: Step, value_serde: Any) -> Materialized[Any, Any] | None:
    if "store" not in step:
        return None
    supplier = step["store"]
    if "versioned" in step:
        supplier = Stores.persistent_versioned_key_value_store(step["store"], step["versioned"])
    given: Materialized[Any, Any] = Materialized.as_(supplier)
    return given.with_key_serde(STRING).with_value_serde(value_serde)
