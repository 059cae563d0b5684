"""Builds the nodes of a foreign-key join: subscription, its topic, the foreign side, the answer's topic, the result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ottla.streams.dsl.graph import Graph, GraphNode
from ottla.streams.dsl.materialize import Store, materialized
from ottla.streams.dsl.step import Step, processor_node
from ottla.streams.engine.operator.foreign_key_join import (
    Answer,
    ForeignKeyDefinition,
    Publish,
    Receive,
    Resolve,
    Subscribe,
)
from ottla.streams.engine.operator.table import SourceDefinition, TableDefinition
from ottla.streams.engine.store.spec import StoreKind, StoreSpec
from ottla.streams.engine.store.subscription import partition_of_response
from ottla.streams.engine.topology import InternalTopic, SinkNode, SourceNode, Topology
from ottla.streams.option import Materialized, Partitioner, TableJoined
from ottla.streams.serde import Serde, Serdes

_FK = "KTABLE-FK-JOIN-"
_OUTPUT = f"{_FK}OUTPUT-"
Table = tuple[Step, TableDefinition]


@dataclass(frozen=True)
class ForeignKeyJoin:
    """The parameters of the join."""

    extractor: Callable[[Any, Any], Any]
    joiner: Callable[[Any, Any], Any]
    joined: TableJoined
    materialized_as: Materialized[Any, Any] | None
    left: bool


@dataclass(frozen=True)
class _Names:
    """The names in the order in which they use up numbers."""

    registration_topic: str
    registration: str
    registration_sink: str
    registration_source: str
    subscriptions: str
    receive: str
    answer: str
    publish: str
    response_topic: str
    response_sink: str
    response_source: str
    resolve: str
    result: str

    @classmethod
    def of(cls, graph: Graph, named: str | None) -> "_Names":
        """The names of a join; one that the user names has them all derived."""
        pairs = [
            ("-subscription-registration", f"{_FK}SUBSCRIPTION-REGISTRATION-"),
            ("-subscription-registration-processor", f"{_FK}SUBSCRIPTION-REGISTRATION-"),
            ("-subscription-registration-sink", "KTABLE-SINK-"),
            ("-subscription-registration-source", "KTABLE-SOURCE-"),
            ("-subscription-store", f"{_FK}SUBSCRIPTION-STATE-STORE-"),
            ("-subscription-receive", f"{_FK}SUBSCRIPTION-PROCESSOR-"),
            ("-subscription-join-foreign", f"{_FK}SUBSCRIPTION-PROCESSOR-"),
            ("-foreign-join-subscription", f"{_FK}SUBSCRIPTION-PROCESSOR-"),
            ("-subscription-response", f"{_FK}SUBSCRIPTION-RESPONSE-"),
            ("-subscription-response-sink", "KTABLE-SINK-"),
            ("-subscription-response-source", "KTABLE-SOURCE-"),
            ("-subscription-response-resolver", f"{_FK}SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR-"),
            ("-result", _OUTPUT),
        ]
        return cls(*(graph.suffixed_or(named, suffix, prefix) for suffix, prefix in pairs))


def join_by_foreign_key(left: Table, right: Table, join: ForeignKeyJoin) -> tuple[Step, SourceDefinition, Store]:
    """Adds the join's nodes to the graph: the step, the definition and the store of its result."""
    (left_step, left_table), (right_step, right_table) = left, right
    graph = left_step.graph
    right_table.enable_old(force=True)
    left_table.enable_old(force=True)
    names = _Names.of(graph, join.joined.name)
    subscriptions = StoreSpec(names.subscriptions, StoreKind.SUBSCRIPTION, right_step.key_serde, Serdes.bytes())
    definition = ForeignKeyDefinition(
        None,
        extractor=join.extractor,
        joiner=join.joiner,
        left_join=join.left,
        key_serde=left_step.key_serde,
        value_serde=left_step.value_serde,
        foreign_key_serde=right_step.key_serde,
        foreign_value_serde=right_step.value_serde,
        subscriptions=subscriptions,
    )
    node = processor_node(names.registration, lambda: Subscribe(definition))
    graph.add(left_step.node, node)
    graph.uses_versions(node, left_step.node, definition)
    topic, sink, source = names.registration_topic + "-topic", names.registration_sink, names.registration_source
    serdes = (right_step.key_serde, right_step.key_serde)
    through = _through(graph, [node], (topic, sink, source), serdes, _by_key(join.joined.other_partitioner, None))
    graph.copartitions.append(right_step.sources | {source})
    receive = graph.add(through, processor_node(names.receive, lambda: Receive(definition), [subscriptions]))
    view = right_table.view()
    answer = processor_node(names.answer, lambda: Answer(definition, view), None, view.stores)
    graph.add(receive, answer)
    publish = processor_node(names.publish, lambda: Publish(definition), [subscriptions])
    graph.add(right_step.node, publish)
    graph.uses_versions(publish, right_step.node, definition.foreign)
    topic, sink, source = names.response_topic + "-topic", names.response_sink, names.response_source
    serdes = (Serdes.bytes(), left_step.key_serde)
    back = _by_key(join.joined.partitioner, left_step.key_serde) or partition_of_response
    through = _through(graph, [answer, publish], (topic, sink, source), serdes, back)
    sources = left_step.sources | {source}
    graph.copartitions.append(sources)
    left_view = left_table.view()
    resolve = processor_node(names.resolve, lambda: Resolve(definition, left_view), None, left_view.stores)
    graph.add(through, resolve)
    store = materialized(graph, join.materialized_as, _OUTPUT, (left_step.key_serde, None))
    result = SourceDefinition(store.spec if store.is_named else None, possible_store=store.spec)
    step = Step(graph, resolve, names.result, left_step.key_serde, store.spec.value_serde, sources)
    return step, result, store


def _by_key(partitioner: Partitioner | None, serde: Serde[Any] | None) -> Partitioner | None:
    """The user's partitioner, called with a key, which is bytes where there is a serde, and without a value."""
    if partitioner is None:
        return None

    def partition(topic: str, key: Any, value: Any, partitions: int) -> int | None:
        found = key if serde is None else serde.deserialize(topic, (), key)
        return partitioner(topic, found, None, partitions)

    return partition


def _through(
    graph: Graph,
    parents: list[GraphNode],
    names: tuple[str, str, str],
    serdes: tuple[Serde[Any] | None, Serde[Any] | None],
    partitioner: Partitioner | None,
) -> GraphNode:
    """Sink and source of an internal topic: written and read with their own serde of keys, values as bytes."""
    topic, sink, source = names
    written, read = serdes

    def write_sink(node: GraphNode, topology: Topology) -> None:
        topology.internal_topics[topic] = InternalTopic(topic)
        topology.add_node(SinkNode(sink, topic, node.parent_names(), written, Serdes.bytes(), partitioner))

    def write_source(node: GraphNode, topology: Topology) -> None:
        topology.add_node(SourceNode(source, (topic,), None, read, Serdes.bytes()))

    sink_node = graph.add(parents, GraphNode(sink, write_sink))
    return graph.add(sink_node, GraphNode(source, write_source))
