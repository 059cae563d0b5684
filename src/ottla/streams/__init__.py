"""Kafka Streams' language in Python: streams, tables, windows, joins and processors, with Kafka Streams' exact results.

>>> from ottla.streams import StreamsBuilder
>>> StreamsBuilder().build().describe()
'Topologies:\\n '
"""

from ottla.streams.dsl.branch import BranchedKStream
from ottla.streams.dsl.builder import StreamsBuilder
from ottla.streams.dsl.cogrouped import CogroupedKStream, SessionWindowedCogroupedKStream, TimeWindowedCogroupedKStream
from ottla.streams.dsl.global_table import GlobalKTable
from ottla.streams.dsl.grouped import KGroupedStream
from ottla.streams.dsl.kstream import KStream
from ottla.streams.dsl.ktable import KGroupedTable, KTable
from ottla.streams.dsl.windowed import SessionWindowedKStream, TimeWindowedKStream
from ottla.streams.engine.error_handler import (
    ErrorContext,
    ErrorResponse,
    InputRecord,
    OutputRecord,
    log_and_continue,
    log_and_fail,
)
from ottla.streams.engine.extractor import (
    ConsumedRecord,
    fail_on_invalid_timestamp,
    log_and_skip_on_invalid_timestamp,
    use_partition_time_on_invalid_timestamp,
    wallclock_timestamp,
)
from ottla.streams.engine.topology import Topology
from ottla.streams.errors import ProcessingError, RecordDecodeError, RecordEncodeError, StreamsError, TopologyError
from ottla.streams.host.run_state import RunState
from ottla.streams.kafka_streams import KafkaStreams
from ottla.streams.mock_context import CapturedForward, CapturedPunctuator, MockProcessorContext
from ottla.streams.option import (
    Branched,
    Consumed,
    EmitStrategy,
    Grouped,
    Joined,
    Materialized,
    Named,
    Produced,
    Repartitioned,
    StoreType,
    StreamJoined,
    TableJoined,
)
from ottla.streams.processor import FixedKeyProcessor, Processor, ProcessorContext, PunctuationType
from ottla.streams.record import Record, RecordMetadata, Window, Windowed
from ottla.streams.serde import Serde, Serdes, WindowedSerdes
from ottla.streams.store import Stores
from ottla.streams.suppressed import BufferConfig, Suppressed
from ottla.streams.testing import TopologyTestDriver
from ottla.streams.window import JoinWindows, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

__all__ = [
    "Branched",
    "BranchedKStream",
    "BufferConfig",
    "CapturedForward",
    "CapturedPunctuator",
    "CogroupedKStream",
    "Consumed",
    "ConsumedRecord",
    "EmitStrategy",
    "ErrorContext",
    "ErrorResponse",
    "FixedKeyProcessor",
    "GlobalKTable",
    "Grouped",
    "InputRecord",
    "JoinWindows",
    "Joined",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "KafkaStreams",
    "Materialized",
    "MockProcessorContext",
    "Named",
    "OutputRecord",
    "ProcessingError",
    "Processor",
    "ProcessorContext",
    "Produced",
    "PunctuationType",
    "Record",
    "RecordDecodeError",
    "RecordEncodeError",
    "RecordMetadata",
    "Repartitioned",
    "RunState",
    "Serde",
    "Serdes",
    "SessionWindowedCogroupedKStream",
    "SessionWindowedKStream",
    "SessionWindows",
    "SlidingWindows",
    "StoreType",
    "Stores",
    "StreamJoined",
    "StreamsBuilder",
    "StreamsError",
    "Suppressed",
    "TableJoined",
    "TimeWindowedCogroupedKStream",
    "TimeWindowedKStream",
    "TimeWindows",
    "Topology",
    "TopologyError",
    "TopologyTestDriver",
    "UnlimitedWindows",
    "Window",
    "Windowed",
    "WindowedSerdes",
    "fail_on_invalid_timestamp",
    "log_and_continue",
    "log_and_fail",
    "log_and_skip_on_invalid_timestamp",
    "use_partition_time_on_invalid_timestamp",
    "wallclock_timestamp",
]
