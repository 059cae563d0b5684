"""docs/STREAMS.md against Kafka Streams' own list of methods: each is here under its name, or named on the page.

The page lists what has another name or does not exist as `Class.method`, with Kafka's spelling.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from ottla import streams
from ottla.streams.engine.store.key_value import KeyValueStore
from ottla.streams.engine.store.session_store import SessionStore
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.engine.store.versioned import VersionedKeyValueStore
from ottla.streams.engine.store.window_store import WindowStore
from ottla.streams.testing import TestInputTopic, TestOutputTopic
from tests.unit.streams.test_recorded import VECTORS

PAGE: Final = (Path(__file__).parents[3] / "docs" / "STREAMS.md").read_text()
METHODS: Final[dict[str, list[str]]] = json.loads((VECTORS / "methods.json").read_text())
ELSEWHERE: Final[dict[str, Any]] = {
    "FixedKeyProcessorContext": streams.ProcessorContext,
    "FixedKeyRecord": streams.Record,
    "Printed": streams.KStream,
    "StoreBuilder": StoreSpec,
    "KeyValueStore": KeyValueStore,
    "WindowStore": WindowStore,
    "SessionStore": SessionStore,
    "VersionedKeyValueStore": VersionedKeyValueStore,
    "TestInputTopic": TestInputTopic,
    "TestOutputTopic": TestOutputTopic,
}
_INTERNAL: Final = {
    name: {"close", "commit", "committedOffset", "getPosition", "init", "isOpen", "name", "persistent", "query"}
    for name in ("KeyValueStore", "WindowStore", "SessionStore", "VersionedKeyValueStore")
}
"""What the engine calls on a store, and users do not."""


def snake(name: str) -> str:
    """The name in Python: reserved words get an underscore behind them.

    >>> snake("withKeySerde"), snake("as")
    ('with_key_serde', 'as_')
    """
    found = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    return f"{found}_" if found in ("as", "with") else found


@pytest.mark.parametrize("kind", sorted(METHODS.keys() - {"KafkaStreams"}))
def test_every_method_is_here_or_on_the_page(kind: str) -> None:
    ours = ELSEWHERE.get(kind) or getattr(streams, kind)
    absent = [name for name in METHODS[kind] if not hasattr(ours, snake(name))]
    wanted = [name for name in absent if name not in _INTERNAL.get(kind, ())]
    assert [name for name in wanted if f"`{kind}.{name}`" not in PAGE] == []


def test_every_method_of_the_application_is_here_or_on_the_page() -> None:
    pytest.importorskip("pyspark", reason="needs pyspark: pip install ottla[spark]")
    from ottla.pipelines.streams.kafka_streams import KafkaStreams

    absent = [name for name in METHODS["KafkaStreams"] if not hasattr(KafkaStreams, snake(name))]
    assert [name for name in absent if f"`KafkaStreams.{name}`" not in PAGE] == []


def test_the_page_names_no_method_that_kafka_streams_has_not() -> None:
    named = re.findall(r"`([A-Z]\w+)\.([a-z]+[A-Z]\w+)`", PAGE)
    assert [f"{kind}.{name}" for kind, name in named if kind in METHODS and name not in METHODS[kind]] == []
