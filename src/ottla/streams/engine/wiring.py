"""Makes the operators of a task and connects them: a node with one child calls it directly.

Sources of internal topics read them by their full name, with the application's id in front.
"""

from dataclasses import replace
from typing import Any

from ottla.streams.engine.context import PROCESSING_HANDLER, TaskState
from ottla.streams.engine.endpoint import Sink, Source
from ottla.streams.engine.error_handler import DEAD_LETTER_TOPIC
from ottla.streams.engine.operator.operator import Forward, Operator
from ottla.streams.engine.topology import ProcessorNode, SinkNode, SourceNode, Topology
from ottla.streams.errors import ProcessingError, StreamsError
from ottla.streams.record import Headers


def wire(plan: Any, state: TaskState) -> dict[str, Operator]:
    """The operators by node, connected."""
    topology: Topology = plan.topology
    full_names = {name: f"{state.application_id}-{name}" for name in topology.internal_topics}
    operators: dict[str, Operator] = {}
    children: dict[str, list[str]] = {}
    for name in plan.nodes:
        operators[name] = _operator(topology.nodes[name], state, full_names)
        operators[name].__dict__["node_name"] = name
        for parent in topology.parents_of(topology.nodes[name]):
            children.setdefault(parent, []).append(name)
    is_guarded = any(state.configuration.get(setting) for setting in (PROCESSING_HANDLER, DEAD_LETTER_TOPIC))
    for name, operator in operators.items():
        below = {child: operators[child] for child in children.get(name, ())}
        if is_guarded:
            below = {child: _Guarded(child, one, state) for child, one in below.items()}
        if hasattr(operator, "children"):
            operator.children = below
        operator.forward = _forward_to([child.process for child in below.values()])
    return operators


def _operator(node: Any, state: TaskState, full_names: dict[str, str]) -> Operator:
    if isinstance(node, SourceNode):
        return Source(replace(node, topics=tuple(full_names.get(topic, topic) for topic in node.topics)), state)
    if isinstance(node, SinkNode):
        return Sink(node, state, full_names)
    assert isinstance(node, ProcessorNode)
    return node.definition()


def _forward_to(children: list[Forward]) -> Forward:
    if len(children) == 1:
        return children[0]
    if not children:
        return _nowhere

    def forward(key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        for child in children:
            child(key, value, timestamp, headers)

    return forward


def _nowhere(key: Any, value: Any, timestamp: int, headers: Headers) -> None:
    """A node without children."""


class _Guarded(Operator):
    """A node whose failures go to the processing exception handler; its siblings see the record all the same."""

    def __init__(self, name: str, operator: Operator, state: TaskState) -> None:
        self._name = name
        self._operator = operator
        self._state = state

    def process(self, key: Any, value: Any, timestamp: int, headers: Headers) -> None:
        """Hands over the record."""
        try:
            self._operator.process(key, value, timestamp, headers)
        except StreamsError:
            raise
        except Exception as error:  # a user's function may raise anything; the handler decides
            if not self._state.resumes(PROCESSING_HANDLER, self._name, error, timestamp):
                raise ProcessingError(f"{self._name} failed{self._state.where()}: {error!r}") from error
