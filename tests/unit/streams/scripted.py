"""A processor that does to a store what records say, as `Scripted.java` does with Kafka's stores."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from ottla.streams import Processor, ProcessorContext, PunctuationType, Record, Serdes, Stores, Window, Windowed

NAME: Final = "scripted"
_STRING = Serdes.string()
Words = list[str]


def spec_of(step: dict[str, Any]) -> Any:
    """The store of a step."""
    retention, kind = step.get("retention", 100_000), step["kind"]
    if kind == "key_value":
        return Stores.key_value_store_builder(Stores.persistent_key_value_store(NAME), _STRING, _STRING)
    if kind == "memory":
        return Stores.key_value_store_builder(Stores.in_memory_key_value_store(NAME), _STRING, _STRING)
    if kind == "window":
        windows = Stores.persistent_window_store(NAME, retention, 10, retain_duplicates="duplicates" in step)
        return Stores.window_store_builder(windows, _STRING, _STRING)
    if kind == "session":
        return Stores.session_store_builder(Stores.persistent_session_store(NAME, retention), _STRING, _STRING)
    versioned = Stores.persistent_versioned_key_value_store(NAME, retention)
    return Stores.versioned_key_value_store_builder(versioned, _STRING, _STRING)


class Scripted(Processor[str, str, str, str]):
    """Does what each record's value says, and forwards what the store answers."""

    def __init__(self, step: dict[str, Any]) -> None:
        self._step = step

    def init(self, context: ProcessorContext[str, str]) -> None:
        super().init(context)
        store = context.get_state_store(NAME)
        self._commands = _COMMANDS[self._step["kind"]](store)
        if "stream" in self._step:
            start = self._step.get("start")
            self._punctuation = context.schedule(self._step["stream"], PunctuationType.STREAM_TIME, self._fired, start)
        if "clock" in self._step:
            context.schedule(
                self._step["clock"],
                PunctuationType.WALL_CLOCK_TIME,
                lambda time: context.forward(Record("clock", "fired", time)),
                self._step["start"],
            )

    def _fired(self, time: int) -> None:
        if "fails" in self._step:
            raise RuntimeError("the punctuation fails")
        self.context.forward(Record("stream", "fired", time))

    def process(self, record: Record[str, str]) -> None:
        name, *words = record.value.split(" ")
        if name == "cancel":
            self._punctuation.cancel()
            return
        if name == "fail":
            raise RuntimeError("told to")
        said = self._commands[name](*words)
        if name != "put" and said is not _SILENT:
            self.context.forward(record.with_value(said if isinstance(said, str) else _text(said)))


_SILENT: Final = object()


def _text(said: Any) -> str:
    return "~" if said is None else ",".join(said)


def _bound(word: str) -> str | None:
    return None if word == "-" else word


def _pairs(found: Iterable[tuple[Any, str]]) -> list[str]:
    return [f"{key}={value}" for key, value in found]


def _windows(found: Iterable[tuple[Windowed[str], str]]) -> list[str]:
    return [f"{key.key}@{key.window.start}/{key.window.end}={value}" for key, value in found]


def _key_value(store: Any) -> dict[str, Callable[..., Any]]:
    return {
        "put": lambda key, value: store.put(key, _bound(value)),
        "absent": store.put_if_absent,
        "del": store.delete,
        "get": store.get,
        "range": lambda low, high: _pairs(store.range(_bound(low), _bound(high))),
        "reverse": lambda low, high: _pairs(store.reverse_range(_bound(low), _bound(high))),
        "all": lambda: _pairs(store.all()),
        "backwards": lambda: _pairs(store.reverse_all()),
        "prefix": lambda prefix: _pairs(store.prefix_scan(prefix.encode())),
    }


def _window(store: Any) -> dict[str, Callable[..., Any]]:
    return {
        "put": lambda key, value, start: store.put(key, _bound(value), int(start)),
        "one": lambda key, start: store.fetch_window(key, int(start)),
        "fetch": lambda key, low, high: _pairs(store.fetch(key, int(low), int(high))),
        "back": lambda key, low, high: _pairs(store.backward_fetch(key, int(low), int(high))),
        "keys": lambda one, other, low, high: _windows(
            store.fetch_range(_bound(one), _bound(other), int(low), int(high))
        ),
        "all": lambda: _windows(store.all()),
        "backwards": lambda: _windows(store.backward_all()),
        "between": lambda low, high: _windows(store.fetch_all(int(low), int(high))),
    }


def _session(store: Any) -> dict[str, Callable[..., Any]]:
    def remove(key: str, start: str, end: str) -> object:
        store.remove(Windowed(key, Window(int(start), int(end))))
        return _SILENT

    return {
        "put": lambda key, value, start, end: store.put(Windowed(key, Window(int(start), int(end))), value),
        "del": remove,
        "one": lambda key, start, end: store.fetch_session(key, int(start), int(end)),
        "fetch": lambda key: _windows(store.fetch(key)),
        "back": lambda key: _windows(store.backward_fetch(key)),
        "keys": lambda one, other: _windows(store.fetch_range(_bound(one), _bound(other))),
        "find": lambda key, end, start: _windows(store.find_sessions(key, int(end), int(start))),
    }


def _versioned(store: Any) -> dict[str, Callable[..., Any]]:
    def shown(found: Any) -> str | None:
        """Kafka Streams does not say until when a version was valid."""
        return None if found is None else f"{found.value}@{found.timestamp}"

    def delete(key: str, timestamp: str) -> object:
        store.delete(key, int(timestamp))
        return _SILENT

    return {
        "put": lambda key, value, timestamp: store.put(key, _bound(value), int(timestamp)),
        "del": delete,
        "get": lambda key: shown(store.get_version(key, None)),
        "asof": lambda key, timestamp: shown(store.get_version(key, int(timestamp))),
    }


_COMMANDS: Final = {
    "key_value": _key_value,
    "memory": _key_value,
    "window": _window,
    "session": _session,
    "versioned": _versioned,
}
